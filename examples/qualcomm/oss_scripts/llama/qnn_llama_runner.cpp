// SPDX-License-Identifier: BSD-3-Clause
// Continues a text with a language model on Qualcomm's NPUs: qnn_llama_runner --help.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_set>
#include <vector>

#include <executorch/examples/qualcomm/oss_scripts/llama/static_decoder.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/util.h>
#include <executorch/extension/llm/sampler/sampler.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/runtime/platform/runtime.h>

namespace llm = executorch::extension::llm;
using executorch::aten::Tensor;
using executorch::examples::qualcomm::StaticDecoder;
using executorch::extension::FlagTable;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::Result;

namespace {

constexpr auto kDecode = "kv_forward", kPrefill = "prefill_forward", kForward = "forward";
constexpr auto kNumBos = "get_n_bos";

struct Options {
  std::string decoder_model_version = "llama2", model_path = "kv_llama_qnn.pte";
  std::string tokenizer_path = "tokenizer.bin", prompt = "The answer to the ultimate question is";
  std::string tokenized_prompt, system_prompt, output_path = "outputs.txt";
  std::string performance_output_path = "inference_speed.txt", dump_logits_path;
  double temperature = 0;
  int32_t seq_len = 128, eval_mode = 1, num_iters = 1;
  bool shared_buffer = false;
};

// Token ids, each of 8 bytes, as they lie in memory.
Result<std::vector<uint64_t>> read_tokens(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint64_t> tokens;
  for (uint64_t token = 0; file.read(reinterpret_cast<char*>(&token), sizeof(token));) {
    tokens.push_back(token);
  }
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty() && file.gcount() == 0, InvalidArgument,
                           "--tokenized_prompt: expected a file of 8 bytes a token, found %s",
                           path.c_str());
  return tokens;
}

Error check(const Options& options) {
  ET_CHECK_OR_RETURN_ERROR(options.eval_mode == 0 || options.eval_mode == 1, InvalidArgument,
                           "--eval_mode: expected 0 (kv) or 1 (hybrid), found %d",
                           options.eval_mode);
  ET_CHECK_OR_RETURN_ERROR(options.system_prompt.empty(), NotSupported,
                           "--system_prompt: expected none; put it into --prompt as the model's "
                           "chat template does");
  ET_CHECK_OR_RETURN_ERROR(options.num_iters > 0, InvalidArgument,
                           "--num_iters: expected 1 or more, found %d", options.num_iters);
  return Error::Ok;
}

struct Speed {
  double prompt_s = 0, answer_s = 0;
  size_t num_prompt = 0, num_answer = 0;
};

Error append_logits(const Options& options, const Tensor& logits, size_t count) {
  if (options.dump_logits_path.empty()) {
    return Error::Ok;
  }
  const auto vocabulary = static_cast<size_t>(logits.size(logits.dim() - 1));
  std::ofstream file(options.dump_logits_path, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(logits.const_data_ptr<float>()),
             static_cast<std::streamsize>(count * vocabulary * sizeof(float)));
  ET_CHECK_OR_RETURN_ERROR(file.good(), AccessFailed, "--dump_logits_path: cannot write %s",
                           options.dump_logits_path.c_str());
  return Error::Ok;
}

Result<std::string> generate(const Options& options, StaticDecoder& decoder,
                             tokenizers::Tokenizer& tokenizer, llm::Sampler& sampler,
                             const std::vector<uint64_t>& prompt,
                             const std::unordered_set<uint64_t>& ends, Speed* speed) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  decoder.reset();
  std::string answer;
  std::vector<uint64_t> tokens = prompt;
  uint64_t previous = prompt.back();
  for (bool is_prompt = true;; is_prompt = false) {
    const auto start = Clock::now();
    size_t count = 0;
    const Tensor logits = ET_UNWRAP(decoder.read(tokens, is_prompt, &count));
    (is_prompt ? speed->prompt_s : speed->answer_s) += seconds(start);
    (is_prompt ? speed->num_prompt : speed->num_answer) += tokens.size();
    ET_CHECK_OK_OR_RETURN_ERROR(append_logits(options, logits, count));
    const auto vocabulary = static_cast<int32_t>(logits.size(logits.dim() - 1));
    const float* last =
        logits.const_data_ptr<float>() + (count - 1) * static_cast<size_t>(vocabulary);
    const auto token = static_cast<uint64_t>(sampler.sample(last, vocabulary));
    if (ends.count(token) != 0) {
      return answer;
    }
    answer += ET_UNWRAP_TOKENIZER(tokenizer.decode(previous, token));
    if (decoder.position() + 1 >= static_cast<size_t>(options.seq_len) ||
        decoder.position() >= decoder.num_rows()) {
      return answer;
    }
    tokens = {token};
    previous = token;
  }
}

