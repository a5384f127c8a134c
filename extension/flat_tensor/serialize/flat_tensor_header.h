// SPDX-License-Identifier: BSD-3-Clause
// The header of a .ptd data file: where its table of contents and its data lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension {

struct FlatTensorHeader {
  // The header starts here, inside the flatbuffer and after its root offset and identifier.
  static constexpr size_t kHeaderOffset = 8;

  // Bytes of the file that Parse() needs.
  static constexpr size_t kNumHeadBytes = 64;

  static constexpr size_t kMagicSize = 4;
  static constexpr char kMagic[kMagicSize] = {'F', 'H', '0', '1'};

  // Without padding.
  static constexpr uint32_t kHeaderExpectedLength =
      kMagicSize + sizeof(uint32_t) + 4 * sizeof(uint64_t);

  // Reads the header from the first bytes of a file. What it says is not compared with the size of
  // the file.
  //   InvalidArgument      fewer than kNumHeadBytes
  //   NotFound             no header
  //   InvalidExternalData  a header that is too short
  static runtime::Result<FlatTensorHeader> Parse(const void* data, size_t size);

  // The flatbuffer is the range [0, flatbuffer_offset + flatbuffer_size) of the file.
  uint64_t flatbuffer_offset;
  uint64_t flatbuffer_size;

  // Segments lie in [segment_base_offset, segment_base_offset + segment_data_size); their offsets
  // count from its start.
  uint64_t segment_base_offset;
  uint64_t segment_data_size;
};

}  // namespace executorch::extension
