// SPDX-License-Identifier: BSD-3-Clause
// The profiler before event tracers: static tables of times and allocations, filled by macros that
// do nothing unless PROFILING_ENABLED is defined. New code uses EventTracer
// (runtime/core/event_tracer.h). Not for several threads at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/compiler.h>

#define ET_PROF_VER 0x00000001

#ifndef MAX_PROFILE_EVENTS
#define MAX_PROFILE_EVENTS 1024
#endif
#ifndef MAX_MEM_PROFILE_EVENTS
#define MAX_MEM_PROFILE_EVENTS 1024
#endif
#ifndef MEM_PROFILE_MAX_ALLOCATORS
#define MEM_PROFILE_MAX_ALLOCATORS 32
#endif
#ifndef MAX_PROFILE_BLOCKS
#define MAX_PROFILE_BLOCKS 2
#endif
#ifndef PROF_NAME_MAX_LEN
#define PROF_NAME_MAX_LEN 32
#endif

namespace executorch {
namespace runtime {

/// Where the program is: recorded with each event.
typedef struct {
  int32_t chain_idx;
  uint32_t instruction_idx;
} prof_state_t;

/// Something that took time, in the platform's ticks. Until the first dump the name is a pointer,
/// afterwards a copy without NUL when it is too long.
typedef struct alignas(8) {
  union {
    const char* name_str;
    char name[PROF_NAME_MAX_LEN];
  };
  int32_t chain_idx;
  uint32_t instruction_idx;
  uint64_t start_time;
  uint64_t end_time;
} prof_event_t;

typedef struct alignas(8) {
  uint32_t allocator_id;
  uint32_t allocation_size;
} mem_prof_event_t;

typedef struct alignas(8) {
  char name[PROF_NAME_MAX_LEN];
  uint64_t allocator_id;
} prof_allocator_t;

/// The blocks one after another; valid until the next call of the profiler.
typedef struct alignas(8) {
  uint8_t* prof_data;
  uint32_t num_bytes;
  uint32_t num_blocks;
} prof_result_t;

/// The first bytes of a block, before its events, allocators and allocations.
typedef struct alignas(8) {
  char name[PROF_NAME_MAX_LEN];
  uint32_t prof_ver;
  uint32_t max_prof_entries;
  uint32_t prof_entries;
  uint32_t max_allocator_entries;
  uint32_t allocator_entries;
  uint32_t max_mem_prof_entries;
  uint32_t mem_prof_entries;
} prof_header_t;

constexpr size_t prof_header_offset = 0;
constexpr size_t prof_events_offset = sizeof(prof_header_t);
constexpr size_t prof_mem_alloc_info_offset =
    prof_events_offset + sizeof(prof_event_t) * MAX_PROFILE_EVENTS;
constexpr size_t prof_mem_alloc_events_offset =
    prof_mem_alloc_info_offset + sizeof(prof_allocator_t) * MEM_PROFILE_MAX_ALLOCATORS;
constexpr size_t prof_buf_size =
    prof_mem_alloc_events_offset + sizeof(mem_prof_event_t) * MAX_MEM_PROFILE_EVENTS;

/// Begins with the block "default". Full tables end the program, here and below.
void profiler_init(void);
/// Later events belong to a new block, or to the current one, renamed, when that is empty.
void profiling_create_block(const char* name);

/// Begins an event and returns what ends it. `name` must live until the first dump.
uint32_t begin_profiling(const char* name);
void end_profiling(uint32_t token_id);

/// Returns the number for track_allocation(), which ignores the number -1.
uint32_t track_allocator(const char* name);
void track_allocation(int32_t id, uint32_t size);

void dump_profile_stats(prof_result_t* prof_result);
void reset_profile_stats(void);

/// Of the program, as the core has no threads; {-1, 0} at first.
const prof_state_t& get_profile_tls_state();
void set_profile_tls_state(const prof_state_t& state);

/// Times its scope.
class ExecutorchProfiler {
 public:
  explicit ExecutorchProfiler(const char* name) : prof_tok_(begin_profiling(name)) {}
  ~ExecutorchProfiler() { end_profiling(prof_tok_); }
  ExecutorchProfiler(const ExecutorchProfiler&) = delete;
  ExecutorchProfiler& operator=(const ExecutorchProfiler&) = delete;

