// SPDX-License-Identifier: BSD-3-Clause
// Runs a language model's steps without text and says how long they took. Reads lines
// "[prompt, tokens]" from the standard input; answers each with a line "RESULT {...}": seconds of
// prefilling `prompt` tokens from position 0, of each token of `tokens` more, and of loading;
// resident bytes.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/text_prefiller.h>
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/runtime/platform/runtime.h>

namespace {

namespace llm = executorch::extension::llm;
using executorch::extension::FlagTable;
using executorch::extension::from_blob;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::Result;
constexpr uint32_t kTemporaryBytes = 10 * 1024 * 1024;  // as text runners have
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

struct Model {
  llm::TextDecoderRunner& decoder;
  llm::TextPrefiller& prefiller;
  double load_seconds;
};

// Tokens that every vocabulary has.
std::vector<uint64_t> prompt_of(int64_t count) {
  std::vector<uint64_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<uint64_t>(i * 7919 % 499 + 1));
  }
  return tokens;
}

Error answer(const Model& model, int64_t prompt, int64_t tokens) {
  auto ids = prompt_of(prompt);
  int64_t position = 0;
  auto start = Clock::now();
  uint64_t token = ET_UNWRAP(model.prefiller.prefill(ids, position));
  std::printf("RESULT {\"prefill\": %.6f, \"decode\": [", since(start));
  for (int64_t i = 0; i < tokens; ++i) {
    start = Clock::now();
    auto input = from_blob(&token, {1, 1}, executorch::aten::ScalarType::Long);
    const auto logits = ET_UNWRAP(model.decoder.step(input, position + i));
    token = static_cast<uint64_t>(model.decoder.logits_to_token(logits));
    std::printf("%s%.6f", i == 0 ? "" : ", ", since(start));
  }
  std::printf("], \"load\": %.6f, \"resident\": %lld}\n", model.load_seconds,
              static_cast<long long>(resident_bytes()));
  std::fflush(stdout);
  return Error::Ok;
}

Error run(const std::string& path) {
  const auto start = Clock::now();
  Module module(path, std::vector<std::string>{}, Module::LoadMode::MmapUseMlockIgnoreErrors,
                /*event_tracer=*/nullptr, /*memory_allocator=*/nullptr,
                std::make_unique<executorch::extension::CPUCachingAllocator>(kTemporaryBytes));
  llm::IOManager io(module);
  llm::TextDecoderRunner decoder(&module, &io);
  ET_CHECK_OK_OR_RETURN_ERROR(decoder.load());
  const int64_t most = ET_UNWRAP(module.get(llm::kMaxSeqLen))
  .toInt();
  llm::TextPrefiller prefiller(&decoder, /*use_kv_cache=*/true, /*enable_parallel_prefill=*/true,
                               most);
  const Model model{decoder, prefiller, since(start)};
  for (std::string line; std::getline(std::cin, line);) {
    long long prompt = 0, tokens = 0;
    ET_CHECK_OR_RETURN_ERROR(std::sscanf(line.c_str(), "[%lld, %lld]", &prompt, &tokens) == 2 &&
                                 prompt > 0 && tokens >= 0,
                             InvalidArgument, "Expected a line [prompt, tokens], got: %s",
                             line.c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(answer(model, prompt, tokens));
  }
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  std::string path;
  int32_t threads = -1;
  const FlagTable table = {
      "llm_steps: seconds of a language model's steps, for lines [prompt, tokens] of its input.",
      "echo '[512, 32]' | llm_steps --model_path=llama3_2.pte --cpu_threads=2",
      {{"model_path", &path, "The program (.pte)."},
       {"cpu_threads", &threads, "-1: as many as there are performance cores; n: n threads."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  executorch::extension::set_cpu_threads(threads);
  return run(path) == Error::Ok ? 0 : 1;
}
