// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/test/sample_graph.h>

#include <cstring>
#include <memory>
#include <utility>

namespace executorch::backends::vulkan::testing {

using runtime::Error;
using vkgraph::GraphTypes;

template <typename Table>
int32_t GraphBuilder::add(GraphTypes kind, Table table) {
  auto value = std::make_unique<vkgraph::VkValueT>();
  value->value.type = kind;
  value->value.value = new Table(std::move(table));
  graph.values.push_back(std::move(value));
  return static_cast<int32_t>(graph.values.size() - 1);
}

int32_t GraphBuilder::tensor(const std::vector<uint32_t>& dims, vkgraph::VkDataType dtype) {
  vkgraph::VkTensorT table;
  table.datatype = dtype;
  table.dims = dims;
  table.constant_id = -1;
  table.mem_obj_id = -1;
  return add(GraphTypes::VkTensor, std::move(table));
}

int32_t GraphBuilder::input(const std::vector<uint32_t>& dims, vkgraph::VkDataType dtype) {
  const int32_t id = tensor(dims, dtype);
  graph.input_ids.push_back(static_cast<uint32_t>(id));
  return id;
}

int32_t GraphBuilder::constant(const std::vector<uint32_t>& dims, const std::vector<float>& data) {
  auto bytes = std::make_unique<vkgraph::VkBytesT>();
  bytes->offset = region_.size();
  bytes->length = data.size() * sizeof(float);
  const auto* from = reinterpret_cast<const uint8_t*>(data.data());
  region_.insert(region_.end(), from, from + bytes->length);
  region_.resize((region_.size() + 15) / 16 * 16);
  graph.constants.push_back(std::move(bytes));
  const int32_t id = tensor(dims);
  graph.values.back()->value.AsVkTensor()->constant_id =
      static_cast<int32_t>(graph.constants.size() - 1);
  return id;
}

int32_t GraphBuilder::integer(int64_t number) {
  vkgraph::IntT table;
  table.int_val = number;
  return add(GraphTypes::Int, table);
}

int32_t GraphBuilder::number(double number) {
  vkgraph::DoubleT table;
  table.double_val = number;
  return add(GraphTypes::Double, table);
}

int32_t GraphBuilder::integers(const std::vector<int64_t>& numbers) {
  vkgraph::IntListT table;
  table.items = numbers;
  return add(GraphTypes::IntList, std::move(table));
}

int32_t GraphBuilder::values(const std::vector<int32_t>& ids) {
  vkgraph::ValueListT table;
  table.items = ids;
  return add(GraphTypes::ValueList, std::move(table));
}

int32_t GraphBuilder::symint() {
  return add(GraphTypes::SymInt, vkgraph::SymIntT());
}

int32_t GraphBuilder::null() {
  return add(GraphTypes::Null, vkgraph::NullT());
}

void GraphBuilder::call(const std::string& name, const std::vector<int32_t>& args) {
  auto call = std::make_unique<vkgraph::OperatorCallT>();
  call->node_id = static_cast<uint32_t>(graph.chain.size());
  call->name = name;
  call->args = args;
  graph.chain.push_back(std::move(call));
}

std::vector<uint8_t> GraphBuilder::pack() const {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(vkgraph::CreateVkGraph(builder, &graph), "VK00");
  constexpr size_t kHeader = 32;
  const uint32_t size = builder.GetSize();
  const auto region = static_cast<uint32_t>((kHeader + size + 15) / 16 * 16);
  std::vector<uint8_t> out(region + region_.size());
  const auto put = [&](size_t at, auto number) { std::memcpy(&out[at], &number, sizeof(number)); };
  std::memcpy(&out[4], "VH00", 4);
  put(8, uint16_t{30});
  put(10, uint32_t{kHeader});
  put(14, size);
  put(18, region);
  put(22, uint64_t{region_.size()});
  std::memcpy(&out[kHeader], builder.GetBufferPointer(), size);
  std::copy(region_.begin(), region_.end(), out.begin() + region);
  return out;
}

Loaded::Loaded(const std::vector<uint8_t>& payload,
               runtime::Span<const runtime::BackendOption> options,
               runtime::ArrayRef<runtime::CompileSpec> specs)
    : bytes_(payload.size() / sizeof(uint64_t) + 1) {
  if (!payload.empty()) {
    std::memcpy(bytes_.data(), payload.data(), payload.size());
  }
  backend_ = runtime::get_backend_class("VulkanBackend");
  runtime::BackendInitContext context(nullptr, nullptr, "forward", nullptr, options);
  runtime::FreeableBuffer buffer(bytes_.data(), payload.size(), nullptr);
  const auto handle = backend_->init(context, &buffer, specs);
  error_ = handle.error();
  handle_ = handle.ok() ? *handle : nullptr;
}

Loaded::~Loaded() {
  if (handle_ != nullptr) {
    backend_->destroy(handle_);
  }
}

Error Loaded::run(const std::vector<extension::TensorPtr>& args) const {
  std::vector<runtime::EValue> values;
  values.reserve(args.size());
  std::vector<runtime::EValue*> pointers;
  for (const auto& arg : args) {
    values.emplace_back(*arg);
    pointers.push_back(&values.back());
  }
  runtime::BackendExecutionContext context;
  return backend_->execute(context, handle_, {pointers.data(), pointers.size()});
}

}  // namespace executorch::backends::vulkan::testing
