// SPDX-License-Identifier: BSD-3-Clause
// Runs a .pte program from the command line: executor_runner --help.
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include <executorch/backends/xnnpack/runtime/packed_cache.h>
#include <executorch/extension/runner_util/flags.h>
#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/extension/runner_util/run_report.h>
#include <executorch/extension/runner_util/self_test.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/extension/runner_util/tracing.h>
#include <executorch/runtime/core/version.h>
#include <executorch/runtime/platform/runtime.h>

namespace xnnpack = executorch::backends::xnnpack;

using executorch::extension::describe_runner;
using executorch::extension::Flag;
using executorch::extension::FlagTable;
using executorch::extension::is_bundled_program_file;
using executorch::extension::ModelRunnerOptions;
using executorch::extension::run_bundled_case;
using executorch::extension::run_self_test;
using executorch::extension::set_cpu_threads;
using executorch::extension::Tracing;
using executorch::runtime::Error;

namespace {

bool parse_print(const std::string& text, ModelRunnerOptions::Print* out) {
  using Print = ModelRunnerOptions::Print;
  *out = text == "none" ? Print::None : text == "all" ? Print::All : Print::Summary;
  return text == "none" || text == "all" || text == "summary";
}

Error run(const ModelRunnerOptions& options, bool wants_self_test, double rtol, double atol) {
  if (wants_self_test) {
    return run_self_test(options, std::cout);
  }
  return is_bundled_program_file(options.model_path)
             ? run_bundled_case(options, rtol, atol, std::cout)
             : run_model(options);
}

}  // namespace

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  ModelRunnerOptions options;
  std::string inputs;
  std::string print_output = "summary";
  std::string packed_cache_path;
  bool wants_self_test = false;
  bool wants_version = false;
  bool wants_description = false;
  bool only_loads = false;
  double rtol = 0.01;
  double atol = 0.01;
  Tracing tracing;
  FlagTable table{
      "executor_runner: runs a method of a .pte program and shows its outputs.",
      "executor_runner --model_path=model.pte --inputs=image.npy,3,true --output_file=/tmp/out",
      {{"model_path", &options.model_path,
        "The program (.pte), or a bundled program (.bpte), whose first case is run and verified."},
       {"data_path", &options.data_path, "Its data file (.ptd), if it has one."},
       {"inputs", &inputs,
        "The inputs, separated by commas: for a tensor a .npy file or a file with its raw bytes, "
        "for "
        "other inputs their value (3, 0.5, true). Files alone, one per tensor, leave the other "
        "inputs at 1. Without it all inputs are filled with ones."},
       {"output_file", &options.output_file,
        "Base name: output tensor i is written to <base>-<i>.bin, as raw bytes."},
       {"print_output", &print_output,
        "none, summary (the first and last 100 items) or all (every item on a line)."},
       {"num_executions", &options.num_executions,
        "How often to run the method; with --self_test, how often each case is run again for its "
        "time."},
       {"method_name", &options.method_name, "The method; the program's first if empty."},
       {"server_mode", &options.server_mode,
        "Runs once for each line on the standard input, reading the input files again."},
       {"cpu_threads", &options.cpu_threads,
        "-1: as many as there are performance cores; 0: as the thread pool is; 1: without the "
        "pool; "
        "n: n threads."},
       {"packed_cache_path", &packed_cache_path,
        "A file for XNNPACK's packed weights: later runs map it, and load in a fraction of the "
        "time. Made, or completed, when the method is loaded."},
       {"self_test", &wants_self_test,
        "Runs the test cases that the program carries and says which pass; --method_name: those of "
        "one method."},
       {"report_path", &options.report_path,
        "File for what loading and each execution took, and dtypes and sizes of the outputs, as "
        "JSON."},
       {"load_only", &only_loads, "Loads the method and does not run it."},
       {"bundleio_rtol", &rtol, "Of a bundled program's outputs: may differ by this relative"},
       {"bundleio_atol", &atol, "and this absolute difference, added up."},
       {"version", &wants_version, "Prints the version and does nothing else."},
       {"describe", &wants_description,
        "Prints what it is as JSON and does nothing else: version, architecture, build, threads, "
        "operators, backends."}}};
  tracing.add_flags(&table.flags);
  if (const std::optional<int> code = read_flags(table, argc, argv)) {
    return *code;
  }
  if (wants_version) {
    std::cout << "executor_runner " ET_VERSION "\n";
    return 0;
  }
  if (wants_description) {
    set_cpu_threads(options.cpu_threads);
    describe_runner(tracing.is_built(), std::cout);
    return 0;
  }
  if (only_loads) {
    options.instead = [](executorch::runtime::Method&) { return Error::Ok; };
  }
  if (!parse_print(print_output, &options.print)) {
    std::cerr << "--print_output: expected none, summary or all, got " << print_output << "\n";
    return 1;
  }
  std::stringstream list(inputs);
  for (std::string file; std::getline(list, file, ',');) {
    options.inputs.push_back(file);
  }
  if (!packed_cache_path.empty()) {
    if (xnnpack::use_packed_cache(packed_cache_path.c_str()) != Error::Ok) {
      return 1;
    }
    options.when_loaded = xnnpack::save_packed_cache;
  }
  if (tracing.start(&options.event_tracer) != Error::Ok) {
    return 1;
  }
  const Error error = run(options, wants_self_test, rtol, atol);
  return tracing.finish() == Error::Ok && error == Error::Ok ? 0 : 1;
}
