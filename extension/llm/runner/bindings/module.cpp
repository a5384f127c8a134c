// SPDX-License-Identifier: BSD-3-Clause
// The Python module executorch.extension.llm.runner._llm_runner. It runs on the runtime, kernels
// and backends of _portable_lib, which is loaded before it.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <executorch/extension/llm/runner/bindings/inputs.h>
#include <executorch/extension/llm/runner/bindings/program_data.h>
#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/multimodal_runner.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <executorch/extension/llm/runner/util.h>
#include <executorch/extension/pybindings/arguments.h>
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/text/grammar/grammar.h>
#include <executorch/extension/text/grammar/json_schema.h>
#include <executorch/runtime/platform/runtime.h>

namespace py = pybind11;

namespace executorch::extension::llm {
namespace {

using pybindings::LogCapture;
using pybindings::Path;
using runtime::Error;

// Whole characters out of pieces of bytes; what can be none becomes U+FFFD.
class Characters {
 public:
  py::str add(const std::string& piece) {
    held_ += piece;
    const size_t whole = utf8_complete_prefix_len(held_);
    py::str text = decode(held_.substr(0, whole));
    held_.erase(0, whole);
    return text;
  }
  py::str finish() {
    py::str text = decode(held_);
    held_.clear();
    return text;
  }

 private:
  static py::str decode(const std::string& bytes) {
    PyObject* text =
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
    if (text == nullptr) {
      throw py::error_already_set();
    }
    return py::reinterpret_steal<py::str>(text);
  }

  std::string held_;
};

// A runner for Python: errors are exceptions, and two threads that use it at once are told.
template <typename Runner>
class PyRunner {
 public:
  using Create = std::unique_ptr<Runner> (*)(const std::string& model,
                                             std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                                             const std::optional<Path>& data);

  PyRunner(const char* kind, Create create, const Path& model, const Path& tokenizer,
           const std::optional<Path>& data) {
    const LogCapture capture;
    const bool is_inside = tokenizer.text.empty();
    auto loaded = is_inside ? load_tokenizer_of_program(model.text)
                            : load_tokenizer(tokenizer.text, nullptr, std::nullopt, 0, 0);
    capture.check(loaded == nullptr ? Error::InvalidArgument : Error::Ok,
                  "Failed to load tokenizer from: " + (is_inside ? model : tokenizer).text);
    runner_ = create(model.text, std::move(loaded), data);
    capture.check(runner_ == nullptr ? Error::InvalidArgument : Error::Ok,
                  std::string("Failed to create ") + kind + " runner with model: " + model.text);
  }

  explicit PyRunner(std::unique_ptr<Runner> runner) : runner_(std::move(runner)) {}

  void load() {
    guarded("Loading failed", [&] { return runner_->load(); });
  }
  void reset() {
    const Busy busy(*this);
    runner_->reset();
  }
  void stop() { runner_->stop(); }
  int64_t vocab_size() const { return runner_->tokenizer()->vocab_size(); }

 protected:
  // Without the interpreter's lock.
  template <typename Call>
  void guarded(const char* what, Call call) {
    const Busy busy(*this);
    const LogCapture capture;
    Error error;
    {
      const py::gil_scoped_release release;
      error = call();
    }
    capture.check(error, what);
  }

  // call(token_callback, stats_callback) generates. on_token gets whole characters, on_stats the
  // statistics at the end; each may be None.
  template <typename Call>
  void stream(Call call, const py::object& on_token, const py::object& on_stats) {
    Characters characters;
    const std::function<void(const std::string&)> token_callback = [&](const std::string& piece) {
      const py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        throw py::error_already_set();
      }
      show(on_token, on_token.is_none() ? py::str() : characters.add(piece));
    };
    std::optional<Stats> stats;
    const std::function<void(const Stats&)> stats_callback = [&](const Stats& found) {
      stats.emplace(found);
    };
    guarded("Generation failed", [&] { return call(token_callback, stats_callback); });
    show(on_token, characters.finish());
    if (!on_stats.is_none() && stats.has_value()) {
      on_stats(*stats);
    }
  }

  std::unique_ptr<Runner> runner_;

 private:
  // Of one call; another one meanwhile is refused.
  class Busy {
   public:
    explicit Busy(PyRunner& owner) : flag_(owner.is_busy_) {
      if (flag_.exchange(true)) {
        throw std::runtime_error(
            "The runner is in use: one call at a time, other than stop(). Make a runner per "
            "thread");
      }
    }
    ~Busy() { flag_.store(false); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    std::atomic<bool>& flag_;
  };

