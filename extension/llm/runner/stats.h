// SPDX-License-Identifier: BSD-3-Clause
// Stats: times and counts of one generation.
#pragma once

#include <cstdint>
#include <string>

namespace executorch::extension::llm {

// Times are milliseconds of the wall clock. Threads: one at a time.
struct Stats {
  const long SCALING_FACTOR_UNITS_PER_SECOND = 1000;
  long model_load_start_ms = 0;
  long model_load_end_ms = 0;
  long inference_start_ms = 0;
  long token_encode_end_ms = 0;  // not set by the runners, as the two of the execution
  long model_execution_start_ms = 0;
  long model_execution_end_ms = 0;
  long prompt_eval_end_ms = 0;
  long first_token_ms = 0;
  long inference_end_ms = 0;
  long aggregate_sampling_time_ms = 0;
  int64_t num_prompt_tokens = 0;
  int64_t num_generated_tokens = 0;  // after the first

  // Not available unless a runner on a GPU sets them.
  uint64_t gpu_total_bytes = UINT64_MAX;
  uint64_t gpu_free_before_load_bytes = UINT64_MAX;
  uint64_t gpu_free_after_load_bytes = UINT64_MAX;
  uint64_t gpu_free_after_generate_bytes = UINT64_MAX;
  double gpu_peak_usage_mb = -1.0;

  // The time from one to the other is added to aggregate_sampling_time_ms.
  void on_sampling_begin();
  void on_sampling_end();

  // Clears all but the times of loading, and of the encoding and execution; all_stats: loading,
  // too.
  void reset(bool all_stats = false);

 private:
  double sampling_begin_ms_ = 0;
  double sampling_ms_ = 0;  // parts of milliseconds would be lost in the sum
};

// One line, keys in the documented order; rates in tokens per second stand there only where their
// time is positive.
std::string stats_to_json_string(const Stats& stats);

// "PyTorchObserver " and the line above to the standard output; rates and times to the log.
void print_report(const Stats& stats);

}  // namespace executorch::extension::llm

// The historic spelling.
namespace executorch::llm {
using ::executorch::extension::llm::print_report;
using ::executorch::extension::llm::Stats;
}  // namespace executorch::llm
