// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/text.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <pytorch/tokenizers/log.h>

#include <executorch/extension/c/structs.h>
#include <executorch/extension/c/tensor.h>
#include <executorch/extension/llm/runner/chat_format.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/stop_filter.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>

// The tokenizers' messages are the library's.
extern "C" void tk_pal_emit_log_message(tokenizers::LogLevel level, const char* file, size_t line,
                                        const char* message) {
  executorch::extension::c::emit(static_cast<int32_t>(level), file, line, message);
}

namespace executorch::extension::c {

using llm::FinishReason;
using llm::GenerationConfig;
using llm::TextLLMRunner;
using runtime::Error;
using runtime::Result;

namespace {

static_assert(EXECUTORCH_CONTEXT_FULL == static_cast<int>(FinishReason::ContextFull));
static_assert(EXECUTORCH_STOPPED == static_cast<int>(FinishReason::Stopped));
static_assert(EXECUTORCH_LOG_FATAL == static_cast<int>(tokenizers::LogLevel::Fatal));

struct TextObject final : Object {
  static constexpr Kind kKind = Kind::Text;
  TextObject(std::unique_ptr<TextLLMRunner> its_runner, std::string its_tokenizer)
      : runner(std::move(its_runner)), tokenizer(std::move(its_tokenizer)) {}

  std::unique_ptr<TextLLMRunner> runner;
  std::string tokenizer;  // its path; empty: inside the program
};

Result<std::vector<std::string>> read_strings(const char* const* texts, size_t count,
                                              const char* what) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(texts, count, what));
  std::vector<std::string> result;
  for (size_t i = 0; i < count; ++i) {
    ET_CHECK_OR_RETURN_ERROR(texts[i] != nullptr, InvalidArgument,
                             "expected %zu %s, found NULL as number %zu", count, what, i);
    result.emplace_back(texts[i]);
  }
  return result;
}

Result<std::vector<std::unique_ptr<TextLLMRunner>>> make_runners(
    const ExecuTorchTextOptions& options, size_t count) {
  ET_CHECK_OR_RETURN_ERROR(options.program != nullptr, InvalidArgument,
                           "expected the path of a program, found NULL");
  ET_CHECK_OR_RETURN_ERROR(options.load_mode >= EXECUTORCH_LOAD_FILE &&
                               options.load_mode <= EXECUTORCH_LOAD_MMAP_READ_AHEAD,
                           InvalidArgument, "expected a load mode from 0 to %d, found %d",
                           EXECUTORCH_LOAD_MMAP_READ_AHEAD, options.load_mode);
  const std::vector<std::string> data_files =
      ET_UNWRAP(read_strings(options.data_files, options.num_data_files, "data files"));
  auto runners = llm::create_text_llm_runners(
      options.program, options.tokenizer == nullptr ? "" : options.tokenizer, count, data_files,
      -1.0f, options.method == nullptr ? "forward" : options.method,
      static_cast<Module::LoadMode>(options.load_mode));
  ET_CHECK_OR_RETURN_ERROR(runners.size() == count, InvalidArgument,
                           "a session of %s with the tokenizer %s cannot be made", options.program,
                           options.tokenizer == nullptr ? "inside" : options.tokenizer);
  for (const auto& each : runners) {
    ET_CHECK_OK_OR_RETURN_ERROR(each->load());
  }
  return runners;
}

Error set_sampling(const ExecuTorchGenerateOptions& options, GenerationConfig* config) {
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_array(options.sampling, options.num_sampling, "settings of sampling"));
  for (size_t i = 0; i < options.num_sampling; ++i) {
    const ExecuTorchSetting& given = options.sampling[i];
    const llm::SamplingSetting* known = nullptr;
    for (const auto& row : llm::kSamplingSettings) {
      known = given.name != nullptr && std::strcmp(row.name, given.name) == 0 ? &row : known;
    }
    ET_CHECK_OR_RETURN_ERROR(known != nullptr, InvalidArgument,
                             "expected the name of a setting of sampling, found %s",
                             given.name == nullptr ? "NULL" : given.name);
    ET_CHECK_OR_RETURN_ERROR(known->takes(given.value), InvalidArgument,
                             "%s: expected %s from %g to %g, found %g", given.name,
                             known->is_integer ? "an integer" : "a number", known->low, known->high,
                             given.value);
    known->set(config, given.value);
  }
  return Error::Ok;
}