  static void show(const py::object& on_token, const py::str& text) {
    if (!on_token.is_none() && py::len(text) > 0) {
      on_token(text);
    }
  }

  std::atomic<bool> is_busy_{false};
};

class PyTextLLMRunner : public PyRunner<TextLLMRunner> {
 public:
  using Prompt = std::variant<std::string, std::vector<uint64_t>, std::vector<MultimodalInput>>;

  PyTextLLMRunner(const Path& model, const Path& tokenizer, const std::optional<Path>& data)
      : PyRunner("text llm", &create, model, tokenizer, data) {}
  explicit PyTextLLMRunner(std::unique_ptr<TextLLMRunner> runner) : PyRunner(std::move(runner)) {}

  static std::vector<std::unique_ptr<PyTextLLMRunner>> several(const Path& model,
                                                               const Path& tokenizer, size_t count,
                                                               const std::optional<Path>& data) {
    const LogCapture capture;
    std::vector<std::string> files;
    if (data.has_value()) {
      files.push_back(data->text);
    }
    auto runners = create_text_llm_runners(model.text, tokenizer.text, count, files);
    capture.check(runners.size() == count ? Error::Ok : Error::InvalidArgument,
                  "Failed to create text llm runners with model: " + model.text);
    std::vector<std::unique_ptr<PyTextLLMRunner>> made;
    for (auto& runner : runners) {
      made.push_back(std::make_unique<PyTextLLMRunner>(std::move(runner)));
    }
    return made;
  }

  void generate(const Prompt& prompt, const GenerationConfig& config, const py::object& on_token,
                const py::object& on_stats) {
    const auto* text = std::get_if<std::string>(&prompt);
    const std::vector<MultimodalInput> inputs = inputs_of(prompt);
    const bool goes_on = inputs.empty();
    stream(
        [&](const auto& token_callback, const auto& stats_callback) {
          return text != nullptr || goes_on
                     ? runner_->generate(goes_on ? std::string() : *text, config, token_callback,
                                         stats_callback)
                     : runner_->generate(inputs, config, token_callback, stats_callback);
        },
        on_token, on_stats);
  }

  void prefill(const Prompt& prompt, const GenerationConfig& config) {
    const std::vector<MultimodalInput> inputs = inputs_of(prompt);
    guarded("Prefill failed",
            [&] { return runner_->prefill(inputs, config.num_bos, config.num_eos).error(); });
  }

  void rewind(int64_t position) {
    guarded("Rewinding failed", [&] { return runner_->rewind(position); });
  }

  int64_t shared_beginning(const std::vector<uint64_t>& ids, bool exact) const {
    return runner_->shared_beginning(ids, exact);
  }
  int64_t keep_shared_beginning(const std::vector<uint64_t>& ids, bool exact) {
    int64_t shared = 0;
    guarded("Rewinding failed", [&] {
      shared = ET_UNWRAP(runner_->keep_shared_beginning(ids, exact));
      return Error::Ok;
    });
    return shared;
  }

  void save_state(const Path& path) {
    guarded("Saving failed", [&] { return runner_->save_state(path.text); });
  }
  void restore_state(const Path& path) {
    guarded("Restoring failed", [&] { return runner_->restore_state(path.text); });
  }

  using Logprob = std::pair<int32_t, float>;
  std::vector<std::pair<Logprob, std::vector<Logprob>>> logprobs() const {
    std::vector<std::pair<Logprob, std::vector<Logprob>>> rows;
    for (const TokenLogprobs& row : runner_->logprobs()) {
      auto& [taken, best] = rows.emplace_back();
      taken = {row.taken.token, row.taken.logprob};
      for (const TokenLogprob& one : row.best) {
        best.emplace_back(one.token, one.logprob);
      }
    }
    return rows;
  }

  py::bytes token_text(uint64_t token) const {
    const auto text = runner_->tokenizer()->decode(token, token);
    if (!text.ok()) {
      throw std::out_of_range("no token has the id " + std::to_string(token));
    }
    return {*text};
  }