 private:
  uint32_t prof_tok_;
};

/// Sets the state for its scope.
class ExecutorchProfilerInstructionScope {
 public:
  explicit ExecutorchProfilerInstructionScope(const prof_state_t& state)
      : old_state_(get_profile_tls_state()) {
    set_profile_tls_state(state);
  }
  ~ExecutorchProfilerInstructionScope() { set_profile_tls_state(old_state_); }
  ExecutorchProfilerInstructionScope(const ExecutorchProfilerInstructionScope&) = delete;
  ExecutorchProfilerInstructionScope& operator=(const ExecutorchProfilerInstructionScope&) = delete;

 private:
  prof_state_t old_state_;
};

}  // namespace runtime
}  // namespace executorch

#ifdef PROFILING_ENABLED
#define EXECUTORCH_PROFILE_CREATE_BLOCK(name) ::executorch::runtime::profiling_create_block(name)
#define EXECUTORCH_BEGIN_PROF(name) ::executorch::runtime::begin_profiling(name)
#define EXECUTORCH_END_PROF(token_id) ::executorch::runtime::end_profiling(token_id)
#define EXECUTORCH_SCOPE_PROF(name) ::executorch::runtime::ExecutorchProfiler et_profiler_(name)
#define EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(chain_idx, instruction_idx)              \
  ::executorch::runtime::ExecutorchProfilerInstructionScope et_profiler_instruction_( \
      {static_cast<int32_t>(chain_idx), static_cast<uint32_t>(instruction_idx)})
#define EXECUTORCH_DUMP_PROFILE_RESULTS(prof_result) \
  ::executorch::runtime::dump_profile_stats(prof_result)
#define EXECUTORCH_RESET_PROFILE_RESULTS() ::executorch::runtime::reset_profile_stats()
#define EXECUTORCH_TRACK_ALLOCATOR(name) ::executorch::runtime::track_allocator(name)
#define EXECUTORCH_TRACK_ALLOCATION(id, size) ::executorch::runtime::track_allocation(id, size)
#else
#define EXECUTORCH_PROFILE_CREATE_BLOCK(name) ((void)(name))
#define EXECUTORCH_BEGIN_PROF(name) ((void)(name), 0u)
#define EXECUTORCH_END_PROF(token_id) ((void)(token_id))
#define EXECUTORCH_SCOPE_PROF(name) ((void)(name))
#define EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(chain_idx, instruction_idx) \
  ((void)(chain_idx), (void)(instruction_idx))
#define EXECUTORCH_DUMP_PROFILE_RESULTS(prof_result) \
  (*(prof_result) = ::executorch::runtime::prof_result_t{})
#define EXECUTORCH_RESET_PROFILE_RESULTS() ((void)0)
#define EXECUTORCH_TRACK_ALLOCATOR(name) ((void)(name), -1)
#define EXECUTORCH_TRACK_ALLOCATION(id, size) ((void)(id), (void)(size))
#endif

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::begin_profiling;
using ::executorch::runtime::dump_profile_stats;
using ::executorch::runtime::end_profiling;
using ::executorch::runtime::ExecutorchProfiler;
using ::executorch::runtime::ExecutorchProfilerInstructionScope;
using ::executorch::runtime::get_profile_tls_state;
using ::executorch::runtime::mem_prof_event_t;
using ::executorch::runtime::prof_allocator_t;
using ::executorch::runtime::prof_event_t;
using ::executorch::runtime::prof_header_t;
using ::executorch::runtime::prof_result_t;
using ::executorch::runtime::prof_state_t;
using ::executorch::runtime::profiler_init;
using ::executorch::runtime::profiling_create_block;
using ::executorch::runtime::reset_profile_stats;
using ::executorch::runtime::set_profile_tls_state;
using ::executorch::runtime::track_allocation;
using ::executorch::runtime::track_allocator;
}  // namespace torch::executor
