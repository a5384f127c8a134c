// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/qc_compiler_spec_generated.h>
#include <executorch/backends/qualcomm/runtime/sample_graph.h>
#include <executorch/runtime/backend/dynamic_library.h>

#include <cstring>

namespace executorch::backends::qualcomm {

namespace {

constexpr float kAdded[] = {1.0f, -2.0f};

TensorData tensor(const char* name, Qnn_TensorType_t type) {
  TensorData made{
      name, static_cast<uint32_t>(type), QNN_DATATYPE_FLOAT_32, {2}, std::nullopt, nullptr, 0};
  if (type == QNN_TENSOR_TYPE_STATIC) {
    made.data = kAdded;
    made.nbytes = sizeof(kAdded);
  }
  return made;
}

}  // namespace

std::string stand_in_folder() {
  return QNN_STAND_IN_FOLDER "/";
}

void load_shared_memory() {
  const auto library = runtime::DynamicLibrary::open({stand_in_folder() + "libcdsprpc.so"},
                                                     "The stand-in", "build it");
  ET_CHECK_MSG(library.ok(), "the stand-in is built with the tests");
}

GraphData sample_graph(const std::string& name) {
  GraphData graph{name, {}, {}, {2}, {3}};
  graph.tensors = {
      tensor("added@0", QNN_TENSOR_TYPE_STATIC), tensor("sum@0", QNN_TENSOR_TYPE_NATIVE),
      tensor("input_0_x", QNN_TENSOR_TYPE_APP_WRITE), tensor("output_y", QNN_TENSOR_TYPE_APP_READ)};
  graph.operators = {{"sum", "qti.aisw", "ElementWiseAdd", {2, 0}, {1}, {}}};
  const float limits[] = {100.0f, 0.0f};
  OperatorData relu{"relu", "qti.aisw", "ReluMinMax", {1}, {3}, {}};
  for (size_t i = 0; i < 2; ++i) {
    relu.parameters.push_back(
        {i == 0 ? "max_value" : "min_value",
         QNN_DATATYPE_FLOAT_32,
         {},
         std::string(reinterpret_cast<const char*>(&limits[i]), sizeof(float))});
  }
  graph.operators.push_back(relu);
  return graph;
}

std::vector<uint8_t> sample_spec(int32_t profile_level, bool shared_buffer,
                                 int32_t performance_mode) {
  using namespace qnn_delegate;
  QnnExecuTorchOptionsT spec;
  spec.soc_info = std::make_unique<SocInfoT>();
  spec.soc_info->soc_model = QcomChipset::SM8650;
  spec.soc_info->htp_info = std::make_unique<HtpInfoT>();
  spec.soc_info->htp_info->htp_arch = HtpArch::V75;
  spec.backend_options = std::make_unique<QnnExecuTorchBackendOptionsT>();
  spec.backend_options->backend_type = QnnExecuTorchBackendType::kHtpBackend;
  spec.backend_options->htp_options = std::make_unique<QnnExecuTorchHtpBackendOptionsT>();
  spec.backend_options->htp_options->performance_mode =
      static_cast<QnnExecuTorchHtpPerformanceMode>(performance_mode);
  spec.library_path = stand_in_folder() + "libQnnHtp.so";
  spec.profile_level = static_cast<QnnExecuTorchProfileLevel>(profile_level);
  spec.shared_buffer = shared_buffer;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(QnnExecuTorchOptions::Pack(builder, &spec));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Options sample_options() {
  Options options;
  const std::vector<uint8_t> spec = sample_spec();
  ET_CHECK_MSG(read_compile_spec({spec.data(), spec.size()}, options) == runtime::Error::Ok,
               "a spec of our own");
  return options;
}

std::string compiled(const Session& session, const std::vector<std::string>& names,
                     std::string* out_why) {
  std::vector<GraphData> graphs;
  for (const std::string& name : names) {
    graphs.push_back(sample_graph(name));
  }
  std::vector<const GraphData*> pointers;
  for (const GraphData& graph : graphs) {
    pointers.push_back(&graph);
  }
  std::string binary;
  const std::string why = compile(session, sample_options(), pointers, binary);
  if (out_why != nullptr) {
    *out_why = why;
  }
  return why.empty() ? binary : "";
}

std::vector<uint8_t> payload_of(const std::string& binary, uint64_t signature) {
  std::vector<uint8_t> payload(256 + binary.size());
  const uint32_t magic = 0x5678abcd;
  const uint64_t size = binary.size();
  std::memcpy(payload.data(), &magic, sizeof(magic));
  std::memcpy(payload.data() + 4, &signature, sizeof(signature));
  std::memcpy(payload.data() + 12, &size, sizeof(size));
  std::memcpy(payload.data() + 256, binary.data(), binary.size());
  return payload;
}

}  // namespace executorch::backends::qualcomm
