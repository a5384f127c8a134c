// SPDX-License-Identifier: BSD-3-Clause
// Reads the optional header of a .pte file.
#include <executorch/schema/extended_header.h>

#include <cstring>

#include <executorch/runtime/platform/log.h>

namespace executorch::runtime {
namespace {

// Offsets from the start of the header, and the header lengths that include a field.
constexpr size_t kLengthOffset = 4;
constexpr size_t kProgramSizeOffset = 8;
constexpr size_t kSegmentBaseOffset = 16;
constexpr size_t kSegmentSizeOffset = 24;
constexpr uint32_t kMinLength = 24;
constexpr uint32_t kLengthWithSegmentSize = 32;

// Little-endian on every host.
uint64_t read_little_endian(const uint8_t* bytes, size_t num_bytes) {
  uint64_t value = 0;
  while (num_bytes > 0) {
    value = (value << 8) | bytes[--num_bytes];
  }
  return value;
}

}  // namespace

Result<ExtendedHeader> ExtendedHeader::Parse(const void* data, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && size >= kNumHeadBytes, InvalidArgument,
                           "A program header needs the first %zu bytes of the file, got %zu",
                           kNumHeadBytes, size);
  const uint8_t* header = static_cast<const uint8_t*>(data) + kHeaderOffset;
  if (std::memcmp(header, kMagic, kMagicSize) != 0) {
    return Error::NotFound;
  }
  const uint32_t length = static_cast<uint32_t>(read_little_endian(header + kLengthOffset, 4));
  ET_CHECK_OR_RETURN_ERROR(length >= kMinLength, InvalidProgram,
                           "Program header: expected a length of at least %u, found %u at byte 12",
                           static_cast<unsigned>(kMinLength), static_cast<unsigned>(length));
  ExtendedHeader result;
  result.program_size = read_little_endian(header + kProgramSizeOffset, 8);
  result.segment_base_offset = read_little_endian(header + kSegmentBaseOffset, 8);
  result.segment_data_size =
      length >= kLengthWithSegmentSize ? read_little_endian(header + kSegmentSizeOffset, 8) : 0;
  return result;
}

}  // namespace executorch::runtime
