// SPDX-License-Identifier: BSD-3-Clause
// Runs a .pte program on Qualcomm's NPUs, one sample of input files after the other:
// qnn_executor_runner --help.
#include <fstream>
#include <string>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/extension/runner_util/sample_runner.h>
#include <executorch/extension/runner_util/tracing.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::FileDataLoader;
using executorch::extension::Flag;
using executorch::extension::FlagTable;
using executorch::extension::ModelRunnerOptions;
using executorch::extension::read_samples;
using executorch::extension::SampleRunnerOptions;
using executorch::extension::Tracing;
using executorch::runtime::BackendOptions;
using executorch::runtime::Error;
using executorch::runtime::Method;
using executorch::runtime::Program;
using executorch::runtime::Result;

namespace {

struct RunnerOptions {
  std::string model_path = "model.pte", input_list_path = "input_list.txt",
              output_folder_path = "outputs";
  std::string performance_output_path = "inference_speed.txt";
  uint32_t method_index = 0, iteration = 1, warm_up = 0;
  int32_t log_level = -1, htp_performance_mode = -1, profile_level = -1;
};

/// A program has its methods in an order.
Result<std::string> method_name(const RunnerOptions& options) {
  auto loader = ET_UNWRAP(FileDataLoader::from(options.model_path.c_str()), "cannot read %s",
                          options.model_path.c_str());
  const Program program = ET_UNWRAP(Program::load(&loader));
  ET_CHECK_OR_RETURN_ERROR(
      options.method_index < program.num_methods(), InvalidArgument,
      "--method_index: expected less than %zu, the number of methods, found %u",
      program.num_methods(), options.method_index);
  return std::string(ET_UNWRAP(program.get_method_name(options.method_index)));
}

/// For all delegates that are loaded from now on.
Error set_backend_options(const RunnerOptions& options) {
  BackendOptions<3> given;
  if (options.log_level >= 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(given.set_option("qnn_runtime_log_level", options.log_level));
  }
  if (options.htp_performance_mode >= 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        given.set_option("qnn_runtime_htp_performance_mode", options.htp_performance_mode));
  }
  if (options.profile_level >= 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        given.set_option("qnn_runtime_profile_level", options.profile_level));
  }
  return executorch::runtime::set_option("QnnBackend", given.view());
}

Error run(const RunnerOptions& options, executorch::runtime::EventTracer* tracer) {
  const SampleRunnerOptions samples{options.output_folder_path, options.iteration, options.warm_up};
  ET_CHECK_OK_OR_RETURN_ERROR(prepare_folder(samples));
  ET_CHECK_OK_OR_RETURN_ERROR(set_backend_options(options));
  ModelRunnerOptions runner;
  runner.model_path = options.model_path;
  runner.method_name = ET_UNWRAP(method_name(options));
  runner.event_tracer = tracer;
  runner.source_name = "qnn_executor_runner.cpp";
  runner.instead = [&](Method& method) {
    const auto given = ET_UNWRAP(read_samples(options.input_list_path));
    const double each = ET_UNWRAP(run_samples(method, given, samples));
    std::ofstream(options.performance_output_path) << each << "\n";
    return Error::Ok;
  };
  return run_model(runner);
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  RunnerOptions options;
  Tracing tracing;
  FlagTable table{
      "qnn_executor_runner: runs a method of a .pte program on Qualcomm's NPUs, and writes its "
      "outputs.",
      "qnn_executor_runner --model_path=model.pte --input_list_path=input_list.txt "
      "--output_folder_path=outputs",
      {{"model_path", &options.model_path, "The program."},
       {"input_list_path", &options.input_list_path,
        "A file with a line for each sample: its input files, raw bytes, separated by spaces. "
        "Where it is not there, inputs "
        "are ones."},
       {"output_folder_path", &options.output_folder_path,
        "Output i of sample k goes to output_k_i.raw in it."},
       {"method_index", &options.method_index, "Which of the program's methods."},
       {"iteration", &options.iteration, "How often each sample is run."},
       {"warm_up", &options.warm_up, "Runs before these, which are not measured."},
       {"performance_output_path", &options.performance_output_path,
        "Where the milliseconds of a run go."},
       {"log_level", &options.log_level, "Of QNN: 0 (off) to 5; -1: as the program says."},
       {"htp_performance_mode", &options.htp_performance_mode,
        "0 (default) to 8, as QnnExecuTorchHtpPerformanceMode; -1: as the program says."},
       {"profile_level", &options.profile_level,
        "0 off, 1 runs, 2 operators, in the ETDump; -1: as the program says."}}};
  tracing.add_flags(&table.flags);
  for (const Flag& flag :
       table.flags) {  // as documented, it is always written where the build has events
    if (std::string(flag.name) == "etdump_path") {
      *std::get<std::string*>(flag.value) = "etdump.etdp";
    }
  }
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  executorch::runtime::EventTracer* tracer = nullptr;
  if (tracing.start(&tracer) != Error::Ok) {
    return 1;
  }
  const Error error = run(options, tracer);
  return tracing.finish() == Error::Ok && error == Error::Ok ? 0 : 1;
}
