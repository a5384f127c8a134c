// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/model_runner.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/runner_util/given_inputs.h>
#include <executorch/extension/runner_util/run_report.h>
#include <executorch/extension/runner_util/threads.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch::extension {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;

namespace {

constexpr long kSummaryItems = 100;

// A line of the runner's own output: shown in every build, in the form of log messages of the
// program.
ET_PRINTFLIKE(3, 4)
void print_status(const ModelRunnerOptions& options, int line, const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  runtime::pal_emit_log_message(runtime::pal_current_ticks(), et_pal_log_level_t::kInfo,
                                options.source_name, "run_model", static_cast<size_t>(line),
                                message, std::strlen(message));
}

int64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  const auto passed = std::chrono::steady_clock::now() - start;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
}

std::string output_path(const std::string& base, size_t index) {
  return base + "-" + std::to_string(index) + ".bin";
}

Error check_writable(const std::string& base, size_t num_outputs) {
  const size_t slash = base.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : base.substr(0, slash);
  struct stat status;
  ET_CHECK_OR_RETURN_ERROR(
      ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode), AccessFailed,
      "Cannot write %s-0.bin: there is no folder %s. Create it or choose another --output_file",
      base.c_str(), folder.c_str());
  for (size_t i = 0; i < num_outputs; ++i) {
    const std::string path = output_path(base, i);
    const bool exists = ::access(path.c_str(), F_OK) == 0;
    ET_CHECK_OR_RETURN_ERROR(::access(exists ? path.c_str() : folder.c_str(), W_OK) == 0,
                             AccessFailed, "Cannot write %s: %s. Choose another --output_file",
                             path.c_str(), std::strerror(errno));
  }
  return Error::Ok;
}

Error write_file(const std::string& path, const Tensor& tensor) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(static_cast<const char*>(tensor.const_data_ptr()),
             static_cast<std::streamsize>(tensor.nbytes()));
  file.close();
  ET_CHECK_OR_RETURN_ERROR(!file.fail(), AccessFailed, "Cannot write %zu bytes to %s",
                           tensor.nbytes(), path.c_str());
  return Error::Ok;
}

void print_element(size_t output, size_t index, ScalarType type, const void* data) {
  switch (type) {
    case ScalarType::Float:
      std::printf("Output[%zu][%zu]: (float) %f\n", output, index,
                  static_cast<double>(static_cast<const float*>(data)[index]));
      break;
    case ScalarType::Int:
      std::printf("Output[%zu][%zu]: (int) %d\n", output, index,
                  static_cast<const int32_t*>(data)[index]);
      break;
    case ScalarType::Char:
      std::printf("Output[%zu][%zu]: (char) %d\n", output, index,
                  static_cast<const int8_t*>(data)[index]);
      break;
    case ScalarType::Bool:
      std::printf("Output[%zu][%zu]: (bool) %s\n", output, index,
                  static_cast<const bool*>(data)[index] ? "true" : "false");
      break;
    default:
      break;
  }
}

void print_all(const EValue& value, size_t output) {
  if (!value.isTensor()) {
    std::printf("Output[%zu]: Not Tensor\n", output);
    return;
  }
  const Tensor& tensor = value.toTensor();
  for (size_t i = 0; i < static_cast<size_t>(tensor.numel()); ++i) {
    print_element(output, i, tensor.scalar_type(), tensor.const_data_ptr());
  }
}

std::unique_ptr<Module> module_of(const ModelRunnerOptions& options) {
  constexpr auto kMode = Module::LoadMode::Mmap;
  if (options.program.empty()) {
    return std::make_unique<Module>(options.model_path, options.data_path, kMode);
  }
  auto loader = std::make_unique<BufferDataLoader>(options.program.data(), options.program.size());
  return std::make_unique<Module>(std::move(loader));
}

class ModelRunner {
 public:
  explicit ModelRunner(const ModelRunnerOptions& options)
      : options_(options), module_(module_of(options)) {}

  Error load();
  Error run_instead();
  // Reads the input files and runs the method as often as asked.
  Error run();
  Error show_and_write();

 private:
  Error find_method();
  Error give_output_memory();
  Error give_inputs();
  Error execute_all();

  const ModelRunnerOptions& options_;
  std::unique_ptr<Module> module_;
  std::string method_name_;
  Method* method_ = nullptr;
  GivenInputs inputs_;
  std::optional<BufferCleanup> input_memory_;
  std::vector<std::unique_ptr<uint8_t[]>> output_memory_;
  RunReport report_;
};

Error ModelRunner::find_method() {
  ET_CHECK_OK_OR_RETURN_ERROR(
      module_->load(), "Cannot load %s. Export it again, or check --model_path and --data_path",
      options_.model_path.c_str());
  method_name_ = options_.method_name;
  if (!method_name_.empty()) {
    const auto names = ET_UNWRAP(module_->method_names());
    ET_CHECK_OR_RETURN_ERROR(
        names.count(method_name_) > 0, InvalidArgument,
        "%s has no method %s. Its first is %s: leave --method_name out to run it",
        options_.model_path.c_str(), method_name_.c_str(),
        ET_UNWRAP(module_->program()->get_method_name(0)));
    return Error::Ok;
  }
  method_name_ = ET_UNWRAP(module_->program()->get_method_name(0));
  return Error::Ok;
}

