// SPDX-License-Identifier: BSD-3-Clause
// Runs a .pte program on Qualcomm's NPUs, one sample of input files after the other:
// qnn_executor_runner --help.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/given_inputs.h>
#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/extension/runner_util/tracing.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::BufferCleanup;
using executorch::extension::FileDataLoader;
using executorch::extension::Flag;
using executorch::extension::FlagTable;
using executorch::extension::GivenInputs;
using executorch::extension::ModelRunnerOptions;
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

/// One sample a line; without a list one sample of ones.
Result<std::vector<std::vector<std::string>>> read_samples(const RunnerOptions& options) {
  std::ifstream list(options.input_list_path);
  if (!list) {
    ET_LOG(Info, "%s is not there: inputs are ones", options.input_list_path.c_str());
    return std::vector<std::vector<std::string>>(1);
  }
  std::vector<std::vector<std::string>> samples;
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::vector<std::string> files;
    for (std::string word; words >> word;) {
      files.push_back(
          word.substr(word.rfind(":=") == std::string::npos ? 0 : word.rfind(":=") + 2));
    }
    if (!files.empty()) {
      samples.push_back(files);
    }
  }
  ET_CHECK_OR_RETURN_ERROR(!samples.empty(), InvalidArgument,
                           "%s: expected a line of files for each sample, found none",
                           options.input_list_path.c_str());
  return samples;
}

/// Output i of sample k is output_k_i.raw.
Error write_outputs(Method& method, const RunnerOptions& options, size_t sample) {
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    if (!method.get_output(i).isTensor()) {
      continue;
    }
    const auto tensor = method.get_output(i).toTensor();
    const std::string path = options.output_folder_path + "/output_" + std::to_string(sample) +
                             "_" + std::to_string(i) + ".raw";
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(tensor.const_data_ptr()),
               static_cast<std::streamsize>(tensor.nbytes()));
    ET_CHECK_OR_RETURN_ERROR(static_cast<bool>(file), AccessFailed, "cannot write %s",
                             path.c_str());
  }
  return Error::Ok;
}

/// Runs once, with its inputs, and adds its milliseconds.
Error run_once(Method& method, const GivenInputs& inputs, double& out_ms) {
  const BufferCleanup memory =
      ET_UNWRAP(executorch::extension::prepare_inputs(method, inputs.values()));
  const auto start = std::chrono::steady_clock::now();
  ET_CHECK_OK_OR_RETURN_ERROR(method.execute());
  out_ms +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return Error::Ok;
}

Error run_samples(Method& method, const RunnerOptions& options) {
  ET_LOG(Info, "Method loaded.");
  const auto samples = ET_UNWRAP(read_samples(options));
  double total = 0, unused = 0;
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    GivenInputs inputs;
    ET_CHECK_OK_OR_RETURN_ERROR(inputs.read(method.method_meta(), samples[sample]));
    for (uint32_t i = 0; i < (sample == 0 ? options.warm_up : 0); ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(run_once(method, inputs, unused));
    }
    for (uint32_t i = 0; i < options.iteration; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(run_once(method, inputs, total));
    }
    ET_CHECK_OK_OR_RETURN_ERROR(write_outputs(method, options, sample));
  }
  const double runs = static_cast<double>(samples.size() * options.iteration);
  std::printf("Model executed successfully: %zu sample(s), %.3f ms each\n", samples.size(),
              total / runs);
  std::ofstream(options.performance_output_path) << total / runs << "\n";
  return Error::Ok;
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
  ET_CHECK_OR_RETURN_ERROR(options.iteration > 0, InvalidArgument,
                           "--iteration: expected 1 or more, found 0");
  std::error_code error;
  std::filesystem::create_directories(options.output_folder_path, error);
  ET_CHECK_OR_RETURN_ERROR(!error, AccessFailed, "cannot make the folder %s",
                           options.output_folder_path.c_str());
  ET_CHECK_OK_OR_RETURN_ERROR(set_backend_options(options));
  ModelRunnerOptions runner;
  runner.model_path = options.model_path;
  runner.method_name = ET_UNWRAP(method_name(options));
  runner.event_tracer = tracer;
  runner.source_name = "qnn_executor_runner.cpp";
  runner.instead = [&](Method& method) { return run_samples(method, options); };
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
