// SPDX-License-Identifier: BSD-3-Clause
// The range of quantized values: its check against the dtype, and the rounding into it.
#pragma once

#include <cinttypes>
#include <cmath>
#include <limits>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch {
namespace kernels {

struct QuantRange {
  int64_t least;
  int64_t most;

  // A rounded value, cut to the range; NaN gives the least.
  template <typename C>
  int64_t clamp(C value) const {
    if (!(value > static_cast<C>(least))) {
      return least;
    }
    return value >= static_cast<C>(most) ? most : static_cast<int64_t>(value);
  }
};

// Values of `range` can be stored as `dtype`, one of Byte, Char, Short and Int.
inline bool check_range(const OpCall& call, const QuantRange& range, ScalarType dtype) {
  const auto within = [&](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return range.least <= range.most && range.least >= Limits::min() && range.most <= Limits::max();
  };
  const bool fits = dtype == ScalarType::Byte    ? within(uint8_t(0))
                    : dtype == ScalarType::Char  ? within(int8_t(0))
                    : dtype == ScalarType::Short ? within(int16_t(0))
                    : dtype == ScalarType::Int   ? within(int32_t(0))
                                                 : false;
  ET_KERNEL_CHECK_MSG(call.ctx, fits, InvalidArgument, false,
                      "%s: expected quant_min <= quant_max within Byte, Char, Short or Int, found "
                      "[%" PRId64 ", %" PRId64 "] of %s",
                      call.op, static_cast<int64_t>(range.least), static_cast<int64_t>(range.most),
                      executorch::runtime::toString(dtype));
  return true;
}

}  // namespace kernels
}  // namespace executorch
