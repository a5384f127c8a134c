// SPDX-License-Identifier: BSD-3-Clause
// The tables of the former profiler. Linked only into programs that use them.
#include <executorch/runtime/platform/profiler.h>

#include <cinttypes>
#include <cstring>

#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch {
namespace runtime {

namespace {

struct Block {
  prof_header_t header;
  prof_event_t events[MAX_PROFILE_EVENTS];
  prof_allocator_t allocators[MEM_PROFILE_MAX_ALLOCATORS];
  mem_prof_event_t allocations[MAX_MEM_PROFILE_EVENTS];
};
static_assert(sizeof(Block) == prof_buf_size, "readers of the dump compute these offsets");
static_assert(offsetof(Block, allocations) == prof_mem_alloc_events_offset, "as above");

Block blocks[MAX_PROFILE_BLOCKS];
// Events whose names are copies already, of each block.
uint32_t copied_names[MAX_PROFILE_BLOCKS];
uint32_t num_blocks = 0;

prof_state_t state = {-1, 0u};

void copy_name(char (&to)[PROF_NAME_MAX_LEN], const char* from) {
  std::memset(to, 0, sizeof(to));
  for (size_t i = 0; i < sizeof(to) && from[i] != '\0'; ++i) {
    to[i] = from[i];
  }
}

bool is_empty(const prof_header_t& header) {
  return header.prof_entries == 0 && header.allocator_entries == 0 && header.mem_prof_entries == 0;
}

Block& current_block() {
  if (num_blocks == 0) {
    profiler_init();
  }
  return blocks[num_blocks - 1];
}

}  // namespace

void profiler_init() {
  profiling_create_block("default");
}

void profiling_create_block(const char* name) {
  if (num_blocks == 0 || !is_empty(blocks[num_blocks - 1].header)) {
    ET_CHECK_MSG(num_blocks < MAX_PROFILE_BLOCKS, "more than MAX_PROFILE_BLOCKS (%d) blocks",
                 MAX_PROFILE_BLOCKS);
    copied_names[num_blocks] = 0;
    ++num_blocks;
  }
  prof_header_t& header = blocks[num_blocks - 1].header;
  header = prof_header_t{};
  copy_name(header.name, name);
  header.prof_ver = ET_PROF_VER;
  header.max_prof_entries = MAX_PROFILE_EVENTS;
  header.max_allocator_entries = MEM_PROFILE_MAX_ALLOCATORS;
  header.max_mem_prof_entries = MAX_MEM_PROFILE_EVENTS;
}

uint32_t begin_profiling(const char* name) {
  Block& block = current_block();
  ET_CHECK_MSG(block.header.prof_entries < MAX_PROFILE_EVENTS,
               "more than MAX_PROFILE_EVENTS (%d) events", MAX_PROFILE_EVENTS);
  const uint32_t token = block.header.prof_entries++;
  prof_event_t& event = block.events[token];
  event.name_str = name;
  event.chain_idx = state.chain_idx;
  event.instruction_idx = state.instruction_idx;
  event.end_time = 0;
  event.start_time = pal_current_ticks();
  return token;
}

void end_profiling(uint32_t token_id) {
  Block& block = current_block();
  ET_CHECK_MSG(token_id < block.header.prof_entries, "no event %" PRIu32, token_id);
  block.events[token_id].end_time = pal_current_ticks();
}

uint32_t track_allocator(const char* name) {
  Block& block = current_block();
  ET_CHECK_MSG(block.header.allocator_entries < MEM_PROFILE_MAX_ALLOCATORS,
               "more than MEM_PROFILE_MAX_ALLOCATORS (%d) allocators", MEM_PROFILE_MAX_ALLOCATORS);
  const uint32_t id = block.header.allocator_entries++;
  copy_name(block.allocators[id].name, name);
  block.allocators[id].allocator_id = id;
  return id;
}

void track_allocation(int32_t id, uint32_t size) {
  if (id == -1) {
    return;
  }
  Block& block = current_block();
  ET_CHECK_MSG(block.header.mem_prof_entries < MAX_MEM_PROFILE_EVENTS,
               "more than MAX_MEM_PROFILE_EVENTS (%d) allocations", MAX_MEM_PROFILE_EVENTS);
  block.allocations[block.header.mem_prof_entries++] = {static_cast<uint32_t>(id), size};
}

void dump_profile_stats(prof_result_t* prof_result) {
  ET_CHECK_MSG(prof_result != nullptr, "nowhere to dump to");
  for (uint32_t i = 0; i < num_blocks; ++i) {
    for (; copied_names[i] < blocks[i].header.prof_entries; ++copied_names[i]) {
      prof_event_t& event = blocks[i].events[copied_names[i]];
      copy_name(event.name, event.name_str);
    }
  }
  prof_result->prof_data = reinterpret_cast<uint8_t*>(blocks);
  prof_result->num_bytes = num_blocks * static_cast<uint32_t>(sizeof(Block));
  prof_result->num_blocks = num_blocks;
}

void reset_profile_stats() {
  num_blocks = 0;
}

const prof_state_t& get_profile_tls_state() {
  return state;
}

void set_profile_tls_state(const prof_state_t& new_state) {
  state = new_state;
}

}  // namespace runtime
}  // namespace executorch
