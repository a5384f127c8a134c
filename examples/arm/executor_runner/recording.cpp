// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/examples/arm/executor_runner/recording.h>

#include <cinttypes>
#include <new>
#include <utility>

#include <executorch/devtools/etdump/data_sinks/buffer_data_sink.h>
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/examples/arm/executor_runner/runner.h>
#include <executorch/runtime/platform/log.h>

using namespace executorch::runtime;
using executorch::etdump::BufferDataSink;
using executorch::etdump::ETDumpGen;

namespace {

constexpr size_t kEventBytes = size_t{1} << 20;
constexpr size_t kValueBytes = DUMPS_OUTPUTS || DUMPS_INTERMEDIATES ? DEBUG_BUFFER_BYTES : 1;
alignas(16) [[gnu::section(".bss.input_data_sec")]] uint8_t events[kEventBytes];
alignas(64) [[gnu::section(".bss.input_data_sec")]] uint8_t values[kValueBytes];
alignas(ETDumpGen) uint8_t tracer_memory[sizeof(ETDumpGen)];
BufferDataSink sink;
ETDumpGen* tracer = nullptr;

}  // namespace

EventTracer* start_recording() {
  tracer = new (tracer_memory) ETDumpGen({events, kEventBytes});
  if constexpr (DUMPS_OUTPUTS || DUMPS_INTERMEDIATES) {
    sink = std::move(BufferDataSink::create({values, kValueBytes}).get());
    tracer->set_data_sink(&sink);
    tracer->set_event_tracer_debug_level(DUMPS_INTERMEDIATES
                                             ? EventTracerDebugLogLevel::kIntermediateOutputs
                                             : EventTracerDebugLogLevel::kProgramOutputs);
  }
  return tracer;
}

Error finish_recording() {
  if (tracer->get_num_lost_events() > 0) {
    ET_LOG(Error, "%" PRIu32 " events are lost: a larger ET_DEBUG_BUFFER_SIZE keeps more values",
           static_cast<uint32_t>(tracer->get_num_lost_events()));
  }
  const auto dump = tracer->get_etdump_data();
  ET_CHECK_OK_OR_RETURN_ERROR(
      write_file("etdump.bin", {static_cast<const uint8_t*>(dump.buf), dump.size}));
  return sink.get_used_bytes() == 0
             ? Error::Ok
             : write_file("debug_buffer.bin", {values, sink.get_used_bytes()});
}
