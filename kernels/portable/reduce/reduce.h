// SPDX-License-Identifier: BSD-3-Clause
// What reductions share: the rules that fold elements, the prologue, and the fold of a run.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/loops/reduction.h>

namespace executorch {
namespace kernels {

// A folding rule: lanes are folded in C, what they give in Wide, so that long sums of floats keep
// their digits.
template <typename C>
using WideOf =
    std::conditional_t<std::is_integral<C>::value || std::is_same<C, Complex>::value, C, double>;

struct SumFold {
  template <typename C>
  static C start() {
    return C(0);
  }
  template <typename C>
  static C step(C a, C b) {
    return wrap_add(a, b);
  }
};
struct ProdFold {
  template <typename C>
  static C start() {
    return C(1);
  }
  template <typename C>
  static C step(C a, C b) {
    return wrap_mul(a, b);
  }
};
struct MaxFold {
  template <typename C>
  static C start() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <typename C>
  static C step(C a, C b) {
    return Maximum()(a, b);
  }
};
struct MinFold {
  template <typename C>
  static C start() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <typename C>
  static C step(C a, C b) {
    return Minimum()(a, b);
  }
};
struct AnyFold {
  template <typename C>
  static C start() {
    return C(0);
  }
  template <typename C>
  static C step(C a, C b) {
    return a | b;
  }
};

template <typename Fold, typename C>
WideOf<C> fold_run(WideOf<C> total, const C* values, int64_t n) {
  constexpr int kLanes = 8;
  int64_t i = 0;
  if (n >= 2 * kLanes) {
    C lanes[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      lanes[k] = values[k];
    }
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) {
        lanes[k] = Fold::step(lanes[k], values[i + k]);
      }
    }
    for (int k = 0; k < kLanes; ++k) {
      total = Fold::step(total, static_cast<WideOf<C>>(lanes[k]));
    }
  }
  for (; i < n; ++i) {
    total = Fold::step(total, static_cast<WideOf<C>>(values[i]));
  }
  return total;
}

// What a reduction is asked for; a family that takes complex numbers sets the last field.
struct ReduceArgs {
  executorch::aten::OptionalArrayRef<int64_t> dims;
  bool keepdim = false;
  bool complex_too = false;
};

// Resolves the dimensions and resizes `out`.
inline bool prepare(const OpCall& call, const Tensor& in, const ReduceArgs& args, const Tensor& out,
                    Reduction& reduction) {
  const bool fits = args.complex_too && is_complex(out.scalar_type())
                        ? check_number(call, "self", in)
                        : check_computable(call, "self", in) && check_computable(call, "out", out);
  return fits && make_reduction(call, in, args.dims, args.keepdim, reduction) &&
         resize_output(call, out, reduction.shape);
}

// `out` has the dtype that the call names, if it does.
inline bool check_out_is(const OpCall& call, std::optional<ScalarType> dtype, const Tensor& out) {
  return !dtype.has_value() || check_dtype(call, "out", out, *dtype);
}

// An extreme of no elements is an error.
inline bool check_nonempty(const OpCall& call, const Tensor& in, const Reduction& reduction) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, reduction.count > 0 || (in.numel() == 0 && reduction.shape.numel() == 0),
      InvalidArgument, false,
      "%s: expected reduced dimensions with elements, found one of size 0 in self", call.op);
  return true;
}

}  // namespace kernels
}  // namespace executorch
