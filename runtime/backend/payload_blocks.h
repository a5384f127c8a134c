// SPDX-License-Identifier: BSD-3-Clause
// The frames of payloads: a header with magic and regions, and named blocks of 16 bytes. The
// reader of what exir/backend/lowering/payload/blocks.py writes; rows of the formats:
// payload_formats.h.
//
// Payloads are untrusted: every offset and size is checked before it is used, and no sum of them
// can overflow. What is returned are views into the payload, which must outlive them. Functions
// here are inline, so that a program without backends has nothing of them; they use no heap, keep
// no state, and any thread may call them.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace runtime {

/// A little-endian unsigned number of `num_bytes` (at most 8) at byte `at`; of 0 bytes: there is
/// none.
struct NumberField {
  uint32_t at = 0;
  uint32_t num_bytes = 0;
};

/// Consecutive bytes that a header tells of. Offsets count from the payload's beginning; regions
/// stand in their order, behind the header, and do not overlap.
struct RegionFormat {
  NumberField offset;
  /// Of 0 bytes: the region reaches to the next one.
  NumberField size;
  /// Where it begins, when the header has no offset of it.
  uint32_t fixed_offset = 0;
  uint32_t min_size = 0;
  /// Of its offset.
  uint32_t alignment = 1;
  /// Size 0 means: to the payload's end.
  bool is_open_ended = false;
};

constexpr size_t kMaxPayloadRegions = 2;

struct HeaderFormat {
  /// For messages.
  const char* name;
  /// Its four bytes as a little-endian number.
  uint32_t magic;
  uint32_t magic_at;
  /// Without padding.
  uint32_t num_bytes;
  /// Where the header says how long it is: at least `num_bytes`.
  NumberField length;
  size_t num_regions;
  RegionFormat regions[kMaxPayloadRegions];
};

struct PayloadRegions {
  Span<const uint8_t> regions[kMaxPayloadRegions];
};

inline uint64_t little_endian(const uint8_t* bytes, size_t num_bytes) {
  uint64_t number = 0;
  for (size_t i = num_bytes; i > 0; --i) {
    number = number << 8 | bytes[i - 1];
  }
  return number;
}

/// Of a payload that has all of its bytes.
inline uint64_t number_at(Span<const uint8_t> payload, NumberField field) {
  return little_endian(payload.data() + field.at, field.num_bytes);
}

namespace internal {

inline Result<Span<const uint8_t>> read_region(Span<const uint8_t> payload,
                                               const HeaderFormat& format, size_t index,
                                               uint64_t begin) {
  const RegionFormat& row = format.regions[index];
  const uint64_t whole = payload.size();
  const uint64_t offset =
      row.offset.num_bytes == 0 ? row.fixed_offset : number_at(payload, row.offset);
  ET_CHECK_OR_RETURN_ERROR(offset >= begin && offset <= whole && offset % row.alignment == 0,
                           InvalidArgument,
                           "%s payload: region %zu: expected an offset in %" PRIu64 "..%" PRIu64
                           ", a multiple of %" PRIu32 ", found %" PRIu64,
                           format.name, index, begin, whole, row.alignment, offset);
  uint64_t size = number_at(payload, row.size);
  if (row.size.num_bytes == 0) {
    const bool is_last = index + 1 == format.num_regions;
    const uint64_t end = is_last ? whole : number_at(payload, format.regions[index + 1].offset);
    size = end < offset ? 0 : end - offset;
  } else if (size == 0 && row.is_open_ended) {
    size = whole - offset;
  }
  ET_CHECK_OR_RETURN_ERROR(size >= row.min_size && size <= whole - offset, InvalidArgument,
                           "%s payload: region %zu: expected %" PRIu32 "..%" PRIu64
                           " bytes, found %" PRIu64,
                           format.name, index, row.min_size, whole - offset, size);
  return Span<const uint8_t>(payload.data() + offset, static_cast<size_t>(size));
}

}  // namespace internal

/// Whether the payload has the header's magic.
inline bool has_magic(Span<const uint8_t> payload, const HeaderFormat& format) {
  return payload.size() >= format.magic_at + sizeof(format.magic) &&
         number_at(payload, {format.magic_at, sizeof(format.magic)}) == format.magic;
}

/// The regions that the header tells of. Errors: InvalidArgument for a payload that is shorter than
/// the header, and for regions that are misplaced, too small or not whole; NotFound when the magic
/// is another.
inline Result<PayloadRegions> read_regions(Span<const uint8_t> payload,
                                           const HeaderFormat& format) {
  ET_CHECK_OR_RETURN_ERROR(payload.size() >= format.num_bytes, InvalidArgument,
                           "%s payload: expected at least %" PRIu32 " bytes, found %zu",
                           format.name, format.num_bytes, payload.size());
  ET_CHECK_OR_RETURN_ERROR(has_magic(payload, format), NotFound,
                           "%s payload: another magic at byte %" PRIu32, format.name,
                           format.magic_at);
  uint64_t end = format.num_bytes;
  if (format.length.num_bytes != 0) {
    end = number_at(payload, format.length);
    ET_CHECK_OR_RETURN_ERROR(end >= format.num_bytes, InvalidArgument,
                             "%s payload: expected a header of at least %" PRIu32
                             " bytes, found %" PRIu64,
                             format.name, format.num_bytes, end);
  }
  PayloadRegions out;
  for (size_t i = 0; i < format.num_regions; ++i) {
    out.regions[i] = ET_UNWRAP(internal::read_region(payload, format, i, end));
    end = static_cast<uint64_t>(out.regions[i].data() - payload.data()) + out.regions[i].size();
  }
  return out;
}