Result<GenerationConfig> read_config(const ExecuTorchGenerateOptions& options) {
  GenerationConfig config;
  config.echo = false;
  config.silent = true;
  config.hide_eos = true;
  ET_CHECK_OK_OR_RETURN_ERROR(set_sampling(options, &config));
  ET_CHECK_OR_RETURN_ERROR(
      options.max_new_tokens >= 0 && options.num_bos >= 0 && options.num_eos >= 0 &&
          options.prompt_lookup >= 0,
      InvalidArgument,
      "expected numbers of at least 0, found max_new_tokens %d, num_bos %d, num_eos %d, "
      "prompt_lookup %d",
      options.max_new_tokens, options.num_bos, options.num_eos, options.prompt_lookup);
  config.max_new_tokens = options.max_new_tokens == 0 ? -1 : options.max_new_tokens;
  config.num_bos = options.num_bos;
  config.num_eos = options.num_eos;
  config.ignore_eos = options.ignores_end != 0;
  config.prompt_lookup = options.prompt_lookup;
  if (options.has_seed != 0) {
    config.seed = options.seed;
  }
  config.grammar = options.grammar == nullptr ? "" : options.grammar;
  config.grammar_type = options.grammar_type == nullptr ? "" : options.grammar_type;
  return config;
}

double seconds(long from, long to) {
  return static_cast<double>(to - from) / 1000.0;
}

// run(config, token_callback, stats_callback) appends a prompt and an answer.
template <typename Run>
Error generate(TextLLMRunner& runner, const ExecuTorchGenerateOptions& options,
               ExecuTorchTextResult* result, Run run) {
  const GenerationConfig config = ET_UNWRAP(read_config(options));
  llm::StopFilter filter(
      ET_UNWRAP(read_strings(options.stops, options.num_stops, "texts that end the answer")));
  bool is_stopped = false;
  const auto show = [&](const std::string& text) {
    if (!text.empty() && options.on_text != nullptr && !is_stopped) {
      is_stopped = options.on_text(options.context, text.data(), text.size()) != 0;
    }
  };
  const auto on_token = [&](const std::string& piece) {
    show(filter.add(piece));
    if (is_stopped || filter.is_hit()) {
      runner.stop();
    }
  };
  const auto on_stats = [&](const llm::Stats& stats) {
    result->prompt_tokens = stats.num_prompt_tokens;
    result->new_tokens = stats.num_generated_tokens + 1;  // which does not count the first
    result->prompt_seconds = seconds(stats.inference_start_ms, stats.first_token_ms);
    result->answer_seconds = seconds(stats.first_token_ms, stats.inference_end_ms);
  };
  ET_CHECK_OK_OR_RETURN_ERROR(run(config, on_token, on_stats));
  show(filter.finish());
  result->reason = filter.is_hit() ? EXECUTORCH_STOP_TEXT
                   : is_stopped    ? EXECUTORCH_STOPPED
                                   : static_cast<int32_t>(runner.finish_reason());
  return Error::Ok;
}

Result<std::vector<uint64_t>> encode(TextLLMRunner& runner, const std::string& text) {
  auto ids = runner.tokenizer()->encode(text, 0, 0);
  ET_CHECK_OR_RETURN_ERROR(ids.ok(), InvalidArgument, "the tokenizer cannot read the text");
  return std::move(*ids);
}

