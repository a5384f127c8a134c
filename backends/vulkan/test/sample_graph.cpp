// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/test/sample_graph.h>

#include <cstring>
#include <memory>
#include <utility>

namespace executorch::backends::vulkan::testing {

using extension::make_tensor_ptr;
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

int32_t GraphBuilder::constant(const std::vector<uint32_t>& dims, const std::vector<float>& data,
                               vkgraph::VkDataType dtype) {
  auto bytes = std::make_unique<vkgraph::VkBytesT>();
  bytes->offset = region_.size();
  bytes->length = data.size() * sizeof(float);
  const auto* from = reinterpret_cast<const uint8_t*>(data.data());
  region_.insert(region_.end(), from, from + bytes->length);
  region_.resize((region_.size() + 15) / 16 * 16);
  graph.constants.push_back(std::move(bytes));
  const int32_t id = tensor(dims, dtype);
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

int32_t GraphBuilder::text(const std::string& text) {
  vkgraph::StringT table;
  table.string_val = text;
  return add(GraphTypes::String, std::move(table));
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

GraphBuilder sample() {
  GraphBuilder builder;
  const int32_t x = builder.input({4, 3});
  const int32_t constant = builder.constant({3}, {1, 2, 3});
  const int32_t packed = builder.tensor({3});
  const int32_t sum = builder.tensor({4, 3});
  const int32_t product = builder.tensor({4, 3});
  builder.call("et_vk.prepack.default", {constant, packed});
  builder.call("aten.add.Tensor", {x, packed, builder.integer(1), sum});
  builder.call("aten.mul.Tensor", {sum, x, product});
  builder.output(product);
  return builder;
}

GraphBuilder many_operators() {
  GraphBuilder b;
  const int32_t x = b.input({1, 4, 6, 6});
  const int32_t index = b.input({2}, vkgraph::VkDataType::INT32);
  const int32_t none = b.null();
  const int32_t one = b.integer(1);
  const int32_t zero = b.integer(0);
  const int32_t pair = b.integers({1, 1});
  const int32_t two = b.integers({2, 2});
  const int32_t filter = b.constant({4, 4, 3, 3}, std::vector<float>(144, 0.1F));
  const int32_t conv = b.tensor({1, 4, 6, 6});
  const int32_t none_padded = b.integers({0, 0});
  b.call("aten.convolution.default",
         {x, filter, none, pair, pair, pair, zero, none_padded, one, conv});
  const int32_t pooled = b.tensor({1, 4, 3, 3});
  const int32_t places = b.tensor({1, 4, 3, 3}, vkgraph::VkDataType::INT32);
  b.call("aten.max_pool2d_with_indices.default",
         {conv, two, two, none_padded, pair, zero, b.values({pooled, places})});
  const int32_t flat = b.tensor({4, 9});
  b.call("aten.view_copy.default", {pooled, b.integers({4, -1}), flat});
  const int32_t rows = b.tensor({2, 9});
  b.call("aten.index_select.default", {flat, zero, index, rows});
  const int32_t turned = b.tensor({9, 2});
  b.call("aten.permute_copy.default", {rows, b.integers({1, 0}), turned});
  const int32_t weights = b.constant({3, 2}, {1, 2, 3, 4, 5, 6});
  const int32_t linear = b.tensor({9, 3});
  b.call("aten.linear.default", {turned, weights, none, linear});
  const int32_t soft = b.tensor({9, 3});
  b.call("aten._softmax.default", {linear, b.integer(-1), zero, soft});
  const int32_t piece = b.tensor({4, 3});
  b.call("aten.slice_copy.Tensor", {soft, zero, one, none, b.integer(2), piece});
  const int32_t both = b.tensor({13, 3});
  b.call("aten.cat.default", {b.values({soft, piece}), zero, both});
  const int32_t norm = b.tensor({13, 3});
  const int32_t mean = b.tensor({13, 1});
  const int32_t rstd = b.tensor({13, 1});
  b.call("aten.native_layer_norm.default",
         {both, b.integers({3}), none, none, b.number(1e-5), b.values({norm, mean, rstd})});
  const int32_t sums = b.tensor({13});
  b.call("aten.sum.dim_IntList", {norm, b.integers({1}), zero, none, sums});
  const int32_t q = b.tensor({1, 1, 13, 3});
  b.call("aten.view_copy.default", {both, b.integers({1, 1, 13, 3}), q});
  const int32_t attended = b.tensor({1, 1, 13, 3});
  b.call("et_vk.sdpa.default", {q, q, q, none, none, attended});
  b.output(sums);
  b.output(attended);
  return b;
}

std::vector<extension::TensorPtr> many_arguments() {
  return {make_tensor_ptr({1, 4, 6, 6}, std::vector<float>(144, 0.5F)),
          make_tensor_ptr({2}, std::vector<int32_t>{3, 0}),
          make_tensor_ptr({13}, std::vector<float>(13)),
          make_tensor_ptr({1, 1, 13, 3}, std::vector<float>(39))};
}

GraphBuilder decoder_layer() {
  GraphBuilder b;
  const int32_t x = b.input({1, 4, 32});
  const int32_t none = b.null();
  const int32_t zero = b.integer(0);
  const int32_t epsilon = b.number(1e-6);
  const int32_t norm = b.tensor({1, 4, 32});
  b.call("et_vk.rms_norm.default",
         {x, b.constant({32}, std::vector<float>(32, 0.5F)), epsilon, norm});
  const int32_t scales = b.tensor({1, 4});
  const int32_t zeros = b.tensor({1, 4}, vkgraph::VkDataType::INT8);
  b.call("torchao.choose_qparams_affine.default",
         {norm, b.text("ASYMMETRIC"), b.integers({1, 1, 32}), none, b.integer(-128), b.integer(127),
          epsilon, none, none, zero, b.values({scales, zeros})});
  const int32_t weights =
      b.constant({32, 16}, std::vector<float>(128, 0.1F), vkgraph::VkDataType::UINT8);
  const int32_t sums = b.constant({1, 32}, std::vector<float>(32), vkgraph::VkDataType::INT32);
  const int32_t groups = b.constant({1, 32}, std::vector<float>(32, 0.01F));
  const int32_t flat = b.tensor({1, 4, 32});
  b.call("et_vk.linear_dq8ca_q4gsw.default",
         {norm, scales, zeros, weights, sums, groups, b.integer(32), none, flat});
  const int32_t heads = b.tensor({1, 4, 2, 16});
  b.call("aten.view_copy.default", {flat, b.integers({1, 4, 2, 16}), heads});
  const int32_t angles = b.constant({4, 8}, std::vector<float>(32, 0.6F));
  const int32_t q = b.tensor({1, 4, 2, 16});
  const int32_t k = b.tensor({1, 4, 2, 16});
  b.call("et_vk.apply_rotary_emb.default", {heads, heads, angles, angles, b.values({q, k})});
  std::vector<int32_t> caches;
  for (int i = 0; i < 2; ++i) {
    caches.push_back(b.tensor({1, 8, 2, 16}));
    b.call("et_vk.prepack.default",
           {b.constant({1, 8, 2, 16}, std::vector<float>(256)), caches.back()});
  }
  const int32_t attended = b.tensor({1, 4, 2, 16});
  b.call("sdpa_with_kv_cache.default", {q, k, heads, caches[0], caches[1], b.integer(2),
                                        b.integer(4), none, none, b.integer(1), none, attended});
  const int32_t rows = b.tensor({1, 4, 32});
  b.call("aten.view_copy.default", {attended, b.integers({1, 4, 32}), rows});
  const int32_t out = b.tensor({1, 4, 32});
  b.call("aten.add.Tensor", {rows, x, b.integer(1), out});
  b.output(out);
  return b;
}

std::vector<extension::TensorPtr> decoder_arguments() {
  std::vector<float> x(128);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 13) - 6;
  }
  return {make_tensor_ptr({1, 4, 32}, x), make_tensor_ptr({1, 4, 32}, std::vector<float>(128))};
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

Error Loaded::run(const std::vector<extension::TensorPtr>& args,
                  const std::vector<runtime::EValue*>& more) const {
  std::vector<runtime::EValue> values;
  values.reserve(args.size());
  std::vector<runtime::EValue*> pointers;
  for (const auto& arg : args) {
    values.emplace_back(*arg);
    pointers.push_back(&values.back());
  }
  pointers.insert(pointers.end(), more.begin(), more.end());
  runtime::BackendExecutionContext context;
  return backend_->execute(context, handle_, {pointers.data(), pointers.size()});
}

}  // namespace executorch::backends::vulkan::testing
