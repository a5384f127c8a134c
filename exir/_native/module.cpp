// SPDX-License-Identifier: BSD-3-Clause
// The compiler's native module: schema codec, file layout, memory planner, blobs.
#include <executorch/exir/_native/blob.h>
#include <executorch/exir/_native/file_layout.h>
#include <executorch/exir/_native/flatbuffer_reader.h>
#include <executorch/exir/_native/memory_planner.h>
#include <executorch/exir/_native/program_verifier.h>
#include <executorch/exir/_native/schema_codec.h>

#include <flat_tensor_bfbs_generated.h>
#include <program_bfbs_generated.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace executorch::exir {
namespace {

struct View {
  explicit View(const py::buffer& owner) : info(owner.request()) {}
  const uint8_t* data() const { return static_cast<const uint8_t*>(info.ptr); }
  uint64_t size() const { return static_cast<uint64_t>(info.size * info.itemsize); }
  py::buffer_info info;
};

template <typename Schema>
py::bytes binary_schema() {
  return py::bytes(reinterpret_cast<const char*>(Schema::data()), Schema::size());
}

void bind_codec(py::module_& module) {
  module.def("program_schema", &binary_schema<executorch_flatbuffer::ProgramBinarySchema>,
             "schema/program.fbs, binary.");
  module.def("flat_tensor_schema", &binary_schema<flat_tensor_flatbuffer::FlatTensorBinarySchema>,
             "flat_tensor.fbs, binary.");
  module.def(
      "schema_declarations",
      [](const py::bytes& bfbs) {
        py::list found;
        for (const Declaration& each : declarations_of(bfbs)) {
          found.append(py::make_tuple(each.kind, each.name, each.members));
        }
        return found;
      },
      py::arg("bfbs"), "(kind, name, [(member, detail)]) of all that a binary schema declares.");
  py::class_<SchemaCodec>(module, "SchemaCodec",
                          "Packs dataclasses into flatbuffers of one schema and reads them back.")
      .def(py::init<const py::bytes&, const py::dict&>(), py::arg("bfbs"), py::arg("classes"))
      .def("pack", &SchemaCodec::pack, py::arg("root"),
           py::arg("alignments") = std::map<std::string, uint32_t>(),
           "The flatbuffer of `root`; `alignments`: 'Table.field' -> alignment of a byte vector.")
      .def("unpack", &SchemaCodec::unpack, py::arg("data"),
           "The object of untrusted bytes; FormatError when they are bad.");
}

void bind_layout(py::module_& module) {
  module.def(
      "lay_out",
      [](const std::vector<std::pair<uint64_t, uint64_t>>& items, uint64_t alignment) {
        const Layout layout = lay_out(items, alignment);
        return py::make_tuple(layout.offsets, layout.size);
      },
      py::arg("items"), py::arg("alignment") = 1,
      "(offsets, size) of (size, alignment) items one after the other.");
  const auto head = [&](const char* name, auto make) {
    module.def(
        name,
        [make](const py::bytes& flatbuffer, uint64_t data_size, uint64_t header_alignment,
               uint64_t base_alignment) {
          return py::bytes(make(flatbuffer, data_size, header_alignment, base_alignment));
        },
        py::arg("flatbuffer"), py::arg("segment_data_size"), py::arg("header_alignment"),
        py::arg("base_alignment"), "All bytes of the file before its segments.");
  };
  head("program_head", &program_head);
  head("flat_tensor_head", &flat_tensor_head);
  py::class_<ProgramHeader>(module, "ProgramHeader")
      .def_readonly("program_size", &ProgramHeader::program_size)
      .def_readonly("segment_base_offset", &ProgramHeader::segment_base_offset)
      .def_readonly("segment_data_size", &ProgramHeader::segment_data_size);
  py::class_<FlatTensorHeader>(module, "FlatTensorHeader")
      .def_readonly("flatbuffer_offset", &FlatTensorHeader::flatbuffer_offset)
      .def_readonly("flatbuffer_size", &FlatTensorHeader::flatbuffer_size)
      .def_readonly("segment_base_offset", &FlatTensorHeader::segment_base_offset)
      .def_readonly("segment_data_size", &FlatTensorHeader::segment_data_size);
  module.def(
      "verify_program",
      [](const py::buffer& file) {
        const View view(file);
        verify_program_file(view.data(), view.size());
      },
      py::arg("file"),
      "What the runtime checks when it loads a program file; FormatError when it would refuse it.");
  module.def("parse_program_header", [](const py::buffer& file) {
    const View view(file);
    return parse_program_header(view.data(), view.size());
  });
  module.def("parse_flat_tensor_header", [](const py::buffer& file) {
    const View view(file);
    return parse_flat_tensor_header(view.data(), view.size());
  });
}

std::vector<Lifetime> lifetimes(
    const std::vector<std::tuple<uint64_t, int64_t, int64_t>>& tensors) {
  std::vector<Lifetime> result;
  result.reserve(tensors.size());
  for (const auto& [size, first, last] : tensors) {
    result.push_back({size, first, last});
  }
  return result;
}

void bind_planner(py::module_& module) {
  using Tensors = std::vector<std::tuple<uint64_t, int64_t, int64_t>>;
  module.def(
      "plan_arena",
      [](const Tensors& tensors, uint64_t alignment, bool share_stretches) {
        const ArenaPlan plan = plan_arena(lifetimes(tensors), alignment, share_stretches);
        return py::make_tuple(plan.offsets, plan.objects, plan.size);
      },
      py::arg("tensors"), py::arg("alignment"), py::arg("share_stretches") = true,
      "(offsets, objects, size) for tensors (size, first step, last step); tensors alive together "
      "never overlap.");
  module.def(
      "plan_linear",
      [](const Tensors& tensors, uint64_t alignment) {
        const ArenaPlan plan = plan_linear(lifetimes(tensors), alignment);
        return py::make_tuple(plan.offsets, plan.objects, plan.size);
      },
      py::arg("tensors"), py::arg("alignment"));
  module.def(
      "lower_bound",
      [](const Tensors& tensors, uint64_t alignment) {
        return lower_bound(lifetimes(tensors), alignment);
      },
      py::arg("tensors"), py::arg("alignment"), "The most bytes alive at one step.");
}

}  // namespace
}  // namespace executorch::exir

PYBIND11_MODULE(_native, module) {
  using namespace executorch::exir;
  module.doc() = "Heavy parts of the compiler: schema codec, file layout, memory planner.";
  py::register_exception<FormatError>(module, "FormatError", PyExc_ValueError);
  bind_blob(module);
  bind_codec(module);
  bind_layout(module);
  bind_planner(module);
}
