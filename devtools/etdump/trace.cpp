// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/trace.h>

#include <executorch/devtools/etdump/event_table.h>

#include <cstdlib>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::etdump {

using runtime::Error;
using runtime::EventTracerDebugLogLevel;
using runtime::Result;

namespace {

Error open(const std::string& path, std::optional<FileDataSink>* out) {
  if (!path.empty()) {
    Result<FileDataSink> sink = FileDataSink::create(path.c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(sink.error());
    out->emplace(std::move(*sink));
  }
  return Error::Ok;
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::create(const TraceOptions& options) {
  std::unique_ptr<Trace> trace(new Trace(options));
  if (options.etdump_path.empty() && options.debug_buffer_path.empty() &&
      !options.print_event_table) {
    return trace;
  }
  ET_CHECK_OR_RETURN_ERROR(runtime::internal::kIsEventTracerCompiledIn, NotSupported,
                           "This build has no events: configure it with "
                           "-DEXECUTORCH_ENABLE_EVENT_TRACER=ON");
  ET_CHECK_OR_RETURN_ERROR(options.debug_buffer_path.empty() || !options.etdump_path.empty(),
                           InvalidArgument,
                           "--debug_buffer_path needs --etdump_path: the values' names and shapes "
                           "are there");
  ET_CHECK_OR_RETURN_ERROR(
      options.debug_level == "intermediate" || options.debug_level == "program", InvalidArgument,
      "--debug_level: expected intermediate or program, got %s", options.debug_level.c_str());
  ET_CHECK_OK_OR_RETURN_ERROR(open(options.etdump_path, &trace->etdump_));
  ET_CHECK_OK_OR_RETURN_ERROR(open(options.debug_buffer_path, &trace->values_));
  trace->gen_ = std::make_unique<ETDumpGen>();
  if (trace->values_.has_value()) {
    trace->gen_->set_data_sink(&*trace->values_);
    trace->gen_->set_event_tracer_debug_level(options.debug_level == "program"
                                                  ? EventTracerDebugLogLevel::kProgramOutputs
                                                  : EventTracerDebugLogLevel::kIntermediateOutputs);
  }
  return trace;
}

Error Trace::finish(std::ostream& out) {
  if (gen_ == nullptr) {
    return Error::Ok;
  }
  const ETDumpResult result = gen_->get_etdump_data();
  const std::unique_ptr<void, decltype(&std::free)> owner(result.buf, &std::free);
  if (etdump_.has_value() && result.buf != nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(etdump_->write(result.buf, result.size).error());
    etdump_->close();
  }
  if (values_.has_value()) {
    values_->close();
  }
  return options_.print_event_table ? print_event_table(result, out) : Error::Ok;
}

}  // namespace executorch::etdump
