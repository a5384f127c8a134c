// SPDX-License-Identifier: BSD-3-Clause
// The bits of a float.
#pragma once

#include <cstdint>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>

namespace torch {
namespace headeronly {
namespace detail {

C10_HOST_DEVICE inline float fp32_from_bits(uint32_t w) {
  return ::c10::bit_cast<float>(w);
}

C10_HOST_DEVICE inline uint32_t fp32_to_bits(float f) {
  return ::c10::bit_cast<uint32_t>(f);
}

}  // namespace detail
}  // namespace headeronly
}  // namespace torch

namespace c10 {
namespace detail {
using torch::headeronly::detail::fp32_from_bits;
using torch::headeronly::detail::fp32_to_bits;
}  // namespace detail
}  // namespace c10
