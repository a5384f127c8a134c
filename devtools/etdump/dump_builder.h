// SPDX-License-Identifier: BSD-3-Clause
// DumpBuilder: the flatbuffer that an ETDumpGen fills, in a buffer of fixed size or on the heap.
// Internal to ETDumpGen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <executorch/devtools/etdump/etdump_schema_flatcc_generated.h>
#include <executorch/devtools/etdump/timed_events.h>
#include <executorch/runtime/core/span.h>

namespace executorch::etdump {

namespace fb = ::etdump;

/// Offsets of finished tables, in fixed memory or in memory that grows.
template <typename T>
class OffsetList {
 public:
  using Item = flatbuffers::Offset<T>;

  /// Without memory: grows on the heap.
  OffsetList(void* memory, size_t num_bytes)
      : items_(static_cast<Item*>(memory)),
        capacity_(num_bytes / sizeof(Item)),
        is_fixed_(memory != nullptr) {}
  ~OffsetList() {
    if (!is_fixed_) {
      std::free(items_);
    }
  }
  OffsetList(const OffsetList&) = delete;
  OffsetList& operator=(const OffsetList&) = delete;

  /// Makes room for one more; false when there is none.
  bool reserve() {
    if (size_ < capacity_) {
      return true;
    }
    const size_t capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
    void* const items = is_fixed_ ? nullptr : std::realloc(items_, capacity * sizeof(Item));
    if (items == nullptr) {
      return false;
    }
    items_ = static_cast<Item*>(items);
    capacity_ = capacity;
    return true;
  }
  /// After reserve().
  void push_back(Item item) { items_[size_++] = item; }
  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  const Item* data() const { return items_; }

 private:
  Item* items_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool is_fixed_ = false;
};

/// A flatbuffer is written from its end to its begin, children before parents. Every function asks
/// for room before it writes; so nothing is ever half there.
class DumpBuilder {
 public:
  using Name = flatbuffers::Offset<flatbuffers::String>;

  /// Without memory: on the heap, up to a gigabyte.
  explicit DumpBuilder(runtime::Span<uint8_t> memory);

  /// Room for a thing of `num_bytes` with all that is still to be written; counts a loss if not.
  bool has_room(size_t num_bytes);

  /// Null without room. Names that were seen lately are stored once.
  Name add_name(std::string_view text);

  flatbuffers::FlatBufferBuilder& flatbuffer() { return flatbuffer_; }

  /// After has_room().
  void add_event(flatbuffers::Offset<fb::Event> event);
  void add_event(const TimedEvent& event);
  /// The tensors of a list, while it is made.
  OffsetList<fb::Tensor>& tensors() { return tensors_; }
  bool add_allocator(const char* name);
  size_t num_allocators() const { return allocators_.size(); }

  void begin_block(const char* name);
  void end_block(int bundled_input_index);

  /// The finished file; valid until the next clear().
  runtime::Span<uint8_t> finish();

  void clear();

  size_t num_lost() const { return num_lost_; }
  void count_loss() { ++num_lost_; }
  /// Changes whenever names become invalid.
  uint32_t generation() const { return generation_; }

 private:
  /// Hands out one piece of memory, once; it never has to grow.
  class FixedAllocator final : public flatbuffers::Allocator {
   public:
    explicit FixedAllocator(runtime::Span<uint8_t> memory) : memory_(memory) {}
    uint8_t* allocate(size_t size) override {
      return size <= memory_.size() ? memory_.data() : nullptr;
    }
    void deallocate(uint8_t*, size_t) override {}

   private:
    runtime::Span<uint8_t> memory_;
  };

  struct SeenName {
    uint32_t hash = 0;
    Name name;
  };

  DumpBuilder(runtime::Span<uint8_t> memory, size_t num_offset_bytes);

  size_t capacity_;
  FixedAllocator allocator_;
  flatbuffers::FlatBufferBuilder flatbuffer_;
  TimedEventWriter timed_events_{flatbuffer_};
  OffsetList<fb::Event> events_;
  OffsetList<fb::RunData> blocks_;
  OffsetList<fb::Allocator> allocators_;
  OffsetList<fb::Tensor> tensors_;
  Name block_name_;
  std::array<SeenName, 256> seen_{};
  size_t num_lost_ = 0;
  uint32_t generation_ = 1;
  bool is_finished_ = false;
};

}  // namespace executorch::etdump
