// SPDX-License-Identifier: BSD-3-Clause
// Runs a .pte program on Samsung's NPUs: enn_executor_runner --help.
#include <cstdio>
#include <sstream>
#include <string>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/extension/runner_util/sample_runner.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::FlagTable;
using executorch::extension::ModelRunnerOptions;
using executorch::extension::Sample;
using executorch::extension::SampleRunnerOptions;
using executorch::runtime::Error;
using executorch::runtime::Method;

namespace {

struct RunnerOptions {
  std::string model = "model.pte", input, output_path = ".";
  uint32_t num_executions = 1, warm_up = 0;
  bool dump_statistics = false;
};

Error run(const RunnerOptions& options) {
  const SampleRunnerOptions samples{options.output_path, options.num_executions, options.warm_up,
                                    /*names_samples=*/false};
  ET_CHECK_OK_OR_RETURN_ERROR(prepare_folder(samples));
  Sample files;
  std::istringstream words(options.input);
  for (std::string word; words >> word;) {
    files.push_back(word);
  }
  ModelRunnerOptions runner;
  runner.model_path = options.model;
  runner.source_name = "enn_executor_runner.cpp";
  runner.instead = [&](Method& method) {
    const double each = ET_UNWRAP(run_samples(method, {files}, samples));
    if (options.dump_statistics) {
      std::printf("executions: %u, warm-up: %u, average: %.3f ms\n", options.num_executions,
                  options.warm_up, each);
    }
    return Error::Ok;
  };
  return run_model(runner);
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  RunnerOptions options;
  const FlagTable table{
      "enn_executor_runner: runs a .pte program on Samsung's NPUs, and writes its outputs.",
      "enn_executor_runner --model=model.pte --input=\"a.bin b.bin\" --output_path=outputs",
      {{"model", &options.model, "The program."},
       {"input", &options.input, "Files of inputs, raw bytes, separated by spaces; none: ones."},
       {"num_executions", &options.num_executions, "How often it is run."},
       {"warm_up", &options.warm_up, "Runs before these, which are not measured."},
       {"dump_statistics", &options.dump_statistics, "Prints how long runs take."},
       {"output_path", &options.output_path, "Output i goes to output_i.bin in it."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  return run(options) == Error::Ok ? 0 : 1;
}
