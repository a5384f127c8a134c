// SPDX-License-Identifier: BSD-3-Clause
// The constants of a payload while its graph is built: where their bytes are, and scales.
#pragma once

#include <executorch/backends/xnnpack/runtime/payload.h>
#include <executorch/backends/xnnpack/runtime/values.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace executorch::backends::xnnpack {

/// What it returns stays valid as long as it lives, or until it is given back.
class Constants final {
 public:
  /// `data` may be null; then a payload that refers to named data is refused.
  Constants(const Payload& payload, const runtime::NamedDataMap* data)
      : payload_(payload), data_(data) {}

  /// The bytes of a constant, `size` of them, aligned for its elements. NotFound for missing named
  /// data, InvalidProgram when they are not in the payload or are of another size.
  runtime::Result<runtime::Span<const uint8_t>> load(uint32_t index, uint64_t size);
  /// Those of a value of half precision as float32.
  runtime::Result<runtime::Span<const uint8_t>> load_widened(uint32_t index, uint64_t count);

  /// The scales of a value that is quantized by channel. InvalidProgram for a number that does not
  /// fit the value, and for scales that are not finite and positive.
  runtime::Result<runtime::Span<const float>> scales_by_channel(const Value& value);
  /// Of one that is quantized by group, as bfloat16.
  runtime::Result<runtime::Span<const uint16_t>> scales_by_group(const Value& value);

  /// Gives back all named data but those at the addresses of `kept`.
  void give_back_but(const std::vector<const void*>& kept);

 private:
  runtime::Result<runtime::Span<const uint8_t>> bytes(uint32_t index);
  runtime::Result<runtime::Span<const uint8_t>> named_bytes(const char* key);
  /// Memory for `size` bytes.
  uint8_t* allocate(size_t size);

  Payload payload_;
  const runtime::NamedDataMap* data_;
  std::vector<runtime::FreeableBuffer> loaded_;
  std::vector<std::vector<uint64_t>> made_;
};

}  // namespace executorch::backends::xnnpack
