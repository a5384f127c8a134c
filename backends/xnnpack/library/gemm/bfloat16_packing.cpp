// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/gemm/bfloat16_packing.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace executorch::backends::xnnpack {

namespace {

uint32_t rounded(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  constexpr uint32_t kInfinity = 0x7F800000, kQuiet = 0x40;
  const uint32_t nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7FFFFFFF) > kInfinity ? bits >> 16 | kQuiet : nearest;
}

}  // namespace

void pack_bfloat16(const FloatWeights& from, size_t panel, size_t extra_bytes, void* packed) {
  const size_t pairs = (from.channels + 1) / 2;
  const size_t panel_bytes = panel * (1 + 2 * from.taps * pairs) * sizeof(uint32_t) + extra_bytes;
  auto* out = static_cast<char*>(packed);
  for (size_t group = 0; group < from.groups; ++group) {
    for (size_t first = 0; first < from.filters; first += panel, out += panel_bytes) {
      const size_t count = std::min(panel, from.filters - first);
      auto* const bias = reinterpret_cast<float*>(out);
      std::fill_n(bias, panel, 0.0f);
      if (from.bias != nullptr) {
        std::copy_n(from.bias + group * from.filters + first, count, bias);
      }
      auto* const to = reinterpret_cast<uint32_t*>(bias + panel);
      std::fill_n(to, panel * from.taps * pairs, 0u);
      for (size_t i = 0; i < count; ++i) {
        const float* const filter =
            from.weights + group * from.group_stride + (first + i) * from.filter_stride;
        for (size_t tap = 0; tap < from.taps; ++tap) {
          const float* const line = filter + tap * from.tap_stride;
          uint32_t* const line_out = to + tap * pairs * panel + i;
          for (size_t c = 0; c < from.channels; ++c) {
            line_out[c / 2 * panel] |= rounded(line[c * from.channel_stride]) << (c % 2 * 16);
          }
        }
      }
    }
  }
}

}  // namespace executorch::backends::xnnpack