Result<std::vector<llm::ChatMessage>> read_messages(const ExecuTorchMessage* messages,
                                                    size_t count) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(messages, count, "messages"));
  std::vector<llm::ChatMessage> result;
  for (size_t i = 0; i < count; ++i) {
    ET_CHECK_OR_RETURN_ERROR(messages[i].role != nullptr && messages[i].content != nullptr,
                             InvalidArgument,
                             "expected role and content of message %zu, found NULL", i);
    result.push_back({messages[i].role, messages[i].content});
  }
  return result;
}

Error chat(TextObject& session, const std::vector<llm::ChatMessage>& messages, const char* format,
           const ExecuTorchGenerateOptions& options, ExecuTorchTextResult* result) {
  TextLLMRunner& runner = *session.runner;
  const llm::ChatFormat* const found =
      ET_UNWRAP(format != nullptr ? llm::find_chat_format(format)
                                  : llm::chat_format_of(*runner.module(), session.tokenizer));
  std::vector<uint64_t> ids =
      ET_UNWRAP(encode(runner, ET_UNWRAP(llm::format_chat(*found, messages))));
  const auto run = [&](const GenerationConfig& config, const auto& on_token, const auto& on_stats) {
    // With a seed, the answer is that of a new context.
    const int64_t shared = ET_UNWRAP(runner.keep_shared_beginning(ids, config.seed.has_value()));
    const std::vector<uint64_t> rest(ids.begin() + shared, ids.end());
    return runner.generate(std::vector<llm::MultimodalInput>{llm::make_token_input(rest)}, config,
                           on_token, on_stats);
  };
  ET_CHECK_OK_OR_RETURN_ERROR(generate(runner, options, result, run));
  result->prompt_tokens = static_cast<int64_t>(ids.size());
  return Error::Ok;
}

// What fits of a list, and how long it is.
template <typename T, typename Found>
Error write_list(const Found& found, T* out, size_t capacity, size_t* out_count) {
  ET_C_NOT_NULL(out_count);
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(out, capacity, "places"));
  std::copy_n(found.begin(), std::min(capacity, found.size()), out);
  *out_count = found.size();
  return Error::Ok;
}

// What a call does with a session of its own.
template <typename Body>
ExecuTorchStatus with_session(const char* call, ExecuTorchText session, Body&& body) noexcept {
  return guard(call, [&]() -> Error {
    return body(*ET_UNWRAP(Pin<TextObject>::take(session, Use::Exclusive))->runner);
  });
}

// The same of an answer: body(session, options, result).
template <typename Body>
ExecuTorchStatus answer(const char* call, ExecuTorchText session,
                        const ExecuTorchGenerateOptions* options, ExecuTorchTextResult* out_result,
                        Body&& body) noexcept {
  return guard(call, [&]() -> Error {
    const auto pin = ET_UNWRAP(Pin<TextObject>::take(session, Use::Exclusive));
    if (out_result != nullptr) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_struct(out_result));
    }
    ExecuTorchTextResult result{};
    ET_CHECK_OK_OR_RETURN_ERROR(body(*pin, ET_UNWRAP(read_struct(options)), &result));
    if (out_result != nullptr) {
      write_struct(result, out_result);
    }
    return Error::Ok;
  });
}

}  // namespace

ExecuTorchStatus text_new(const ExecuTorchTextOptions* options, size_t count,
                          ExecuTorchText* out_sessions) noexcept {
  return guard("text_new", [&]() -> Error {
    ET_CHECK_OR_RETURN_ERROR(count > 0, InvalidArgument, "expected 1 session at least, found 0");
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(out_sessions, count, "places for sessions"));
    const ExecuTorchTextOptions given = ET_UNWRAP(read_struct(options));
    auto runners = ET_UNWRAP(make_runners(given, count));
    const std::string tokenizer = given.tokenizer == nullptr ? "" : given.tokenizer;
    std::vector<Handle> handles;
    for (auto& each : runners) {
      auto handle = make_handle<TextObject>(std::move(each), tokenizer);
      if (!handle.ok()) {
        for (const Handle made : handles) {
          (void)release(made);
        }
        return handle.error();
      }
      handles.push_back(*handle);
    }
    std::copy(handles.begin(), handles.end(), out_sessions);
    return Error::Ok;
  });
}

