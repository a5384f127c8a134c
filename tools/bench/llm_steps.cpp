// SPDX-License-Identifier: BSD-3-Clause
// Runs a language model's steps without text and says how long they took. Reads lines
// "[prompt, tokens]" from the standard input; answers each with a line "RESULT {...}": seconds of
// prefilling `prompt` tokens from position 0, of each token of `tokens` more, and of loading;
// resident bytes. With --sessions=n as many threads do it at the same time, on a program of several
// sessions: seconds are those of the first, and "rate" is the tokens per second of all. With
// --read_megabytes=n that much other memory is read by as many threads after each token: "read" has
// the seconds.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <executorch/backends/xnnpack/runtime/packed_cache.h>
#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/shared_decoder.h>
#include <executorch/extension/llm/runner/text_prefiller.h>
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/runtime/platform/runtime.h>
#include <executorch/tools/bench/memory_read.h>

namespace {

namespace llm = executorch::extension::llm;
namespace xnnpack = executorch::backends::xnnpack;
using executorch::extension::FlagTable;
using executorch::extension::from_blob;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::Result;
constexpr uint32_t kTemporaryBytes = 10 * 1024 * 1024;  // as text runners have
constexpr int64_t kSharedPromptTokens = 128;            // likewise
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

// One text of a program, and how long its steps took.
struct Text {
  std::unique_ptr<llm::TextDecoderRunner> decoder;
  std::unique_ptr<llm::TextPrefiller> prefiller;
  double prefill = 0;
  std::vector<double> decode;
  std::optional<executorch::bench::Words> beside;  // read after each token
  std::vector<double> read;
};

// Opens when as many threads have come as it was made for.
class Gate {
 public:
  explicit Gate(size_t count) : missing_(count) {}
  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) {
      opened_at = Clock::now();
      opened_.notify_all();
    }
    opened_.wait(lock, [this] { return missing_ == 0; });
  }

  Clock::time_point opened_at;

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  size_t missing_;
};

// Tokens that every vocabulary has.
std::vector<uint64_t> prompt_of(int64_t count) {
  std::vector<uint64_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<uint64_t>(i * 7919 % 499 + 1));
  }
  return tokens;
}

Error answer(Text& text, int64_t prompt, int64_t tokens, Gate& gate) {
  auto ids = prompt_of(prompt);
  int64_t position = 0;
  auto start = Clock::now();
  auto first = text.prefiller->prefill(ids, position);
  text.prefill = since(start);
  gate.pass();
  uint64_t token = ET_UNWRAP(std::move(first));
  text.decode.clear();
  text.read.clear();
  uint64_t check = 0;
  for (int64_t i = 0; i < tokens; ++i) {
    start = Clock::now();
    auto input = from_blob(&token, {1, 1}, executorch::aten::ScalarType::Long);
    const auto logits = ET_UNWRAP(text.decoder->step(input, position + i));
    token = static_cast<uint64_t>(text.decoder->logits_to_token(logits));
    text.decode.push_back(since(start));
    if (text.beside.has_value()) {
      text.read.push_back(executorch::bench::seconds_of_read(
          *text.beside, executorch::extension::threadpool::get_threadpool()->get_thread_count(),
          &check));
    }
  }
  return Error::Ok;
}

void print_list(const std::vector<double>& seconds) {
  for (size_t i = 0; i < seconds.size(); ++i) {
    std::printf("%s%.6f", i == 0 ? "[" : ", ", seconds[i]);
  }
  std::printf("%s]", seconds.empty() ? "[" : "");
}

Error answer(std::vector<Text>& texts, int64_t prompt, int64_t tokens, double load) {
  Gate gate(texts.size());
  std::vector<Error> errors(texts.size(), Error::Ok);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] { errors[i] = answer(texts[i], prompt, tokens, gate); });
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    threads[i].join();
    ET_CHECK_OK_OR_RETURN_ERROR(errors[i]);
  }
  const double rate =
      static_cast<double>(tokens) * static_cast<double>(texts.size()) / since(gate.opened_at);
  std::printf("RESULT {\"prefill\": %.6f, \"decode\": ", texts[0].prefill);
  print_list(texts[0].decode);
  std::printf(", \"read\": ");
  print_list(texts[0].read);
  std::printf(", \"rate\": %.1f, \"load\": %.6f, \"resident\": %lld}\n", rate, load,
              static_cast<long long>(resident_bytes()));
  std::fflush(stdout);
  return Error::Ok;
}