// Named blocks: a name of at most 15 bytes, filled up with zeros to 16; the size as a signed number
// of 4 bytes; 12 bytes of padding; the data, filled up to a multiple of 16.

constexpr size_t kBlockUnit = 16;
constexpr size_t kMaxPayloadBlocks = 8;

/// `first` and `last` are empty; `names` stand between them, each once, in any order.
struct BlocksFormat {
  const char* name;
  const char* first;
  const char* last;
  size_t num_names;
  const char* names[kMaxPayloadBlocks];
};

/// The data of the blocks, in the order of the format's names.
struct PayloadBlocks {
  Span<const uint8_t> data[kMaxPayloadBlocks];
};

namespace internal {

/// The place of the name of a block among those of the format; num_names when it is none of them.
inline size_t block_place(const uint8_t* name, const BlocksFormat& format) {
  size_t place = 0;
  while (place < format.num_names &&
         std::strncmp(reinterpret_cast<const char*>(name), format.names[place], kBlockUnit) != 0) {
    ++place;
  }
  return place;
}

/// The data of the block at `at`, which is moved behind it.
inline Result<Span<const uint8_t>> read_block(Span<const uint8_t> payload,
                                              const BlocksFormat& format, size_t& at) {
  const size_t rest = payload.size() - at;
  ET_CHECK_OR_RETURN_ERROR(
      rest >= 2 * kBlockUnit, InvalidProgram,
      "%s payload: expected a block at byte %zu or %s before it, found %zu bytes", format.name, at,
      format.last, rest);
  const uint64_t size = little_endian(payload.data() + at + kBlockUnit, 4);
  const size_t room = rest - 2 * kBlockUnit;
  const uint64_t padded = (size + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
  ET_CHECK_OR_RETURN_ERROR(size <= INT32_MAX && padded <= room, InvalidProgram,
                           "%s payload: block at byte %zu: expected at most %zu bytes, found "
                           "%" PRIu64,
                           format.name, at, room, size);
  const uint8_t* data = payload.data() + at + 2 * kBlockUnit;
  at += 2 * kBlockUnit + static_cast<size_t>(padded);
  return Span<const uint8_t>(data, static_cast<size_t>(size));
}

inline bool is_block_named(const uint8_t* name, const char* expected) {
  return std::strncmp(reinterpret_cast<const char*>(name), expected, kBlockUnit) == 0;
}

}  // namespace internal

/// The blocks of a payload. Errors: InvalidProgram for another first block, names that are not of
/// the format, stand twice or are missing, blocks that are not whole, and bytes behind the last.
inline Result<PayloadBlocks> read_blocks(Span<const uint8_t> payload, const BlocksFormat& format) {
  ET_CHECK_OR_RETURN_ERROR(
      payload.size() >= 2 * kBlockUnit && internal::is_block_named(payload.data(), format.first),
      InvalidProgram, "%s payload of %zu bytes: expected to begin with block %s", format.name,
      payload.size(), format.first);
  PayloadBlocks out;
  bool is_there[kMaxPayloadBlocks] = {};
  size_t at = 0;
  while (true) {
    const size_t begin = at;
    const auto data = ET_UNWRAP(internal::read_block(payload, format, at));
    const uint8_t* name = payload.data() + begin;
    if (internal::is_block_named(name, format.last) && data.empty()) {
      break;
    }
    if (begin == 0 && data.empty()) {
      continue;
    }
    const size_t place = internal::block_place(name, format);
    ET_CHECK_OR_RETURN_ERROR(place < format.num_names && !is_there[place], InvalidProgram,
                             "%s payload: block at byte %zu: unknown, or there already",
                             format.name, begin);
    out.data[place] = data;
    is_there[place] = true;
  }
  ET_CHECK_OR_RETURN_ERROR(at == payload.size(), InvalidProgram,
                           "%s payload: expected to end with block %s at byte %zu, found %zu bytes",
                           format.name, format.last, at, payload.size());
  for (size_t i = 0; i < format.num_names; ++i) {
    ET_CHECK_OR_RETURN_ERROR(is_there[i], InvalidProgram, "%s payload: block %s is missing",
                             format.name, format.names[i]);
  }
  return out;
}

}  // namespace runtime
}  // namespace executorch
