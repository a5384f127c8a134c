// SPDX-License-Identifier: BSD-3-Clause
// Runs a .pte program on MediaTek's NPUs, one sample of input files after the other:
// mtk_oss_executor_runner --help. mtk_executor_runner is the same with inputs of ones.
#include <string>

#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/extension/runner_util/sample_runner.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::FlagTable;
using executorch::extension::ModelRunnerOptions;
using executorch::extension::read_samples;
using executorch::extension::SampleRunnerOptions;
using executorch::runtime::Error;
using executorch::runtime::Method;

namespace {

struct RunnerOptions {
  std::string model_path = "model.pte", input_list = "input_list.txt", output_folder = "outputs";
  uint32_t iteration = 1;
};

Error run(const RunnerOptions& options) {
  const SampleRunnerOptions samples{options.output_folder, options.iteration};
  ET_CHECK_OK_OR_RETURN_ERROR(prepare_folder(samples));
  ModelRunnerOptions runner;
  runner.model_path = options.model_path;
  runner.source_name = "mtk_oss_executor_runner.cpp";
  runner.instead = [&](Method& method) {
    const auto given = ET_UNWRAP(read_samples(options.input_list));
    return run_samples(method, given, samples).error();
  };
  return run_model(runner);
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  RunnerOptions options;
  const FlagTable table{
      "mtk_oss_executor_runner: runs a .pte program on MediaTek's NPUs, and writes its outputs.",
      "mtk_oss_executor_runner --model_path=model.pte --input_list=input_list.txt "
      "--output_folder=outputs",
      {{"model_path", &options.model_path, "The program."},
       {"input_list", &options.input_list,
        "A file with a line for each sample: its input files, raw bytes, separated by spaces. "
        "Where it is not there, inputs are ones."},
       {"output_folder", &options.output_folder, "Output i of sample k goes to output_k_i.raw."},
       {"iteration", &options.iteration, "How often each sample is run."}}};
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  return run(options) == Error::Ok ? 0 : 1;
}