  std::vector<uint64_t> context() const { return runner_->context(); }
  const char* finish_reason() const {
    switch (runner_->finish_reason()) {
      case FinishReason::None:
        return "none";
      case FinishReason::EndOfText:
        return "end_of_text";
      case FinishReason::Length:
        return "length";
      case FinishReason::ContextFull:
        return "context_full";
      case FinishReason::Stopped:
        return "stopped";
    }
    return "none";
  }
  std::unordered_map<std::string, int64_t> metadata() const { return runner_->metadata(); }

  std::vector<uint64_t> encode(const std::string& text, int8_t bos, int8_t eos) const {
    const LogCapture capture;
    auto tokens = runner_->tokenizer()->encode(text, bos, eos);
    capture.check(tokens.ok() ? Error::Ok : Error::InvalidArgument, "Encoding failed");
    return std::move(*tokens);
  }

 private:
  static std::unique_ptr<TextLLMRunner> create(const std::string& model,
                                               std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                                               const std::optional<Path>& data) {
    std::vector<std::string> data_files;
    if (data.has_value()) {
      data_files.push_back(data->text);
    }
    return create_text_llm_runner(model, std::move(tokenizer), std::move(data_files), -1.0f,
                                  nullptr, "forward", Module::LoadMode::Mmap);
  }

  // None for an empty text or no ids.
  static std::vector<MultimodalInput> inputs_of(const Prompt& prompt) {
    if (const auto* text = std::get_if<std::string>(&prompt)) {
      return text->empty() ? std::vector<MultimodalInput>{}
                           : std::vector<MultimodalInput>{make_text_input(*text)};
    }
    if (const auto* tokens = std::get_if<std::vector<uint64_t>>(&prompt)) {
      return tokens->empty() ? std::vector<MultimodalInput>{}
                             : std::vector<MultimodalInput>{make_token_input(*tokens)};
    }
    return std::get<std::vector<MultimodalInput>>(prompt);
  }
};

class PyMultimodalRunner : public PyRunner<MultimodalRunner> {
 public:
  using Inputs = std::vector<MultimodalInput>;

  PyMultimodalRunner(const Path& model, const Path& tokenizer, const std::optional<Path>& data)
      : PyRunner("multimodal", &create, model, tokenizer, data) {}

  void generate(const Inputs& inputs, const GenerationConfig& config, const py::object& on_token,
                const py::object& on_stats) {
    stream(
        [&](const auto& token_callback, const auto& stats_callback) {
          return runner_->generate(inputs, config, token_callback, stats_callback);
        },
        on_token, on_stats);
  }

  py::str generate_text(const Inputs& inputs, const GenerationConfig& config) {
    const py::list pieces;
    generate(inputs, config, pieces.attr("append"), py::none());
    return py::str("").attr("join")(pieces);
  }

  void prefill(const Inputs& inputs) {
    guarded("Prefill failed", [&] { return runner_->prefill(inputs).error(); });
  }

