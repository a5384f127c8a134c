// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/stats.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include <executorch/extension/llm/runner/print_status.h>

namespace executorch::extension::llm {

namespace {

double now_ms() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since_start).count();
}

double seconds(const Stats& stats, long from, long to) {
  return static_cast<double>(to - from) /
         static_cast<double>(stats.SCALING_FACTOR_UNITS_PER_SECOND);
}

// Tokens per second; 0 without time.
double rate(int64_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
}

// {"key":value,"key":value}
class JsonLine {
 public:
  template <typename T>
  void add(const char* key, T value) {
    text_ << (is_empty_ ? "{" : ",") << '"' << key << "\":" << value;
    is_empty_ = false;
  }
  void add_known(const char* key, uint64_t bytes) {
    if (bytes != UINT64_MAX) {
      add(key, bytes);
    }
  }
  std::string take() { return text_.str() + "}"; }

 private:
  std::ostringstream text_;
  bool is_empty_ = true;
};

void say_megabytes(const char* what, uint64_t bytes) {
  if (bytes != UINT64_MAX) {
    print_status("\t%s: %.2f MB", what, static_cast<double>(bytes) / (1 << 20));
  }
}

}  // namespace

void Stats::on_sampling_begin() {
  sampling_begin_ms_ = now_ms();
}

void Stats::on_sampling_end() {
  sampling_ms_ += now_ms() - sampling_begin_ms_;
  aggregate_sampling_time_ms = static_cast<long>(sampling_ms_);
}

void Stats::reset(bool all_stats) {
  if (all_stats) {
    model_load_start_ms = model_load_end_ms = 0;
  }
  inference_start_ms = prompt_eval_end_ms = first_token_ms = inference_end_ms = 0;
  aggregate_sampling_time_ms = 0;
  num_prompt_tokens = num_generated_tokens = 0;
  gpu_total_bytes = gpu_free_before_load_bytes = UINT64_MAX;
  gpu_free_after_load_bytes = gpu_free_after_generate_bytes = UINT64_MAX;
  gpu_peak_usage_mb = -1.0;
  sampling_begin_ms_ = sampling_ms_ = 0;
}

std::string stats_to_json_string(const Stats& stats) {
  JsonLine line;
  const double prefill = seconds(stats, stats.inference_start_ms, stats.prompt_eval_end_ms);
  const double decode = seconds(stats, stats.prompt_eval_end_ms, stats.inference_end_ms);
  if (prefill > 0) {
    line.add("prefill_token_per_sec", rate(stats.num_prompt_tokens, prefill));
  }
  if (decode > 0) {
    line.add("decode_token_per_sec", rate(stats.num_generated_tokens, decode));
  }
  line.add("prompt_tokens", stats.num_prompt_tokens);
  line.add("generated_tokens", stats.num_generated_tokens);
  line.add("model_load_start_ms", stats.model_load_start_ms);
  line.add("model_load_end_ms", stats.model_load_end_ms);
  line.add("inference_start_ms", stats.inference_start_ms);
  line.add("inference_end_ms", stats.inference_end_ms);
  line.add("prompt_eval_end_ms", stats.prompt_eval_end_ms);
  line.add("first_token_ms", stats.first_token_ms);
  line.add("aggregate_sampling_time_ms", stats.aggregate_sampling_time_ms);
  if (stats.gpu_total_bytes != UINT64_MAX) {
    line.add("gpu_total_bytes", stats.gpu_total_bytes);
    line.add_known("gpu_free_before_load_bytes", stats.gpu_free_before_load_bytes);
    line.add_known("gpu_free_after_load_bytes", stats.gpu_free_after_load_bytes);
    line.add_known("gpu_free_after_generate_bytes", stats.gpu_free_after_generate_bytes);
    if (stats.gpu_peak_usage_mb >= 0) {
      line.add("gpu_peak_usage_mb", stats.gpu_peak_usage_mb);
    }
  }
  line.add("SCALING_FACTOR_UNITS_PER_SECOND", stats.SCALING_FACTOR_UNITS_PER_SECOND);
  return line.take();
}

void print_report(const Stats& stats) {
  std::printf("PyTorchObserver %s\n", stats_to_json_string(stats).c_str());
  std::fflush(stdout);
  const double load = seconds(stats, stats.model_load_start_ms, stats.model_load_end_ms);
  const double total = seconds(stats, stats.inference_start_ms, stats.inference_end_ms);
  const double prefill = seconds(stats, stats.inference_start_ms, stats.prompt_eval_end_ms);
  const double decode = seconds(stats, stats.prompt_eval_end_ms, stats.inference_end_ms);
  const auto prompt_tokens = static_cast<uint64_t>(stats.num_prompt_tokens);
  const auto new_tokens = static_cast<uint64_t>(stats.num_generated_tokens);
  print_status("\tPrompt Tokens: %" PRIu64 "    Generated Tokens: %" PRIu64, prompt_tokens,
               new_tokens);
  print_status("\tModel Load Time:\t\t%f (seconds)", load);
  print_status("\tTotal inference time:\t\t%f (seconds)\t\t Rate: \t%f (tokens/second)", total,
               rate(stats.num_generated_tokens, total));
  print_status("\t\tPrompt evaluation:\t%f (seconds)\t\t Rate: \t%f (tokens/second)", prefill,
               rate(stats.num_prompt_tokens, prefill));
  print_status("\t\tGenerated %" PRIu64 " tokens:\t%f (seconds)\t\t Rate: \t%f (tokens/second)",
               new_tokens, decode, rate(stats.num_generated_tokens, decode));
  print_status("\tTime to first generated token:\t%f (seconds)",
               seconds(stats, stats.inference_start_ms, stats.first_token_ms));
  print_status("\tSampling time over %" PRIu64 " tokens:\t%f (seconds)", prompt_tokens + new_tokens,
               seconds(stats, 0, stats.aggregate_sampling_time_ms));
  if (stats.gpu_total_bytes != UINT64_MAX) {
    say_megabytes("GPU total memory", stats.gpu_total_bytes);
    say_megabytes("GPU free before load", stats.gpu_free_before_load_bytes);
    say_megabytes("GPU free after load", stats.gpu_free_after_load_bytes);
    say_megabytes("GPU free after generate", stats.gpu_free_after_generate_bytes);
    if (stats.gpu_peak_usage_mb >= 0) {
      print_status("\tGPU peak usage: %.2f MB", stats.gpu_peak_usage_mb);
    }
  }
}

}  // namespace executorch::extension::llm
