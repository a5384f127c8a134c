// SPDX-License-Identifier: BSD-3-Clause
// Runs a language model from the command line: llama_main --help.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <executorch/backends/xnnpack/runtime/packed_cache.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/sampling_settings.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/extension/runner_util/tracing.h>
#include <executorch/runtime/platform/runtime.h>

namespace llm = executorch::extension::llm;
namespace xnnpack = executorch::backends::xnnpack;
using executorch::extension::FlagTable;
using executorch::extension::Module;
using executorch::extension::Tracing;
using executorch::runtime::Error;
using executorch::runtime::Result;

namespace {

struct Options {
  std::string model_path = "llama2.pte";
  std::string data_paths;
  std::string tokenizer_path;
  std::string prompt = "The answer to the ultimate question is";
  std::string prompt_file;
  // By the rows of kSamplingSettings.
  std::array<std::optional<double>, llm::kNumSamplingSettings> sampling;
  int32_t seq_len = 128;
  int32_t max_new_tokens = -1;
  int32_t cpu_threads = -1;
  int32_t num_bos = 0;
  int32_t num_eos = 0;
  std::string packed_cache_path;
  bool warmup = false;
  bool ignore_eos = false;
  bool verbose = false;
  std::string method_name = "forward";
};

FlagTable flags_of(Options* options) {
  FlagTable table = {
      "llama_main: continues a text with a language model.",
      "llama_main --model_path=llama3_2.pte --tokenizer_path=tokenizer.model --temperature=0 "
      "--prompt=\"What is the meaning of life?\"",
      {{"model_path", &options->model_path, "The program (.pte)."},
       {"data_paths", &options->data_paths, "Its data files (.ptd), separated by commas."},
       {"tokenizer_path", &options->tokenizer_path,
        "tokenizer.json or its folder, tekken.json, a tiktoken or SentencePiece .model file, or a "
        "Llama2.c .bin file. Default: the tokenizer in the program."},
       {"prompt", &options->prompt, "The text that the model continues."},
       {"prompt_file", &options->prompt_file, "A file with the text, instead of --prompt."},
       {"seq_len", &options->seq_len,
        "Tokens of prompt and answer together. Deprecated: use --max_new_tokens."},
       {"max_new_tokens", &options->max_new_tokens,
        "Tokens of the answer at most; then --seq_len does not count. -1: as --seq_len says."},
       {"cpu_threads", &options->cpu_threads,
        "-1: as many as there are performance cores; 0: as the thread pool is; n: n threads."},
       {"num_bos", &options->num_bos, "Begin tokens before the prompt."},
       {"num_eos", &options->num_eos, "End tokens behind the prompt."},
       {"packed_cache_path", &options->packed_cache_path,
        "A file for XNNPACK's packed weights: later runs map it, and load in a fraction of the "
        "time. Made, or completed, when the model is loaded."},
       {"warmup", &options->warmup, "Generates once before, so that the second run is measured."},
       {"ignore_eos", &options->ignore_eos, "Goes on when the model ends its answer."},
       {"verbose", &options->verbose, "Tells what was read from the files."},
       {"method_name", &options->method_name, "The method that is the decoder."}}};
  for (size_t i = 0; i < llm::kNumSamplingSettings; ++i) {
    const llm::SamplingSetting& setting = llm::kSamplingSettings[i];
    table.flags.push_back({setting.name, &options->sampling[i], setting.help});
  }
  return table;
}

bool read_prompt(Options* options) {
  if (options->prompt_file.empty()) {
    return true;
  }
  std::ifstream file(options->prompt_file, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    std::cerr << "--prompt_file: expected a file with text, found none at " << options->prompt_file
              << "\n";
    return false;
  }
  options->prompt = text.str();
  return true;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

Result<llm::GenerationConfig> config_of(const Options& options) {
  llm::GenerationConfig config;
  for (size_t i = 0; i < llm::kNumSamplingSettings; ++i) {
    const llm::SamplingSetting& setting = llm::kSamplingSettings[i];
    const std::optional<double>& value = options.sampling[i];
    if (!value.has_value()) {
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(setting.takes(*value), InvalidArgument,
                             "--%s: expected a %snumber from %.10g to %.10g, got %.10g",
                             setting.name, setting.is_integer ? "whole " : "", setting.low,
                             setting.high, *value);
    setting.set(&config, *value);
  }
  config.max_new_tokens = options.max_new_tokens;
  config.seq_len = options.max_new_tokens == -1 ? options.seq_len : -1;
  config.num_bos = options.num_bos;
  config.num_eos = options.num_eos;
  config.ignore_eos = options.ignore_eos;
  return config;
}

void describe(llm::TextLLMRunner& runner) {
  std::fprintf(stderr, "tokenizer: %d tokens, begin %" PRIu64 ", end %" PRIu64 "\n",
               static_cast<int>(runner.tokenizer()->vocab_size()), runner.tokenizer()->bos_tok(),
               runner.tokenizer()->eos_tok());
  for (const auto& [name, value] : runner.metadata()) {
    std::fprintf(stderr, "%s: %" PRId64 "\n", name.c_str(), value);
  }
}

Error run(const Options& options, Tracing& tracing) {
  const llm::GenerationConfig config = ET_UNWRAP(config_of(options));
  executorch::extension::set_cpu_threads(options.cpu_threads);
  const bool keeps_packed = !options.packed_cache_path.empty();
  if (keeps_packed) {
    ET_CHECK_OK_OR_RETURN_ERROR(xnnpack::use_packed_cache(options.packed_cache_path.c_str()));
  }
  auto tokenizer = options.tokenizer_path.empty()
                       ? llm::load_tokenizer_of_program(options.model_path)
                       : llm::load_tokenizer(options.tokenizer_path);
  auto runner = llm::create_text_llm_runner(options.model_path, std::move(tokenizer),
                                            split(options.data_paths), -1.0f, nullptr,
                                            options.method_name, Module::LoadMode::Mmap);
  ET_CHECK_OR_RETURN_ERROR(runner != nullptr, InvalidArgument,
                           "Cannot run %s: check --model_path and --tokenizer_path",
                           options.model_path.c_str());
  if (options.verbose) {
    describe(*runner);
  }
  if (keeps_packed) {
    ET_CHECK_OK_OR_RETURN_ERROR(runner->load());
    ET_CHECK_OK_OR_RETURN_ERROR(xnnpack::save_packed_cache());
  }
  executorch::runtime::EventTracer* tracer = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(tracing.start(&tracer));
  if (tracer != nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        runner->module()->load_method(options.method_name, nullptr, tracer));
  }
  if (options.warmup) {
    llm::GenerationConfig warming = config;
    warming.warming = true;
    warming.echo = false;
    ET_CHECK_OK_OR_RETURN_ERROR(runner->generate(options.prompt, warming));
    runner->reset();
  }
  ET_CHECK_OK_OR_RETURN_ERROR(runner->generate(options.prompt, config),
                              "Generation failed; the lines above say why");
  return tracing.finish();
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  Options options;
  FlagTable table = flags_of(&options);
  Tracing tracing;
  tracing.add_flags(&table.flags);
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  return read_prompt(&options) && run(options, tracing) == Error::Ok ? 0 : 1;
}
