// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/test/toy_multimodal.h>

#include <gtest/gtest.h>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::extension::llm::toys {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Kernel;
using runtime::KernelRuntimeContext;
using runtime::Span;
using runtime::testing::MethodBuilder;
using runtime::testing::ProgramBuilder;
using runtime::testing::TensorSpec;

namespace {

namespace fb = runtime::testing::fb;

// toy::values.out(Tensor a, *, Tensor(a!) out): all values of a as {1, n, 1} floats.
void values_out(KernelRuntimeContext& context, Span<EValue*> args) {
  const Tensor from = args[0]->toTensor();
  const Tensor out = args[1]->toTensor();
  const executorch::aten::SizesType sizes[] = {1, static_cast<int32_t>(from.numel()), 1};
  if (runtime::resize_tensor(out, {sizes, 3}) != Error::Ok) {
    context.fail(Error::InvalidArgument);
    return;
  }
  for (ssize_t i = 0; i < from.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = from.scalar_type() == ScalarType::Long
                                           ? static_cast<float>(from.const_data_ptr<int64_t>()[i])
                                       : from.scalar_type() == ScalarType::Byte
                                           ? static_cast<float>(from.const_data_ptr<uint8_t>()[i])
                                           : from.const_data_ptr<float>()[i];
  }
}

// toy::decode_values.out(Tensor embeddings, Tensor position, Tensor(a!) cache, *, Tensor(b!)
// logits)
void decode_values_out(KernelRuntimeContext& context, Span<EValue*> args) {
  const Tensor embeddings = args[0]->toTensor();
  const int64_t start = args[1]->toTensor().const_data_ptr<int64_t>()[0];
  const Tensor cache = args[2]->toTensor();
  auto* rows = cache.mutable_data_ptr<int64_t>();
  const int64_t end = start + embeddings.numel();
  if (start < 0 || end > cache.numel()) {
    context.fail(Error::InvalidArgument);
    return;
  }
  for (ssize_t i = 0; i < embeddings.numel(); ++i) {
    rows[start + i] = static_cast<int64_t>(embeddings.const_data_ptr<float>()[i]);
  }
  const Tensor logits = args[3]->toTensor();
  auto* out = logits.mutable_data_ptr<float>();
  std::fill(out, out + logits.numel(), 0.0f);
  out[toy_next({rows, rows + end})] = 10.0f;
}

void register_kernels_once() {
  static const Kernel kernels[] = {Kernel("toy::values.out", values_out),
                                   Kernel("toy::decode_values.out", decode_values_out)};
  static const Error registered = runtime::register_kernels({kernels, 2});
  ASSERT_EQ(registered, Error::Ok);
}

// A method that gives its input's values as embeddings.
void add_encoder(ProgramBuilder& builder, const char* name, std::vector<int32_t> sizes,
                 fb::ScalarType type, bool is_dynamic) {
  MethodBuilder& method = builder.add_method(name);
  TensorSpec input{sizes};
  input.scalar_type = type;
  input.planned = false;
  input.dynamic = is_dynamic;
  const int32_t x = method.add_tensor(input);
  int32_t count = 1;
  for (const int32_t size : sizes) {
    count *= size;
  }
  TensorSpec output{{1, count, 1}};
  output.dynamic = true;
  const int32_t out = method.add_tensor(output);
  method.inputs({x}).outputs({out});
  method.call("toy::values", "out", {x, out, out});
}

void add_decoder(ProgramBuilder& builder) {
  constexpr int32_t kRows = 32;
  MethodBuilder& method = builder.add_method("text_decoder");
  TensorSpec embeddings{{1, kRows, 1}};
  embeddings.planned = false;
  embeddings.dynamic = true;
  TensorSpec position{{1}};
  position.scalar_type = fb::ScalarType::LONG;
  position.planned = false;
  TensorSpec cache{{kRows}};
  cache.scalar_type = fb::ScalarType::LONG;
  const int32_t x = method.add_tensor(embeddings);
  const int32_t at = method.add_tensor(position);
  const int32_t rows = method.add_tensor(cache);
  const int32_t logits = method.add_tensor({{1, kToyVocabulary}});
  method.inputs({x, at}).outputs({logits});
  method.call("toy::decode_values", "out", {x, at, rows, logits, logits});
}

}  // namespace

std::string write_multimodal_toy(const std::string& name, const ToyMultimodalOptions& options) {
  register_kernels_once();
  ProgramBuilder builder;
  add_encoder(builder, "token_embedding", {1, 8}, fb::ScalarType::LONG, true);
  if (options.has_vision) {
    add_encoder(builder, "vision_encoder", {1, 1, 2, 2},
                options.takes_bytes ? fb::ScalarType::BYTE : fb::ScalarType::FLOAT, false);
  }
  if (options.has_audio) {
    add_encoder(builder, "audio_encoder", {1, 1, 3}, fb::ScalarType::FLOAT, false);
  }
  add_decoder(builder);
  add_toy_constants(builder, {{"get_max_seq_len", {32}}, {"get_max_context_len", {32}}});
  if (!options.eos_ids.empty()) {
    add_toy_constants(builder, {{"get_eos_ids", options.eos_ids}});
  }
  return write_toy_file("multimodal_" + name, builder);
}

}  // namespace executorch::extension::llm::toys
