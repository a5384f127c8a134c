// SPDX-License-Identifier: BSD-3-Clause
// What executor_runner and its relatives do: load a program, fill its inputs, run it, show and
// write its outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/method.h>

namespace executorch::extension {

struct ModelRunnerOptions {
  std::string model_path = "model.pte";
  // The program, aligned to 16, where it is in memory and not in the file model_path; not owned.
  runtime::Span<const uint8_t> program;
  std::string data_path;  // .ptd, or empty
  // Files and numbers: see GivenInputs::read(). Without any, inputs are filled with ones.
  std::vector<std::string> inputs;
  // Output tensor i goes to <output_file>-<i>.bin; empty: nowhere.
  std::string output_file;
  enum class Print { None, Summary, All } print = Print::Summary;
  uint32_t num_executions = 1;
  std::string method_name;  // empty: the program's first
  // A file for what loading and each execution took, and what the outputs are, as JSON (see
  // run_report.h); empty: none.
  std::string report_path;
  // Runs once for each line of the standard input, reading the input files again.
  bool server_mode = false;
  // -1: as many as there are performance cores; 0: as the pool is; 1: without the pool.
  int32_t cpu_threads = -1;
  // Sees the loading and all executions; may be null. Not owned.
  runtime::EventTracer* event_tracer = nullptr;
  // Gives a method its inputs before each execution, in place of `inputs`; may be empty.
  std::function<runtime::Error(runtime::Method&)> prepare;
  // Sees the method once its outputs are shown and written; its error ends the run. May be empty.
  std::function<runtime::Error(runtime::Method&)> when_executed;
  // What to do with the method, which is loaded and has memory for its outputs, instead of running
  // it on inputs and showing its outputs; may be empty.
  std::function<runtime::Error(runtime::Method&)> instead;
  // Called once the method is loaded; its error ends the run. May be empty.
  std::function<runtime::Error()> when_loaded;
  // The source file that the runner's own lines of output name. Lives as long as the program.
  const char* source_name = "executor_runner.cpp";
};

// Checks what can be checked before anything runs: paths can be written, files have the sizes of
// the inputs. Everything that goes wrong is logged with what was expected, what was found and what
// to do next.
ET_NODISCARD runtime::Error run_model(const ModelRunnerOptions& options);

}  // namespace executorch::extension
