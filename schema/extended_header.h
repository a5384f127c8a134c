// SPDX-License-Identifier: BSD-3-Clause
// The optional header of a .pte file, between byte 8 and the rest of the flatbuffer: it says how
// long the program data is and where the segments are.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::runtime {

struct ExtendedHeader {
  // Bytes of a file that must be given to Parse(): enough for every version of the header.
  static constexpr size_t kNumHeadBytes = 64;
  // Where the header starts in the file.
  static constexpr size_t kHeaderOffset = 8;
  static constexpr size_t kMagicSize = 4;
  static constexpr char kMagic[kMagicSize + 1] = "eh00";

  // Reads the header from the first bytes of a file; copies what it needs.
  //   InvalidArgument  size < kNumHeadBytes
  //   NotFound         no header: all of the file is program data and there are no segments
  //   InvalidProgram   a header too short for its mandatory fields
  static Result<ExtendedHeader> Parse(const void* data, size_t size);

  // Bytes of program data, counted from the start of the file.
  uint64_t program_size;
  // File offset of the first segment; 0 if there are none.
  uint64_t segment_base_offset;
  // Bytes from segment_base_offset to the end of the last segment; 0 in files of version 0 of the
  // header.
  uint64_t segment_data_size;
};

}  // namespace executorch::runtime