ExecuTorchStatus text_generate(ExecuTorchText session, const char* prompt,
                               const ExecuTorchGenerateOptions* options,
                               ExecuTorchTextResult* out_result) noexcept {
  return answer("text_generate", session, options, out_result,
                [&](TextObject& object, const ExecuTorchGenerateOptions& given,
                    ExecuTorchTextResult* result) -> Error {
                  ET_C_NOT_NULL(prompt);
                  const auto run = [&](const auto&... how) {
                    return object.runner->generate(std::string(prompt), how...);
                  };
                  return generate(*object.runner, given, result, run);
                });
}

ExecuTorchStatus text_chat(ExecuTorchText session, const ExecuTorchMessage* messages,
                           size_t num_messages, const char* format,
                           const ExecuTorchGenerateOptions* options,
                           ExecuTorchTextResult* out_result) noexcept {
  return answer("text_chat", session, options, out_result,
                [&](TextObject& object, const ExecuTorchGenerateOptions& given,
                    ExecuTorchTextResult* result) -> Error {
                  return chat(object, ET_UNWRAP(read_messages(messages, num_messages)), format,
                              given, result);
                });
}

ExecuTorchStatus text_stop(ExecuTorchText session) noexcept {
  return guard("text_stop", [&]() -> Error {
    ET_UNWRAP(Pin<TextObject>::take(session))
    ->runner->stop();
    return Error::Ok;
  });
}

ExecuTorchStatus text_position(ExecuTorchText session, int64_t* out_position) noexcept {
  return with_session("text_position", session, [&](TextLLMRunner& runner) -> Error {
    ET_C_NOT_NULL(out_position);
    *out_position = static_cast<int64_t>(runner.context().size());
    return Error::Ok;
  });
}

ExecuTorchStatus text_rewind(ExecuTorchText session, int64_t position) noexcept {
  return with_session("text_rewind", session, [&](TextLLMRunner& runner) -> Error {
    if (position == 0) {
      runner.reset();
      return Error::Ok;
    }
    return runner.rewind(position);
  });
}

ExecuTorchStatus text_save(ExecuTorchText session, const char* path) noexcept {
  return with_session("text_save", session, [&](TextLLMRunner& runner) -> Error {
    ET_C_NOT_NULL(path);
    return runner.save_state(path);
  });
}

ExecuTorchStatus text_restore(ExecuTorchText session, const char* path) noexcept {
  return with_session("text_restore", session, [&](TextLLMRunner& runner) -> Error {
    ET_C_NOT_NULL(path);
    return runner.restore_state(path);
  });
}

ExecuTorchStatus text_encode(ExecuTorchText session, const char* text, uint64_t* out_ids,
                             size_t capacity, size_t* out_count) noexcept {
  return with_session("text_encode", session, [&](TextLLMRunner& runner) -> Error {
    ET_C_NOT_NULL(text);
    return write_list(ET_UNWRAP(encode(runner, text)), out_ids, capacity, out_count);
  });
}

ExecuTorchStatus text_decode(ExecuTorchText session, const uint64_t* ids, size_t num_ids,
                             char* out_text, size_t capacity, size_t* out_size) noexcept {
  return with_session("text_decode", session, [&](TextLLMRunner& runner) -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(ids, num_ids, "ids"));
    std::string text;
    for (size_t i = 0; i < num_ids; ++i) {
      const auto piece = runner.tokenizer()->decode(ids[i > 0 ? i - 1 : 0], ids[i]);
      ET_CHECK_OR_RETURN_ERROR(piece.ok(), InvalidArgument, "expected ids below %d, found %" PRIu64,
                               static_cast<int>(runner.tokenizer()->vocab_size()), ids[i]);
      text += *piece;
    }
    return write_list(text, out_text, capacity, out_size);
  });
}

}  // namespace executorch::extension::c

// What links the runners of language models asks for this name, and so for this file.
extern "C" void executorch_link_text() {}