Error run(const Options& options) {
  ET_CHECK_OK_OR_RETURN_ERROR(check(options));
  Module module(options.model_path, Module::LoadMode::Mmap);
  ET_CHECK_OK_OR_RETURN_ERROR(module.load(), "cannot load %s", options.model_path.c_str());
  const auto methods = ET_UNWRAP(module.method_names());
  const bool is_hybrid = options.eval_mode == 1 && methods.count(kPrefill) != 0;
  const std::string answer = methods.count(kDecode) != 0 ? kDecode : kForward;
  auto tokenizer = llm::load_tokenizer(options.tokenizer_path);
  ET_CHECK_OR_RETURN_ERROR(tokenizer != nullptr, InvalidArgument, "cannot read the tokenizer %s",
                           options.tokenizer_path.c_str());
  const auto ends = llm::get_eos_ids(tokenizer.get(), &module);
  int64_t num_bos = 0;
  if (methods.count(kNumBos) != 0) {
    num_bos = ET_UNWRAP(module.execute(kNumBos))
    .at(0).toInt();
  }
  std::vector<uint64_t> prompt;
  if (options.tokenized_prompt.empty()) {
    prompt =
        ET_UNWRAP_TOKENIZER(tokenizer->encode(options.prompt, static_cast<int8_t>(num_bos), 0));
  } else {
    prompt = ET_UNWRAP(read_tokens(options.tokenized_prompt));
  }
  ET_CHECK_OR_RETURN_ERROR(!prompt.empty(), InvalidArgument, "--prompt: expected a token or more");
  auto decoder = ET_UNWRAP(StaticDecoder::load(&module, is_hybrid ? kPrefill : answer, answer));
  llm::Sampler sampler(tokenizer->vocab_size(), static_cast<float>(options.temperature));
  std::ofstream output(options.output_path, std::ios::binary);
  Speed speed;
  for (int32_t i = 0; i < options.num_iters; ++i) {
    const std::string text =
        ET_UNWRAP(generate(options, *decoder, *tokenizer, sampler, prompt, ends, &speed));
    output << (options.tokenized_prompt.empty() ? options.prompt : "") << text << "\n";
    std::printf("%s%s\n", options.prompt.c_str(), text.c_str());
  }
  const double rate =
      speed.num_answer == 0 ? 0 : static_cast<double>(speed.num_answer) / speed.answer_s;
  std::printf("prompt: %zu tokens, %.2f/s; answer: %zu tokens, %.2f/s\n", speed.num_prompt,
              static_cast<double>(speed.num_prompt) / speed.prompt_s, speed.num_answer, rate);
  std::ofstream(options.performance_output_path) << rate << "\n";
  ET_CHECK_OR_RETURN_ERROR(output.good(), AccessFailed, "--output_path: cannot write %s",
                           options.output_path.c_str());
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  Options options;
  const FlagTable table = {
      "qnn_llama_runner: continues a text with a language model on Qualcomm's NPUs.",
      "qnn_llama_runner --model_path=hybrid_llama_qnn.pte --tokenizer_path=tokenizer.json "
      "--prompt=\"Once upon a time\" --seq_len=128",
      {{"decoder_model_version", &options.decoder_model_version,
        "Of the model; accepted, the program says what counts."},
       {"model_path", &options.model_path, "The program, of kv or hybrid mode."},
       {"tokenizer_path", &options.tokenizer_path,
        "tokenizer.json, a tiktoken or SentencePiece .model file, or a Llama2.c .bin file."},
       {"prompt", &options.prompt, "The text that the model continues."},
       {"tokenized_prompt", &options.tokenized_prompt, "A file with its tokens, of 8 bytes each."},
       {"system_prompt", &options.system_prompt, "Not taken: see the model's chat template."},
       {"output_path", &options.output_path, "Where the text goes."},
       {"performance_output_path", &options.performance_output_path,
        "Where the tokens per second of the answer go."},
       {"dump_logits_path", &options.dump_logits_path,
        "Where the logits of each last call go, float32."},
       {"temperature", &options.temperature, "0: the likeliest token."},
       {"seq_len", &options.seq_len, "Tokens of prompt and answer together."},
       {"eval_mode", &options.eval_mode, "0: kv, token by token; 1: hybrid, prompts in parts."},
       {"shared_buffer", &options.shared_buffer, "Accepted; inputs and outputs are copied."},
       {"num_iters", &options.num_iters, "How often the text is continued."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  return run(options) == Error::Ok ? 0 : 1;
}