Error ModelRunner::load() {
  report_.bytes_before = process_bytes("VmRSS");
  const auto start = std::chrono::steady_clock::now();
  ET_CHECK_OK_OR_RETURN_ERROR(find_method());
  ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(method_name_, nullptr, options_.event_tracer),
                              "Cannot load method %s of %s", method_name_.c_str(),
                              options_.model_path.c_str());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // inputs are prepared for a Method
  method_ = ET_UNWRAP(module_->method(method_name_));
#pragma GCC diagnostic pop
  report_.load_ns = nanoseconds_since(start);
  if (!options_.output_file.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_writable(options_.output_file, method_->outputs_size()));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(give_output_memory());
  return options_.when_loaded ? options_.when_loaded() : Error::Ok;
}

// Outputs that the memory plan leaves to the caller.
Error ModelRunner::give_output_memory() {
  const MethodMeta meta = method_->method_meta();
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    if (ET_UNWRAP(meta.output_tag(i)) != Tag::Tensor) {
      continue;
    }
    const TensorInfo info = ET_UNWRAP(meta.output_tensor_meta(i));
    if (info.is_memory_planned()) {
      continue;
    }
    output_memory_.emplace_back(new (std::nothrow) uint8_t[info.nbytes()]);
    ET_CHECK_OR_RETURN_ERROR(output_memory_.back() != nullptr, MemoryAllocationFailed,
                             "No memory for the %zu bytes of output %zu", info.nbytes(), i);
    ET_CHECK_OK_OR_RETURN_ERROR(
        method_->set_output_data_ptr(output_memory_.back().get(), info.nbytes(), i));
  }
  return Error::Ok;
}

Error ModelRunner::give_inputs() {
  if (options_.prepare) {
    return options_.prepare(*method_);
  }
  input_memory_.reset();
  auto memory = prepare_inputs(*method_, inputs_.values());
  ET_CHECK_OK_OR_RETURN_ERROR(memory.error());
  input_memory_.emplace(std::move(*memory));
  return Error::Ok;
}

// Inputs are set again each time, as the memory plan may use their place for other values.
Error ModelRunner::execute_all() {
  int64_t total_ns = 0;
  for (uint32_t i = 0; i < options_.num_executions; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(give_inputs(), "Cannot set the inputs of method %s",
                                method_name_.c_str());
    const auto start = std::chrono::steady_clock::now();
    const Error error = method_->execute();
    report_.run_ns.push_back(nanoseconds_since(start));
    total_ns += report_.run_ns.back();
    ET_CHECK_OK_OR_RETURN_ERROR(error, "Method %s failed", method_name_.c_str());
    if (report_.run_ns.size() == 1) {
      report_.resident_bytes = process_bytes("VmRSS");
      report_.peak_bytes = process_bytes("VmHWM");
    }
  }
  print_status(options_, __LINE__, "Model executed successfully %" PRIu32 " time(s) in %f ms.",
               options_.num_executions, static_cast<double>(total_ns) / 1e6);
  return Error::Ok;
}

Error ModelRunner::run() {
  if (!options_.prepare) {
    ET_CHECK_OK_OR_RETURN_ERROR(inputs_.read(method_->method_meta(), options_.inputs));
  }
  return execute_all();
}

Error ModelRunner::run_instead() {
  return options_.instead(*method_);
}

Error ModelRunner::show_and_write() {
  using Print = ModelRunnerOptions::Print;
  const size_t count = method_->outputs_size();
  if (options_.print != Print::None) {
    print_status(options_, __LINE__, "%zu outputs: ", count);
  }
  std::cout << evalue_edge_items(kSummaryItems);
  for (size_t i = 0; i < count; ++i) {
    const EValue& output = method_->get_output(i);
    if (options_.print == Print::Summary) {
      std::cout << "OutputX " << i << ": " << output << std::endl;
    } else if (options_.print == Print::All) {
      print_all(output, i);
    }
    if (!options_.output_file.empty() && output.isTensor()) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          write_file(output_path(options_.output_file, i), output.toTensor()));
    }
  }
  std::fflush(stdout);
  if (!options_.report_path.empty()) {
    ET_CHECK_OK_OR_RETURN_ERROR(write_run_report(report_, *method_, options_.report_path));
  }
  return options_.when_executed ? options_.when_executed(*method_) : Error::Ok;
}

Error check_options(const ModelRunnerOptions& options) {
  ET_CHECK_OR_RETURN_ERROR(options.num_executions > 0, InvalidArgument,
                           "Expected --num_executions of 1 or more, got 0");
  ET_CHECK_OR_RETURN_ERROR(options.cpu_threads >= -1, InvalidArgument,
                           "Expected --cpu_threads of -1 or more, got %d",
                           static_cast<int>(options.cpu_threads));
  ET_CHECK_OR_RETURN_ERROR(!options.server_mode || !options.output_file.empty(), InvalidArgument,
                           "--server_mode needs --output_file: there the outputs go");
  return Error::Ok;
}

}  // namespace

Error run_model(const ModelRunnerOptions& options) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_options(options));
  set_cpu_threads(options.cpu_threads);
  ModelRunner runner(options);
  ET_CHECK_OK_OR_RETURN_ERROR(runner.load());
  if (options.instead) {
    return runner.run_instead();
  }
  if (!options.server_mode) {
    ET_CHECK_OK_OR_RETURN_ERROR(runner.run());
    return runner.show_and_write();
  }
  for (std::string line; std::getline(std::cin, line);) {
    ET_CHECK_OK_OR_RETURN_ERROR(runner.run());
    ET_CHECK_OK_OR_RETURN_ERROR(runner.show_and_write());
    print_status(options, __LINE__, "SERVER MODE DONE");
  }
  return Error::Ok;
}

}  // namespace executorch::extension
