// SPDX-License-Identifier: BSD-3-Clause
// A flatbuffer grows towards its begin; places in it are counted from its end. A table is the way
// back to its layout and then its fields; a layout has its own size, the table's, and the place of
// each field in the table, 0 for one that is absent.
#include <executorch/devtools/etdump/timed_events.h>

#include <cstddef>

namespace executorch::etdump {

namespace {

using flatbuffers::EndianScalar;

struct ProfileTable {
  int32_t layout;
  uint32_t name;
  int32_t chain_index;
  int32_t instruction_id;
  int32_t delegate_id;
  uint32_t delegate_name;
  uint32_t metadata;
  uint32_t padding;
  uint64_t start_time;
  uint64_t end_time;
};
static_assert(sizeof(ProfileTable) == 48, "fields lie where the layouts say");

struct EventTable {
  int32_t layout;
  uint32_t profile_event;
};
static_assert(sizeof(EventTable) == 8, "fields lie where the layouts say");

constexpr size_t kName = 1, kDelegateName = 2, kMetadata = 4;  // which offsets are there

// From a field of the table at `table` to what stands at `target`, or back to a layout.
uint32_t way(uint32_t table, size_t field, uint32_t target) {
  return EndianScalar(target == 0 ? 0 : table - static_cast<uint32_t>(field) - target);
}
int32_t way_to_layout(uint32_t table, uint32_t layout) {
  return EndianScalar(static_cast<int32_t>(layout) - static_cast<int32_t>(table));
}

}  // namespace

flatbuffers::Offset<fb::Event> TimedEventWriter::write(const TimedEvent& event) {
  const size_t present = (event.name.IsNull() ? 0 : kName) |
                         (event.delegate_name.IsNull() ? 0 : kDelegateName) |
                         (event.metadata.IsNull() ? 0 : kMetadata);
  const uint32_t profile_layout = layout_of(present);
  const uint32_t event_layout = layout_of(kEvent);

  flatbuffer_.PreAlign(sizeof(ProfileTable), alignof(uint64_t));
  const auto at = static_cast<uint32_t>(flatbuffer_.GetSize() + sizeof(ProfileTable));
  const ProfileTable profile = {
      way_to_layout(at, profile_layout),
      way(at, offsetof(ProfileTable, name), event.name.o),
      EndianScalar(event.chain_index),
      EndianScalar(event.instruction_id),
      EndianScalar(event.delegate_id),
      way(at, offsetof(ProfileTable, delegate_name), event.delegate_name.o),
      way(at, offsetof(ProfileTable, metadata), event.metadata.o),
      0,
      EndianScalar(event.start_time),
      EndianScalar(event.end_time),
  };
  flatbuffer_.PushBytes(reinterpret_cast<const uint8_t*>(&profile), sizeof(profile));

  const auto outer = static_cast<uint32_t>(flatbuffer_.GetSize() + sizeof(EventTable));
  const EventTable table = {way_to_layout(outer, event_layout),
                            way(outer, offsetof(EventTable, profile_event), at)};
  flatbuffer_.PushBytes(reinterpret_cast<const uint8_t*>(&table), sizeof(table));
  return {outer};
}

uint32_t TimedEventWriter::layout_of(size_t which) {
  if (layouts_[which] != 0) {
    return layouts_[which];
  }
  const auto field = [&](size_t place, size_t if_present) {
    return static_cast<uint16_t>((which & if_present) != 0 ? place : 0);
  };
  const std::array<uint16_t, 10> profile = {
      20,
      sizeof(ProfileTable),
      field(offsetof(ProfileTable, name), kName),
      offsetof(ProfileTable, chain_index),
      offsetof(ProfileTable, instruction_id),
      offsetof(ProfileTable, delegate_id),
      field(offsetof(ProfileTable, delegate_name), kDelegateName),
      field(offsetof(ProfileTable, metadata), kMetadata),
      offsetof(ProfileTable, start_time),
      offsetof(ProfileTable, end_time),
  };
  const std::array<uint16_t, 3> event = {6, sizeof(EventTable),
                                         offsetof(EventTable, profile_event)};
  const uint16_t* const items = which == kEvent ? event.data() : profile.data();
  for (size_t i = which == kEvent ? event.size() : profile.size(); i > 0; --i) {
    flatbuffer_.PushElement(items[i - 1]);
  }
  layouts_[which] = flatbuffer_.GetSize();
  return layouts_[which];
}

}  // namespace executorch::etdump
