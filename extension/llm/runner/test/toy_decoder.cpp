// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/test/toy_decoder.h>

#include <fstream>

#include <gtest/gtest.h>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::extension::llm::toys {

using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Kernel;
using runtime::KernelRuntimeContext;
using runtime::Span;
using runtime::testing::MethodBuilder;
using runtime::testing::ProgramBuilder;
using runtime::testing::TensorSpec;
using ByteResult = ::tokenizers::Result<std::string>;

namespace {

// toy::decode.out(Tensor tokens, Tensor position, Tensor(a!) cache, *, Tensor(b!) logits): puts the
// tokens into the cache from the first position on; the next token's logit is 10, others are 0.
void decode_out(KernelRuntimeContext& context, Span<EValue*> args) {
  const Tensor tokens = args[0]->toTensor();
  const Tensor positions = args[1]->toTensor();
  const Tensor cache = args[2]->toTensor();
  const Tensor logits = args[3]->toTensor();
  const auto* ids = tokens.const_data_ptr<int64_t>();
  const auto* at = positions.const_data_ptr<int64_t>();
  auto* rows = cache.mutable_data_ptr<int64_t>();
  toy_calls().count++;
  toy_calls().last_num_tokens = tokens.numel();
  int64_t end = 0;
  for (ssize_t i = 0; i < tokens.numel(); ++i) {
    const int64_t row = positions.numel() > 1 ? at[i] : at[0] + i;
    if (row < 0 || row >= cache.numel()) {
      context.fail(Error::InvalidArgument);
      return;
    }
    rows[row] = ids[i];
    end = row + 1;
  }
  std::vector<uint64_t> seen(rows, rows + end);
  int64_t num_rows = 1;
  if (logits.dim() == 3) {
    num_rows = tokens.numel();
    const executorch::aten::SizesType sizes[] = {
        1, static_cast<executorch::aten::SizesType>(num_rows), kToyVocabulary};
    if (runtime::resize_tensor(logits, {sizes, 3}) != Error::Ok) {
      context.fail(Error::InvalidArgument);
      return;
    }
  }
  auto* out = logits.mutable_data_ptr<float>();
  std::fill(out, out + logits.numel(), 0.0f);
  for (int64_t row = num_rows; row-- > 0;) {
    out[row * kToyVocabulary + static_cast<int64_t>(toy_next(seen))] = 10.0f;
    seen.pop_back();
  }
}

// toy::decode_sessions.out(Tensor tokens, Tensor places, Tensor wanted, Tensor(a!) cache, int rows,
// *, Tensor(b!) logits): the same for sessions of so many rows each, and for the tokens that are
// wanted.
void decode_sessions_out(KernelRuntimeContext& context, Span<EValue*> args) {
  const Tensor tokens = args[0]->toTensor(), places = args[1]->toTensor();
  const Tensor wanted = args[2]->toTensor(), cache = args[3]->toTensor();
  const int64_t rows_per_session = args[4]->toInt();
  const Tensor logits = args[5]->toTensor();
  const auto* ids = tokens.const_data_ptr<int64_t>();
  const auto* at = places.const_data_ptr<int64_t>();
  auto* rows = cache.mutable_data_ptr<int64_t>();
  toy_calls().count++;
  toy_calls().last_num_tokens = tokens.numel();
  for (ssize_t i = 0; i < tokens.numel(); ++i) {
    if (at[i] < 0 || at[i] >= cache.numel() || ids[i] == kToyBadToken) {
      context.fail(Error::InvalidArgument);
      return;
    }
    rows[at[i]] = ids[i];
  }
  const executorch::aten::SizesType sizes[] = {
      1, static_cast<executorch::aten::SizesType>(wanted.numel()), kToyVocabulary};
  if (runtime::resize_tensor(logits, {sizes, 3}) != Error::Ok) {
    context.fail(Error::InvalidArgument);
    return;
  }
  auto* out = logits.mutable_data_ptr<float>();
  std::fill(out, out + logits.numel(), 0.0f);
  for (ssize_t i = 0; i < wanted.numel(); ++i) {
    const int64_t last = at[wanted.const_data_ptr<int64_t>()[i]];
    const std::vector<uint64_t> seen(rows + last - last % rows_per_session, rows + last + 1);
    out[i * kToyVocabulary + static_cast<int64_t>(toy_next(seen))] = 10.0f;
  }
}

int32_t add_long(MethodBuilder& method, std::vector<int32_t> sizes, bool is_input,
                 bool is_dynamic) {
  TensorSpec spec{std::move(sizes)};
  spec.scalar_type = runtime::testing::fb::ScalarType::LONG;
  spec.planned = !is_input;
  spec.dynamic = is_dynamic;
  return method.add_tensor(spec);
}

}  // namespace

