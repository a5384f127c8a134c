// SPDX-License-Identifier: BSD-3-Clause
// Windows that slide over images: sizes, in 64 bits on 32-bit fields.
#pragma once

#include <executorch/runtime/core/error.h>

#include <cstddef>
#include <cstdint>

namespace executorch::backends::xnnpack {

/// Along one dimension.
struct Window {
  uint64_t padding;  // both sides
  uint64_t kernel;
  uint64_t stride;
  uint64_t dilation;

  uint64_t extent() const { return (kernel - 1) * dilation + 1; }
};

/// InvalidProgram for sizes of 0 or beyond 65536.
runtime::Error check_window(const Window& window);

/// How often the window fits over `size` elements.
runtime::Error slide(uint64_t size, const Window& window, size_t& out);

template <typename Padded>
uint64_t vertical(const Padded& node) {
  return uint64_t{node.padding_top()} + node.padding_bottom();
}

template <typename Padded>
uint64_t horizontal(const Padded& node) {
  return uint64_t{node.padding_left()} + node.padding_right();
}

}  // namespace executorch::backends::xnnpack
