// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/dump_builder.h>

#include <executorch/devtools/etdump/etdump_flatcc.h>

#include <algorithm>
#include <cstring>

namespace executorch::etdump {

using runtime::Span;

namespace {

constexpr size_t kMaxHeapBytes = size_t{1} << 30;
constexpr size_t kFirstHeapBytes = size_t{1} << 16;
constexpr size_t kMaxOffsetBytes = size_t{128} << 10;
/// For the builder's own notes, the root, and the name and table of the block that is open.
constexpr size_t kReserve = 4096;
/// Of a finished block: its table, and its place in the root.
constexpr size_t kBlockBytes = 128;

// The first part of the memory holds offsets: of events 5/8, of blocks, allocators and tensors 1/8
// each.
uint8_t* part(Span<uint8_t> memory, size_t num_offset_bytes, size_t eighths) {
  return memory.empty() ? nullptr : memory.data() + num_offset_bytes / 8 * eighths;
}

size_t num_offset_bytes_of(Span<uint8_t> memory) {
  return memory.empty() ? 0 : std::min(memory.size() / 4, kMaxOffsetBytes) / 64 * 64;
}

// FNV-1a, but eight characters at a time: names are long, and hashed at every event.
uint32_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037u ^ text.size();
  for (; !text.empty(); text.remove_prefix(std::min<size_t>(8, text.size()))) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<size_t>(8, text.size()));
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 32;
  }
  return static_cast<uint32_t>(hash);
}

}  // namespace

DumpBuilder::DumpBuilder(Span<uint8_t> memory) : DumpBuilder(memory, num_offset_bytes_of(memory)) {}

DumpBuilder::DumpBuilder(Span<uint8_t> memory, size_t num_offset_bytes)
    : capacity_(memory.empty() ? kMaxHeapBytes : (memory.size() - num_offset_bytes) / 16 * 16),
      allocator_({memory.data() + num_offset_bytes, capacity_}),
      flatbuffer_(memory.empty() ? kFirstHeapBytes : capacity_,
                  memory.empty() ? nullptr : &allocator_),
      events_(part(memory, num_offset_bytes, 0), num_offset_bytes / 8 * 5),
      blocks_(part(memory, num_offset_bytes, 5), num_offset_bytes / 8),
      allocators_(part(memory, num_offset_bytes, 6), num_offset_bytes / 8),
      tensors_(part(memory, num_offset_bytes, 7), num_offset_bytes / 8) {}

bool DumpBuilder::has_room(size_t num_bytes) {
  const size_t to_come = sizeof(uint32_t) * (events_.size() + allocators_.size() + 2) +
                         kBlockBytes * (blocks_.size() + 2) + kReserve;
  const size_t left = capacity_ - std::min<size_t>(flatbuffer_.GetSize(), capacity_);
  if (!is_finished_ && to_come < left && num_bytes < left - to_come && events_.reserve() &&
      blocks_.reserve() && allocators_.reserve()) {
    return true;
  }
  ++num_lost_;
  return false;
}

DumpBuilder::Name DumpBuilder::add_name(std::string_view text) {
  const uint32_t hash = hash_of(text);
  SeenName& seen = seen_[hash % seen_.size()];
  if (seen.hash == hash && !seen.name.IsNull()) {
    const auto* stored = flatbuffers::GetTemporaryPointer(flatbuffer_, seen.name);
    if (std::string_view(stored->c_str(), stored->size()) == text) {
      return seen.name;
    }
  }
  if (!has_room(text.size() + 16)) {
    return {};
  }
  seen = {hash, flatbuffer_.CreateString(text.data(), text.size())};
  return seen.name;
}

void DumpBuilder::add_event(flatbuffers::Offset<fb::Event> event) {
  events_.push_back(event);
}

void DumpBuilder::add_event(const TimedEvent& event) {
  events_.push_back(timed_events_.write(event));
}

bool DumpBuilder::add_allocator(const char* name) {
  const Name stored = add_name(name);
  if (stored.IsNull() || !has_room(64)) {
    return false;
  }
  allocators_.push_back(fb::CreateAllocator(flatbuffer_, stored));
  return true;
}

void DumpBuilder::begin_block(const char* name) {
  block_name_ = add_name(name);
}

void DumpBuilder::end_block(int bundled_input_index) {
  if (!blocks_.reserve()) {
    num_lost_ += events_.size();
  } else {
    const auto allocators = flatbuffer_.CreateVector(allocators_.data(), allocators_.size());
    const auto events = flatbuffer_.CreateVector(events_.data(), events_.size());
    blocks_.push_back(
        fb::CreateRunData(flatbuffer_, block_name_, bundled_input_index, allocators, events));
  }
  events_.clear();
  allocators_.clear();
}

Span<uint8_t> DumpBuilder::finish() {
  if (!is_finished_) {
    const auto blocks = flatbuffer_.CreateVector(blocks_.data(), blocks_.size());
    fb::FinishSizePrefixedETDumpBuffer(flatbuffer_,
                                       fb::CreateETDump(flatbuffer_, ETDUMP_VERSION, blocks));
    is_finished_ = true;
  }
  return {flatbuffer_.GetBufferPointer(), flatbuffer_.GetSize()};
}

void DumpBuilder::clear() {
  flatbuffer_.Clear();
  events_.clear();
  blocks_.clear();
  allocators_.clear();
  seen_ = {};
  timed_events_.clear();
  num_lost_ = 0;
  ++generation_;
  is_finished_ = false;
}

}  // namespace executorch::etdump
