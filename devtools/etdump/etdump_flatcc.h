// SPDX-License-Identifier: BSD-3-Clause
// ETDumpGen: an EventTracer that keeps events in the form of an ETDump, which the Inspector reads.
//
//   ETDumpGen etdump_gen;
//   Result<Method> method = program->load_method("forward", &memory_manager, &etdump_gen);
//   ...
//   ETDumpResult result = etdump_gen.get_etdump_data();
//   if (result.buf != nullptr && result.size > 0) { write it; free(result.buf); }
//
// Without ET_EVENT_TRACER_ENABLED the runtime reports nothing, and the result is {nullptr, 0}.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/devtools/etdump/data_sinks/buffer_data_sink.h>
#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/span.h>

#define ETDUMP_VERSION 0

namespace executorch::etdump {

class DumpBuilder;

struct ETDumpResult {
  void* buf;  // heap memory that the caller frees; inside the buffer of a static ETDumpGen
  size_t size;
};

/// Events of the methods that were loaded with it; for one thread at a time. What finds no room is
/// lost, counted and logged; the program runs on.
///
/// What aborts: events before the first block, allocators behind the first event of a block, a
/// delegate's event with both or neither of name and number, and end_profiling() of one.
class ETDumpGen : public runtime::EventTracer {
 public:
  /// With a buffer all is kept in it and nothing comes from the heap; it must outlive the ETDumpGen
  /// and be larger than 128 KiB and a builder (about 4 KiB), else it aborts.
  ETDumpGen(runtime::Span<uint8_t> buffer = {nullptr, static_cast<size_t>(0)});
  ~ETDumpGen() override;
  ETDumpGen(const ETDumpGen&) = delete;
  ETDumpGen& operator=(const ETDumpGen&) = delete;

  /// Drops all events.
  void clear_builder();

  void create_event_block(const char* name) override;

  runtime::EventTracerEntry start_profiling(
      const char* name, runtime::ChainID chain_id = runtime::kUnsetChainId,
      runtime::DebugHandle debug_handle = runtime::kUnsetDebugHandle) override;
  void end_profiling(runtime::EventTracerEntry prof_entry) override;

  runtime::EventTracerEntry start_profiling_delegate(
      const char* name, runtime::DelegateDebugIntId delegate_debug_index) override;
  void end_profiling_delegate(runtime::EventTracerEntry prof_entry, const void* metadata = nullptr,
                              size_t metadata_len = 0) override;
  void log_profiling_delegate(const char* name, runtime::DelegateDebugIntId delegate_debug_index,
                              et_timestamp_t start_time, et_timestamp_t end_time,
                              const void* metadata = nullptr, size_t metadata_len = 0) override;

  runtime::AllocatorID track_allocator(const char* name) override;
  void track_allocation(runtime::AllocatorID id, size_t size) override;

  /// The functions that log values return false for what a filter drops. InvalidArgument without a
  /// data sink, and for kinds of values and elements that an ETDump does not hold; InvalidState for
  /// a tensor without its data; OutOfResources when there is no room.
  runtime::Result<bool> log_evalue(const runtime::EValue& evalue,
                                   runtime::LoggedEValueType evalue_type =
                                       runtime::LoggedEValueType::kIntermediateOutput) override;
  runtime::Result<bool> log_intermediate_output_delegate(
      const char* name, runtime::DelegateDebugIntId delegate_debug_index,
      const executorch::aten::Tensor& output) override;
  runtime::Result<bool> log_intermediate_output_delegate(
      const char* name, runtime::DelegateDebugIntId delegate_debug_index,
      const runtime::ArrayRef<executorch::aten::Tensor> output) override;
  runtime::Result<bool> log_intermediate_output_delegate(
      const char* name, runtime::DelegateDebugIntId delegate_debug_index,
      const int& output) override;
  runtime::Result<bool> log_intermediate_output_delegate(
      const char* name, runtime::DelegateDebugIntId delegate_debug_index,
      const bool& output) override;
  runtime::Result<bool> log_intermediate_output_delegate(
      const char* name, runtime::DelegateDebugIntId delegate_debug_index,
      const double& output) override;

  /// Not owned; null: all are kept.
  void set_delegation_intermediate_output_filter(
      runtime::EventTracerFilterBase* event_tracer_filter) override;

  /// Tensors go into `buffer`, which must outlive their logging.
  runtime::Result<bool> set_debug_buffer(runtime::Span<uint8_t> buffer);
  /// Not owned.
  void set_data_sink(DataSinkBase* data_sink);
  DataSinkBase* get_data_sink() { return data_sink_; }

  /// All blocks so far, or {nullptr, 0} when there is none. Ends the dump: the next block begins a
  /// new one, which has no data sink.
  ETDumpResult get_etdump_data();

  /// Blocks of this dump.
  size_t get_num_blocks();
  /// Events of this dump that found no room.
  size_t get_num_lost_events() const;

  bool is_static_etdump();

  /// Drops all events and the data sink.
  void reset();

 private:
  enum class State {
    Init,
    BlockCreated,
    AddingAllocators,
    AddingEvents,
    Done,
  };

  struct Logged;

  void check_and_start_event();
  void end_block();
  runtime::EventTracerEntry make_delegate_entry(const char* name,
                                                runtime::DelegateDebugIntId delegate_debug_index);
  void add_delegate_event(const runtime::EventTracerEntry& entry, et_timestamp_t end_time,
                          const void* metadata, size_t metadata_len);
  runtime::Result<bool> log_value(const Logged& logged);
  runtime::Error add_value(const Logged& logged);
  runtime::Result<bool> log_delegate_value(const char* name, runtime::DelegateDebugIntId index,
                                           Logged logged);

  DumpBuilder* builder_ = nullptr;  // inside the buffer, or on the heap
  runtime::Span<uint8_t> buffer_;
  State state_ = State::Init;
  size_t num_blocks_ = 0;
  BufferDataSink buffer_sink_;  // of set_debug_buffer()
  DataSinkBase* data_sink_ = nullptr;
  runtime::EventTracerFilterBase* filter_ = nullptr;
};

}  // namespace executorch::etdump

namespace torch::executor {
using ETDumpGen = ::executorch::etdump::ETDumpGen;
using etdump_result = ::executorch::etdump::ETDumpResult;
}  // namespace torch::executor