void add_toy_constants(ProgramBuilder& builder,
                       const std::map<std::string, std::vector<int64_t>>& constants) {
  for (const auto& [name, values] : constants) {
    MethodBuilder& method = builder.add_method(name);
    std::vector<int32_t> outputs;
    for (const int64_t value : values) {
      outputs.push_back(method.add_int(value));
    }
    method.inputs({}).outputs(outputs);
  }
}

std::string write_toy_file(const std::string& name, ProgramBuilder& builder) {
  const std::vector<uint8_t> bytes = builder.build();
  const std::string path = testing::TempDir() + "/llm_runner_" + name + ".pte";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return path;
}

ToyCalls& toy_calls() {
  static ToyCalls calls;
  return calls;
}

void register_toy_kernel() {
  static const Kernel kernels[] = {Kernel("toy::decode.out", decode_out),
                                   Kernel("toy::decode_sessions.out", decode_sessions_out)};
  static const Error registered = runtime::register_kernels({kernels, 2});
  ASSERT_EQ(registered, Error::Ok);
}

namespace {

void add_sessions(ProgramBuilder& builder, const ToyOptions& options) {
  MethodBuilder& method = builder.add_method("forward");
  const int32_t length = options.tokens_per_call;
  const int32_t tokens = add_long(method, {1, length}, true, true);
  const int32_t places = add_long(method, {length}, true, true);
  const int32_t wanted = add_long(method, {options.sessions}, true, true);
  const int32_t cache =
      add_long(method, {options.sessions * options.max_context_len}, false, false);
  const int32_t rows = method.add_int(options.max_context_len);
  TensorSpec of_logits{{1, options.sessions, kToyVocabulary}};
  of_logits.dynamic = true;
  const int32_t logits = method.add_tensor(of_logits);
  method.inputs({tokens, places, wanted});
  method.outputs(std::vector<int32_t>(static_cast<size_t>(options.num_outputs), logits));
  method.call("toy::decode_sessions", "out", {tokens, places, wanted, cache, rows, logits, logits});
  add_toy_constants(builder, {{"get_max_sessions", {options.sessions}}});
}

void add_forward(ProgramBuilder& builder, const ToyOptions& options) {
  MethodBuilder& method = builder.add_method("forward");
  const int32_t length = options.is_dynamic ? options.tokens_per_call : 1;
  const int32_t tokens = add_long(method, {1, length}, true, options.is_dynamic);
  const int32_t cache = add_long(method, {options.max_context_len}, false, false);
  TensorSpec of_logits{options.all_logits ? std::vector<int32_t>{1, length, kToyVocabulary}
                                          : std::vector<int32_t>{1, kToyVocabulary}};
  of_logits.dynamic = options.all_logits;
  const int32_t logits = method.add_tensor(of_logits);
  int32_t position;
  if (options.use_kv_cache) {
    position = add_long(method, {options.all_positions ? length : 1}, true, options.all_positions);
    method.inputs({tokens, position});
  } else {
    const uint32_t zero = builder.add_constant(std::vector<int64_t>{0});
    TensorSpec spec{{1}};
    spec.scalar_type = runtime::testing::fb::ScalarType::LONG;
    spec.planned = false;
    spec.data_buffer_idx = zero;
    position = method.add_tensor(spec);
    method.inputs({tokens});
  }
  method.outputs(std::vector<int32_t>(static_cast<size_t>(options.num_outputs), logits));
  method.call("toy::decode", "out", {tokens, position, cache, logits, logits});
}

}  // namespace

