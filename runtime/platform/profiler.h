// SPDX-License-Identifier: BSD-3-Clause
// The macros of the former profiler, kept for sources that use them. They do nothing: events go
// through EventTracer (runtime/core/event_tracer.h).
#pragma once

#include <executorch/runtime/platform/compiler.h>

#define EXECUTORCH_PROFILE_CREATE_BLOCK(name) ((void)(name))
#define EXECUTORCH_BEGIN_PROF(name) ((void)(name), 0u)
#define EXECUTORCH_END_PROF(token_id) ((void)(token_id))
#define EXECUTORCH_SCOPE_PROF(name) ((void)(name))
#define EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(chain_idx, instruction_idx) \
  ((void)(chain_idx), (void)(instruction_idx))
#define EXECUTORCH_DUMP_PROFILE_RESULTS(prof_result) ((void)(prof_result))
#define EXECUTORCH_RESET_PROFILE_RESULTS() ((void)0)
#define EXECUTORCH_TRACK_ALLOCATOR(name) ((void)(name), -1)
#define EXECUTORCH_TRACK_ALLOCATION(id, size) ((void)(id), (void)(size))
