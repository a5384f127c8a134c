// SPDX-License-Identifier: BSD-3-Clause
// Where things lie in a .pte or .ptd file: headers behind the flatbuffer's first eight bytes,
// aligned segments behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace executorch::exir {

/// Offsets of items laid out one after the other, and the end of the last one (no padding behind
/// it).
struct Layout {
  std::vector<uint64_t> offsets;
  uint64_t size = 0;
};

/// items: (size, alignment). Each starts at a multiple of lcm(alignment, its own alignment).
/// Throws std::invalid_argument on alignment 0 or when an offset does not fit 63 bits.
Layout lay_out(const std::vector<std::pair<uint64_t, uint64_t>>& items, uint64_t alignment);

/// The extended header of a program file.
struct ProgramHeader {
  uint64_t program_size;
  uint64_t segment_base_offset;
  uint64_t segment_data_size;
};

/// The header of a data file.
struct FlatTensorHeader {
  uint64_t flatbuffer_offset;
  uint64_t flatbuffer_size;
  uint64_t segment_base_offset;
  uint64_t segment_data_size;
};

/// Everything of a .pte before its segments: `flatbuffer` with the header inserted, zero padded to
/// the segment base. header_alignment: the largest alignment in the flatbuffer. base_alignment: of
/// the segment base. A program without segment bytes has no header and comes back unchanged.
std::string program_head(const std::string& flatbuffer, uint64_t segment_data_size,
                         uint64_t header_alignment, uint64_t base_alignment);

/// The same for a .ptd, which always has a header.
std::string flat_tensor_head(const std::string& flatbuffer, uint64_t segment_data_size,
                             uint64_t header_alignment, uint64_t base_alignment);

/// Reads untrusted bytes; nullopt when the file has no header of that kind. Throws FormatError when
/// it has a bad one, or one whose ranges lie outside the `size` bytes.
std::optional<ProgramHeader> parse_program_header(const uint8_t* data, uint64_t size);
std::optional<FlatTensorHeader> parse_flat_tensor_header(const uint8_t* data, uint64_t size);

}  // namespace executorch::exir
