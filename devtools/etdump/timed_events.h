// SPDX-License-Identifier: BSD-3-Clause
// Stretches of time, written into a flatbuffer while a program is timed. Internal to DumpBuilder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <executorch/devtools/etdump/etdump_schema_flatcc_generated.h>

namespace executorch::etdump {

namespace fb = ::etdump;

/// As the schema's ProfileEvent. An event of a delegate has `delegate_name` or `delegate_id`, and
/// bytes that may be none; others have a name.
struct TimedEvent {
  flatbuffers::Offset<flatbuffers::String> name;  // null: none
  int32_t chain_index = 0;
  int32_t instruction_id = -1;
  int32_t delegate_id = -1;
  flatbuffers::Offset<flatbuffers::String> delegate_name;      // null: none
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> metadata;  // null: none
  uint64_t start_time = 0;
  uint64_t end_time = 0;
};

/// Writes the two tables of an event as bytes. Their layouts (vtables) stand in the buffer once;
/// the builder's general way, which makes a layout for each table and looks for an equal one, takes
/// several times as long.
class TimedEventWriter {
 public:
  explicit TimedEventWriter(flatbuffers::FlatBufferBuilder& flatbuffer) : flatbuffer_(flatbuffer) {}

  /// Takes at most 100 bytes, layouts included, which are written when they are needed first.
  flatbuffers::Offset<fb::Event> write(const TimedEvent& event);

  /// The buffer was cleared.
  void clear() { layouts_ = {}; }

 private:
  static constexpr size_t kEvent = 8;  // of layouts_: the table Event

  uint32_t layout_of(size_t which);

  flatbuffers::FlatBufferBuilder& flatbuffer_;
  // By which of the three offsets a ProfileEvent has. From the end of the buffer; 0: not there yet.
  std::array<uint32_t, 9> layouts_{};
};

}  // namespace executorch::etdump