ProgramBuilder toy_program(const ToyOptions& options) {
  ProgramBuilder builder;
  (options.sessions > 1 ? add_sessions : add_forward)(builder, options);
  add_toy_constants(builder, {{"get_max_seq_len", {options.max_seq_len}},
                              {"get_max_context_len", {options.max_context_len}},
                              {"enable_dynamic_shape", {options.is_dynamic ? 1 : 0}},
                              {"use_kv_cache", {options.use_kv_cache ? 1 : 0}}});
  if (!options.eos_ids.empty()) {
    add_toy_constants(builder, {{"get_eos_ids", options.eos_ids}});
  }
  return builder;
}

std::string write_toy(const std::string& name, const ToyOptions& options) {
  ProgramBuilder builder = toy_program(options);
  return write_toy_file(name, builder);
}

uint64_t toy_next(const std::vector<uint64_t>& tokens) {
  uint64_t hash = 0;
  for (const uint64_t token : tokens) {
    hash = (hash * 31 + token + 7) % 89;
  }
  return hash + 33;
}

std::vector<uint64_t> toy_answer(std::vector<uint64_t> tokens, size_t count) {
  std::vector<uint64_t> answer;
  for (size_t i = 0; i < count; ++i) {
    answer.push_back(toy_next(tokens));
    tokens.push_back(answer.back());
  }
  return answer;
}

std::string toy_text(const std::vector<uint64_t>& tokens) {
  return {tokens.begin(), tokens.end()};
}

std::vector<uint64_t> toy_tokens(const std::string& text) {
  return {text.begin(), text.end()};
}

GenerationConfig answer_of(int32_t max_new_tokens) {
  GenerationConfig config;
  config.echo = false;
  config.temperature = 0;
  config.max_new_tokens = max_new_tokens;
  return config;
}

ByteTokenizer::ByteTokenizer(bool is_loaded) {
  initialized_ = is_loaded;
  vocab_size_ = kToyVocabulary;
  bos_tok_ = 1;
  eos_tok_ = 2;
}

::tokenizers::Error ByteTokenizer::load(const std::string&) {
  initialized_ = true;
  return ::tokenizers::Error::Ok;
}

ByteResult ByteTokenizer::id_to_piece(uint64_t token) const {
  return decode(0, token, false);
}

::tokenizers::Result<uint64_t> ByteTokenizer::piece_to_id(const std::string& text) const {
  return static_cast<uint64_t>(text.at(0));
}

::tokenizers::Result<std::vector<uint64_t>> ByteTokenizer::encode(const std::string& input,
                                                                  int8_t bos, int8_t eos) const {
  if (input.find('\x7f') != std::string::npos) {
    return ::tokenizers::Error::EncodeFailure;
  }
  std::vector<uint64_t> tokens(static_cast<size_t>(bos), bos_tok());
  tokens.insert(tokens.end(), input.begin(), input.end());
  tokens.insert(tokens.end(), static_cast<size_t>(eos), eos_tok());
  return tokens;
}

ByteResult ByteTokenizer::decode(uint64_t, uint64_t token, bool) const {
  if (token >= 126) {
    return ::tokenizers::Error::DecodeFailure;
  }
  return std::string(1, static_cast<char>(token));
}

std::unique_ptr<ByteTokenizer> byte_tokenizer() {
  return std::make_unique<ByteTokenizer>();
}

}  // namespace executorch::extension::llm::toys
