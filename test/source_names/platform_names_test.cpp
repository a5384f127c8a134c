// SPDX-License-Identifier: BSD-3-Clause
// Names in torch::executor of the platform, of views and values, header by header: this file
// compiles when each is there.
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/clock.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/profiler.h>
#include <executorch/runtime/platform/runtime.h>

namespace {

namespace platform_abort {
using ::torch::executor::runtime_abort;
}  // namespace platform_abort

namespace platform_clock {
using ::torch::executor::ticks_to_ns;
}  // namespace platform_clock

namespace platform_log {
using ::torch::executor::LogLevel;
}  // namespace platform_log

namespace platform_runtime {
using ::torch::executor::runtime_init;
}  // namespace platform_runtime

namespace platform_profiler {
using ::torch::executor::begin_profiling;
using ::torch::executor::dump_profile_stats;
using ::torch::executor::end_profiling;
using ::torch::executor::ExecutorchProfiler;
using ::torch::executor::ExecutorchProfilerInstructionScope;
using ::torch::executor::get_profile_tls_state;
using ::torch::executor::mem_prof_event_t;
using ::torch::executor::prof_allocator_t;
using ::torch::executor::prof_event_t;
using ::torch::executor::prof_header_t;
using ::torch::executor::prof_result_t;
using ::torch::executor::prof_state_t;
using ::torch::executor::profiler_init;
using ::torch::executor::profiling_create_block;
using ::torch::executor::reset_profile_stats;
using ::torch::executor::set_profile_tls_state;
using ::torch::executor::track_allocation;
using ::torch::executor::track_allocator;
}  // namespace platform_profiler

namespace core_array_ref {
using ::torch::executor::ArrayRef;
using ::torch::executor::IntArrayRef;
using ::torch::executor::makeArrayRef;
}  // namespace core_array_ref

namespace core_span {
using ::torch::executor::Span;
}  // namespace core_span

namespace core_result {
using ::torch::executor::Result;
}  // namespace core_result

namespace core_tag {
using ::torch::executor::Tag;
}  // namespace core_tag

namespace core_error {
using ::torch::executor::Error;
using ::torch::executor::error_code_t;
}  // namespace core_error

namespace core_data_loader {
using ::torch::executor::DataLoader;
}  // namespace core_data_loader

namespace core_freeable_buffer {
using ::torch::executor::FreeableBuffer;
}  // namespace core_freeable_buffer

namespace core_hierarchical_allocator {
using ::torch::executor::HierarchicalAllocator;
}  // namespace core_hierarchical_allocator

namespace core_memory_allocator {
using ::torch::executor::MemoryAllocator;
}  // namespace core_memory_allocator

namespace core_tensor_shape_dynamism {
using ::torch::executor::TensorShapeDynamism;
}  // namespace core_tensor_shape_dynamism

namespace core_evalue {
using ::torch::executor::BoxedEvalueList;
using ::torch::executor::EValue;
}  // namespace core_evalue

namespace core_device_allocator {
using ::torch::executor::DeviceAllocator;
using ::torch::executor::DeviceAllocatorRegistry;
using ::torch::executor::get_device_allocator;
using ::torch::executor::register_device_allocator;
}  // namespace core_device_allocator

namespace core_event_tracer {
using ::torch::executor::AllocatorID;
using ::torch::executor::ChainID;
using ::torch::executor::DebugHandle;
using ::torch::executor::DelegateDebugIdType;
using ::torch::executor::EventTracer;
using ::torch::executor::EventTracerDebugLogLevel;
using ::torch::executor::EventTracerEntry;
using ::torch::executor::kUnsetChainId;
using ::torch::executor::kUnsetDebugHandle;
using ::torch::executor::kUnsetDelegateDebugIntId;
using ::torch::executor::LoggedEValueType;
}  // namespace core_event_tracer

namespace core_event_tracer_hooks_delegate {
using ::torch::executor::event_tracer_end_profiling_delegate;
using ::torch::executor::event_tracer_log_output_delegate;
using ::torch::executor::event_tracer_log_profiling_delegate;
using ::torch::executor::event_tracer_start_profiling_delegate;
}  // namespace core_event_tracer_hooks_delegate

namespace core_event_tracer_hooks {
using ::torch::executor::internal::event_tracer_begin_profiling_event;
using ::torch::executor::internal::event_tracer_create_event_block;
using ::torch::executor::internal::event_tracer_end_profiling_event;
using ::torch::executor::internal::event_tracer_log_evalue;
using ::torch::executor::internal::event_tracer_log_evalue_output;
using ::torch::executor::internal::event_tracer_set_bundled_input_index;
using ::torch::executor::internal::event_tracer_track_allocation;
using ::torch::executor::internal::event_tracer_track_allocator;
using ::torch::executor::internal::EventTracerProfileInstructionScope;
using ::torch::executor::internal::EventTracerProfileMethodScope;
using ::torch::executor::internal::EventTracerProfileOpScope;
using ::torch::executor::internal::EventTracerProfileScope;
}  // namespace core_event_tracer_hooks

}  // namespace
