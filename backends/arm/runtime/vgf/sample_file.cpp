// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/sample_file.h>

#include <vgf/encoder.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

namespace executorch::backends::arm::vgf {

namespace {

struct Destroy {
  void operator()(mlsdk_encoder* encoder) const { mlsdk_encoder_destroy(encoder); }
};

/// What is added to a file, in short.
class Writer final {
 public:
  explicit Writer(const SampleFile& sample)
      : sample_(sample), encoder_(mlsdk_encoder_create(345)) {}

  mlsdk_encoder* get() const { return encoder_.get(); }

  template <typename Add>
  mlsdk_encoder_resource_ref tensor(Add add) const {
    return add(get(), sample_.descriptor_type, sample_.format, sample_.shape.data(),
               sample_.shape.size(), sample_.strides.data(), sample_.strides.size());
  }
  mlsdk_encoder_binding_slot_ref slot(uint32_t number, mlsdk_encoder_resource_ref resource) const {
    return mlsdk_encoder_add_binding_slot(get(), number, resource);
  }
  void segment(const char* name, mlsdk_encoder_binding_slot_ref from,
               mlsdk_encoder_binding_slot_ref to,
               const std::vector<mlsdk_encoder_graph_constant_binding_ref>& constants) const {
    const auto kind =
        sample_.has_shader ? mlsdk_encoder_module_type_compute : mlsdk_encoder_module_type_graph;
    const auto module = mlsdk_encoder_add_spirv_module(
        get(), kind, name, sample_.entry_point.c_str(), sample_.code.data(), sample_.code.size());
    const mlsdk_encoder_binding_slot_ref bindings[] = {from, to};
    const auto set = mlsdk_encoder_add_descriptor_set_info(get(), bindings, 2, sample_.set);
    const uint32_t shape[3] = {};
    mlsdk_encoder_add_segment_info_with_constant_bindings(get(), module, name, &set, 1, &from, 1,
                                                          &to, 1, constants.data(),
                                                          constants.size(), shape, nullptr, 0);
  }

 private:
  const SampleFile& sample_;
  std::unique_ptr<mlsdk_encoder, Destroy> encoder_;
};

}  // namespace

std::string SampleFile::bytes() const {
  const Writer writer(*this);
  const auto x = writer.tensor(mlsdk_encoder_add_input_resource);
  const auto y = writer.tensor(mlsdk_encoder_add_intermediate_resource);
  const auto z = writer.tensor(mlsdk_encoder_add_output_resource);
  std::vector<mlsdk_encoder_graph_constant_binding_ref> constants;
  if (has_constant) {
    const auto weights = mlsdk_encoder_add_constant_resource(
        writer.get(), 100, constant_shape.data(), constant_shape.size(), nullptr, 0);
    const std::string data(constant_bytes, '\1');
    constants.push_back({7, mlsdk_encoder_add_constant(writer.get(), weights, data.data(),
                                                       data.size(), sparse_dim)});
  }
  const auto in = writer.slot(0, x);
  const auto out = writer.slot(second_binding, z);
  if (has_segments) {
    writer.segment("first", in, writer.slot(second_binding, y), constants);
    writer.segment("second", writer.slot(0, y), out, {});
  }
  const char* names[] = {"input_0", "output_0"};
  mlsdk_encoder_add_model_sequence_inputs_outputs(writer.get(), &in, 1, &names[0], 1, &out, 1,
                                                  &names[1], 1);
  mlsdk_encoder_finish(writer.get());
  const std::string path = "vgf_sample_" + std::to_string(getpid()) + ".vgf";
  const bool is_written = mlsdk_encoder_write_to_file(writer.get(), path.c_str());
  std::ifstream file(path, std::ios::binary);
  std::string found{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::remove(path.c_str());
  return is_written ? found : std::string();
}

}  // namespace executorch::backends::arm::vgf