std::unique_ptr<Module> open(const std::string& path) {
  return std::make_unique<Module>(
      path, std::vector<std::string>{}, Module::LoadMode::Mmap,
      /*event_tracer=*/nullptr, /*memory_allocator=*/nullptr,
      std::make_unique<executorch::extension::CPUCachingAllocator>(kTemporaryBytes));
}

Error run(const std::string& path, const std::string& packed, int32_t sessions, int32_t read) {
  const auto start = Clock::now();
  if (!packed.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(xnnpack::use_packed_cache(packed.c_str()));
  }
  auto module = open(path);
  Module& opened = *module;
  const int64_t most = ET_UNWRAP(opened.get(llm::kMaxSeqLen))
  .toInt();
  llm::IOManager io(opened);
  std::vector<Text> texts(static_cast<size_t>(std::max(sessions, 1)));
  if (sessions == 0) {
    texts[0].decoder = std::make_unique<llm::TextDecoderRunner>(&opened, &io);
  } else {
    const int64_t context = ET_UNWRAP(opened.get(llm::kMaxContextLen))
    .toInt();
    const auto shared = std::make_shared<llm::SharedDecoder>(std::move(module), "forward", sessions,
                                                             context, most - 1);
    for (Text& text : texts) {
      text.decoder = std::make_unique<llm::SessionDecoderRunner>(shared, shared->take(), &io);
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(texts[0].decoder->load());
  const int64_t piece =
      llm::tokens_per_call(&opened, "forward", {{llm::kMaxSeqLen, most}, {llm::kUseKVCache, 1}});
  for (Text& text : texts) {
    text.prefiller = std::make_unique<llm::TextPrefiller>(
        text.decoder.get(), /*use_kv_cache=*/true, /*enable_parallel_prefill=*/true,
        sessions == 0 ? piece : std::min<int64_t>(most - 1, kSharedPromptTokens));
  }
  const double load = since(start);
  if (read > 0) {
    texts[0].beside.emplace(static_cast<size_t>(read) * 1000000 / sizeof(uint64_t));
    ET_CHECK_OR_RETURN_ERROR(texts[0].beside->data != nullptr, MemoryAllocationFailed,
                             "No memory of %d MB to read", read);
  }
  if (!packed.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(xnnpack::save_packed_cache());
  }
  for (std::string line; std::getline(std::cin, line);) {
    long long prompt = 0, tokens = 0;
    ET_CHECK_OR_RETURN_ERROR(std::sscanf(line.c_str(), "[%lld, %lld]", &prompt, &tokens) == 2 &&
                                 prompt > 0 && tokens >= 0,
                             InvalidArgument, "Expected a line [prompt, tokens], got: %s",
                             line.c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(answer(texts, prompt, tokens, load));
  }
  return Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  std::string path, packed;
  int32_t threads = -1, sessions = 0, read = 0;
  const FlagTable table = {
      "llm_steps: seconds of a language model's steps, for lines [prompt, tokens] of its input.",
      "echo '[512, 32]' | llm_steps --model_path=llama3_2.pte --cpu_threads=2",
      {{"model_path", &path, "The program (.pte)."},
       {"packed_cache_path", &packed, "A file for XNNPACK's packed weights, made if need be."},
       {"cpu_threads", &threads, "-1: as many as there are performance cores; n: n threads."},
       {"sessions", &sessions, "0: one text of an ordinary program; n: texts at the same time."},
       {"read_megabytes", &read, "Other memory to read after each token, 0: none."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  executorch::extension::set_cpu_threads(threads);
  return run(path, packed, sessions, read) == Error::Ok ? 0 : 1;
}