 private:
  static std::unique_ptr<MultimodalRunner> create(
      const std::string& model, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
      const std::optional<Path>& data) {
    return data.has_value() ? create_multimodal_runner(model, std::move(tokenizer), data->text)
                            : create_multimodal_runner(model, std::move(tokenizer));
  }
};

// TypeError for a name that is no setting, and for what is no number of its kind.
void set_sampling(GenerationConfig* config, const std::string& name, const py::handle& value) {
  for (const SamplingSetting& setting : kSamplingSettings) {
    if (setting.name != name) {
      continue;
    }
    try {
      return setting.set(config, setting.is_integer ? value.cast<int32_t>() : value.cast<double>());
    } catch (const py::cast_error&) {
      throw py::type_error("GenerationConfig: " + name + ": expected a " +
                           (setting.is_integer ? "whole number of 32 bits" : "number") +
                           ", found " + std::string(py::repr(value)));
    }
  }
  throw py::type_error("GenerationConfig: no setting is called " + name);
}

void define_config(py::module_& module) {
  const GenerationConfig unset;
  py::class_<GenerationConfig> type(module, "GenerationConfig");
  type.def(py::init([](bool echo, int32_t max_new_tokens, bool warming, int32_t seq_len,
                       std::optional<double> temperature, int32_t num_bos, int32_t num_eos,
                       bool ignore_eos, std::optional<uint64_t> seed, bool hide_eos, bool silent,
                       std::string grammar, std::string grammar_type, int32_t top_logprobs,
                       int32_t prompt_lookup, const py::kwargs& sampling) {
             GenerationConfig config;
             config.echo = echo;
             config.max_new_tokens = max_new_tokens;
             config.warming = warming;
             config.seq_len = seq_len;
             if (temperature.has_value()) {
               config.temperature = static_cast<float>(*temperature);
             }
             config.num_bos = num_bos;
             config.num_eos = num_eos;
             config.ignore_eos = ignore_eos;
             config.seed = seed;
             config.hide_eos = hide_eos;
             config.silent = silent;
             config.grammar = std::move(grammar);
             config.grammar_type = std::move(grammar_type);
             config.top_logprobs = top_logprobs;
             config.prompt_lookup = prompt_lookup;
             for (const auto& [name, value] : sampling) {
               if (!value.is_none()) {
                 set_sampling(&config, name.cast<std::string>(), value);
               }
             }
             return config;
           }),
           py::arg("echo") = unset.echo, py::arg("max_new_tokens") = unset.max_new_tokens,
           py::arg("warming") = unset.warming, py::arg("seq_len") = unset.seq_len,
           py::arg_v("temperature", py::none(), "0.8"), py::arg("num_bos") = unset.num_bos,
           py::arg("num_eos") = unset.num_eos, py::kw_only(),
           py::arg("ignore_eos") = unset.ignore_eos, py::arg("seed") = py::none(),
           py::arg("hide_eos") = unset.hide_eos, py::arg("silent") = unset.silent,
           py::arg("grammar") = unset.grammar, py::arg("grammar_type") = unset.grammar_type,
           py::arg("top_logprobs") = unset.top_logprobs,
           py::arg("prompt_lookup") = unset.prompt_lookup,
           "And top_k, top_p, min_p, repetition_penalty, frequency_penalty, presence_penalty. "
           "Settings of sampling that are not given, or None, are the program's.")
      .def_readwrite("echo", &GenerationConfig::echo)
      .def_readwrite("max_new_tokens", &GenerationConfig::max_new_tokens)
      .def_readwrite("warming", &GenerationConfig::warming)
      .def_readwrite("seq_len", &GenerationConfig::seq_len)
      .def_readwrite("num_bos", &GenerationConfig::num_bos)
      .def_readwrite("num_eos", &GenerationConfig::num_eos)
      .def_readwrite("ignore_eos", &GenerationConfig::ignore_eos)
      .def_readwrite("seed", &GenerationConfig::seed)
      .def_readwrite("hide_eos", &GenerationConfig::hide_eos)
      .def_readwrite("silent", &GenerationConfig::silent)
      .def_readwrite("grammar", &GenerationConfig::grammar)
      .def_readwrite("grammar_type", &GenerationConfig::grammar_type)
      .def_readwrite("top_logprobs", &GenerationConfig::top_logprobs)
      .def_readwrite("prompt_lookup", &GenerationConfig::prompt_lookup)
      .def("resolve_max_new_tokens", &GenerationConfig::resolve_max_new_tokens,
           py::arg("max_context_len"), py::arg("num_tokens_occupied"))
      .def("__repr__", [](const GenerationConfig& config) {
        return "<GenerationConfig max_new_tokens=" + std::to_string(config.max_new_tokens) +
               " seq_len=" + std::to_string(config.seq_len) +
               " temperature=" + std::to_string(config.temperature) +
               " echo=" + (config.echo ? "True" : "False") +
               " warming=" + (config.warming ? "True" : "False") + ">";
      });
  for (const SamplingSetting& setting : kSamplingSettings) {
    const py::cpp_function get([&setting](const GenerationConfig& config) {
      return setting.is_integer ? py::object(py::int_(static_cast<int64_t>(setting.get(config))))
                                : py::object(py::float_(setting.get(config)));
    });
    const py::cpp_function set([&setting](GenerationConfig& config, const py::handle& value) {
      set_sampling(&config, setting.name, value);
    });
    type.def_property(setting.name, get, set);
  }
}

// Its least and most by the name of each setting.
py::dict sampling_settings() {
  py::dict rows;
  for (const SamplingSetting& setting : kSamplingSettings) {
    rows[setting.name] = py::make_tuple(setting.low, setting.high);
  }
  return rows;
}

py::dict given_sampling(const GenerationConfig& config) {
  py::dict found;
  for (const SamplingSetting& setting : kSamplingSettings) {
    if (setting.is_given(config)) {
      found[setting.name] = py::cast(config).attr(setting.name);
    }
  }
  return found;
}

void define_sampling(py::module_& module) {
  module.def("sampling_settings", &sampling_settings,
             "The least and the most of each setting of sampling, by its name.");
  module.def(
      "sampling_of", [](const std::string& text) { return given_sampling(sampling_of(text)); },
      py::arg("generation_config"),
      "Settings of sampling in the text of a generation_config.json.");
}

void define_stats(py::module_& module) {
  py::class_<Stats>(module, "Stats")
      .def_readonly("SCALING_FACTOR_UNITS_PER_SECOND", &Stats::SCALING_FACTOR_UNITS_PER_SECOND)
      .def_readonly("model_load_start_ms", &Stats::model_load_start_ms)
      .def_readonly("model_load_end_ms", &Stats::model_load_end_ms)
      .def_readonly("inference_start_ms", &Stats::inference_start_ms)
      .def_readonly("token_encode_end_ms", &Stats::token_encode_end_ms)
      .def_readonly("model_execution_start_ms", &Stats::model_execution_start_ms)
      .def_readonly("model_execution_end_ms", &Stats::model_execution_end_ms)
      .def_readonly("prompt_eval_end_ms", &Stats::prompt_eval_end_ms)
      .def_readonly("first_token_ms", &Stats::first_token_ms)
      .def_readonly("inference_end_ms", &Stats::inference_end_ms)
      .def_readonly("aggregate_sampling_time_ms", &Stats::aggregate_sampling_time_ms)
      .def_readonly("num_prompt_tokens", &Stats::num_prompt_tokens)
      .def_readonly("num_generated_tokens", &Stats::num_generated_tokens)
      .def("on_sampling_begin", &Stats::on_sampling_begin)
      .def("on_sampling_end", &Stats::on_sampling_end)
      .def("reset", &Stats::reset, py::arg("all_stats") = false)
      .def("to_json_string", &stats_to_json_string)
      .def("__repr__", [](const Stats& stats) {
        const double seconds =
            static_cast<double>(stats.inference_end_ms - stats.inference_start_ms) / 1000;
        const double rate =
            seconds > 0 ? static_cast<double>(stats.num_generated_tokens) / seconds : 0;
        return "<Stats num_prompt_tokens=" + std::to_string(stats.num_prompt_tokens) +
               " num_generated_tokens=" + std::to_string(stats.num_generated_tokens) +
               " tokens_per_second=" + std::to_string(rate) + ">";
      });
}

void define_text_runner(py::module_& module) {
  py::class_<PyTextLLMRunner>(module, "TextLLMRunner")
      .def(py::init<const Path&, const Path&, const std::optional<Path>&>(), py::arg("model_path"),
           py::arg("tokenizer_path") = std::string(), py::arg("data_path") = py::none(),
           "Without a tokenizer_path: with the tokenizer that the program carries.")
      .def_static("several", &PyTextLLMRunner::several, py::arg("model_path"),
                  py::arg("tokenizer_path"), py::arg("count"), py::arg("data_path") = py::none(),
                  "`count` runners of one program. With a program of several sessions "
                  "(export.max_sessions) what threads generate by them at the same time is decoded "
                  "in one step.")
      .def("generate", &PyTextLLMRunner::generate, py::arg("prompt"), py::arg("config"),
           py::arg("token_callback") = py::none(), py::arg("stats_callback") = py::none(),
           "Appends a text, or ids, and an answer to the context. token_callback gets whole "
           "characters as they come, stats_callback the Stats at the end. \"\" goes on with an "
           "answer that was interrupted, or from prefill().")
      .def("prefill", &PyTextLLMRunner::prefill, py::arg("prompt"),
           py::arg("config") = GenerationConfig())
      .def("load", &PyTextLLMRunner::load, "Loads the model; generate() does it, too.")
      .def("stop", &PyTextLLMRunner::stop,
           "Ends generate() after the token that it is at; from any thread.")
      .def("reset", &PyTextLLMRunner::reset, "Forgets the context.")
      .def("rewind", &PyTextLLMRunner::rewind, py::arg("position"),
           "Forgets what follows the first `position` ids of the context.")
      .def("shared_beginning", &PyTextLLMRunner::shared_beginning, py::arg("ids"), py::kw_only(),
           py::arg("exact") = false, "How many ids keep_shared_beginning() would keep.")
      .def("keep_shared_beginning", &PyTextLLMRunner::keep_shared_beginning, py::arg("ids"),
           py::kw_only(), py::arg("exact") = false,
           "Cuts the context to what `ids` begin with, and says how many that are; one id at least "
           "is left to compute. With `exact` what follows is bit for bit that of a new context: "
           "only what came of prompts is kept, and a few ids more are left. A program that cannot "
           "go back begins anew unless its whole context is shared.")
      .def("save_state", &PyTextLLMRunner::save_state, py::arg("path"),
           "Writes the context, with all that was computed for it, to a file.")
      .def("restore_state", &PyTextLLMRunner::restore_state, py::arg("path"),
           "The context of a file of save_state(), which was another runner's of this program.")
      .def("token_text", &PyTextLLMRunner::token_text, py::arg("id"),
           "The bytes of a token; perhaps a part of a character.")
      .def("encode", &PyTextLLMRunner::encode, py::arg("text"), py::arg("bos") = 0,
           py::arg("eos") = 0)
      .def("get_vocab_size", &PyTextLLMRunner::vocab_size)
      .def_property_readonly("context", &PyTextLLMRunner::context,
                             "The ids that the model has in its cache.")
      .def_property_readonly("finish_reason", &PyTextLLMRunner::finish_reason,
                             "Why the last answer ended: end_of_text, length, context_full, "
                             "stopped, or none after an error.")
      .def_property_readonly("logprobs", &PyTextLLMRunner::logprobs,
                             "Of the last generate() with top_logprobs: for each token of the "
                             "answer ((id, logprob), [(id, logprob) of the most probable ones]).")
      .def_property_readonly("metadata", &PyTextLLMRunner::metadata)
      .def("__repr__", [](const PyTextLLMRunner&) { return "<TextLLMRunner>"; });
}

void define_multimodal_runner(py::module_& module) {
  py::class_<PyMultimodalRunner>(module, "MultimodalRunner", py::dynamic_attr())
      .def(py::init<const Path&, const Path&, const std::optional<Path>&>(), py::arg("model_path"),
           py::arg("tokenizer_path") = std::string(), py::arg("data_path") = py::none())
      .def("generate", &PyMultimodalRunner::generate, py::arg("inputs"), py::arg("config"),
           py::arg("token_callback") = py::none(), py::arg("stats_callback") = py::none(),
           "Appends inputs in their order, and an answer, to the context.")
      .def("generate_text", &PyMultimodalRunner::generate_text, py::arg("inputs"),
           py::arg("config"), "As generate(); the text, with the last one of the inputs if echoed.")
      .def("prefill", &PyMultimodalRunner::prefill, py::arg("inputs"))
      .def("load", &PyMultimodalRunner::load)
      .def("stop", &PyMultimodalRunner::stop,
           "Ends generate() after the token that it is at; from any thread.")
      .def("reset", &PyMultimodalRunner::reset, "Forgets the context.")
      .def("get_vocab_size", &PyMultimodalRunner::vocab_size)
      .def("__repr__", [](const PyMultimodalRunner&) { return "<MultimodalRunner>"; });
}

}  // namespace
}  // namespace executorch::extension::llm

namespace executorch::extension::llm {
namespace {

void define_grammar(py::module_& module) {
  module.def(
      "json_schema_to_gbnf",
      [](const std::string& schema) {
        const LogCapture capture;
        auto text = json_schema_to_gbnf(schema);
        capture.check(text.error(), "The schema is not served");
        return std::move(*text);
      },
      py::arg("schema"), "The grammar of a JSON schema's values; RuntimeError says what is wrong.");
  module.def(
      "check_grammar",
      [](const std::string& grammar, const std::string& grammar_type) {
        const LogCapture capture;
        capture.check(parse_grammar(grammar, grammar_type).error(), "The grammar is not served");
      },
      py::arg("grammar"), py::arg("grammar_type"),
      "RuntimeError unless GenerationConfig takes the grammar.");
}

}  // namespace
}  // namespace executorch::extension::llm

PYBIND11_MODULE(_llm_runner, module) {
  using namespace executorch::extension::llm;
  py::module_::import("executorch.extension.pybindings._portable_lib");
  executorch::runtime::runtime_init();
  define_config(module);
  define_sampling(module);
  define_stats(module);
  define_python_inputs(module);
  define_program_data(module);
  define_grammar(module);
  define_text_runner(module);
  define_multimodal_runner(module);
}
