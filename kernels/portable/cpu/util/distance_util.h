// SPDX-License-Identifier: BSD-3-Clause
// Distances between rows.
#pragma once

#include <cmath>
#include <optional>

#include <executorch/kernels/portable/cpu/util/broadcast_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

inline bool check_pdist_args(const Tensor& in, double p, const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(p >= 0, "p = %f", p);
  return tensors_have_same_dtype(in, out) && tensor_is_rank(in, 2);
}

/// One distance for each pair of rows.
inline void get_pdist_out_target_size(const Tensor& in, Tensor::SizesType* out_sizes,
                                      size_t* out_ndim) {
  *out_ndim = 1;
  const auto rows = static_cast<Tensor::SizesType>(in.size(0));
  out_sizes[0] = rows * (rows - 1) / 2;
}

/// A norm in three steps: map each difference, reduce, finish.
template <typename CTYPE>
struct L0 {
  static inline CTYPE map(const CTYPE& diff, const CTYPE&) { return diff == CTYPE(0) ? 0 : 1; }
  static inline CTYPE reduce(const CTYPE& agg, const CTYPE& up) { return agg + up; }
  static inline CTYPE finish(const CTYPE& agg, const CTYPE&) { return agg; }
};
template <typename CTYPE>
struct L1 {
  static inline CTYPE map(const CTYPE& diff, const CTYPE&) { return diff; }
  static inline CTYPE reduce(const CTYPE& agg, const CTYPE& up) { return agg + up; }
  static inline CTYPE finish(const CTYPE& agg, const CTYPE&) { return agg; }
};
template <typename CTYPE>
struct L2 {
  static inline CTYPE map(const CTYPE& diff, const CTYPE&) { return diff * diff; }
  static inline CTYPE reduce(const CTYPE& agg, const CTYPE& up) { return agg + up; }
  static inline CTYPE finish(const CTYPE& agg, const CTYPE&) { return std::sqrt(agg); }
};
template <typename CTYPE>
struct Lp {
  static inline CTYPE map(const CTYPE& diff, const CTYPE& p) { return std::pow(diff, p); }
  static inline CTYPE reduce(const CTYPE& agg, const CTYPE& up) { return agg + up; }
  static inline CTYPE finish(const CTYPE& agg, const CTYPE& p) {
    return std::pow(agg, static_cast<CTYPE>(1) / p);
  }
};
template <typename CTYPE>
struct Linf {
  static inline CTYPE map(const CTYPE& diff, const CTYPE&) { return diff; }
  static inline CTYPE reduce(const CTYPE& agg, const CTYPE& up) {
    return up != up || up > agg ? up : agg;
  }
  static inline CTYPE finish(const CTYPE& agg, const CTYPE&) { return agg; }
};

namespace internal {
template <typename CTYPE, typename Norm>
void pdist(const Tensor& in, Tensor& out, double p) {
  const CTYPE* const data = in.const_data_ptr<CTYPE>();
  CTYPE* to = out.mutable_data_ptr<CTYPE>();
  const ssize_t n = in.size(0);
  const ssize_t m = in.size(1);
  for (ssize_t i = 0; i < n; ++i) {
    for (ssize_t j = i + 1; j < n; ++j) {
      CTYPE sum = 0;
      for (ssize_t k = 0; k < m; ++k) {
        const CTYPE difference = static_cast<CTYPE>(std::abs(data[i * m + k] - data[j * m + k]));
        sum = Norm::reduce(sum, Norm::map(difference, static_cast<CTYPE>(p)));
      }
      *to++ = Norm::finish(sum, static_cast<CTYPE>(p));
    }
  }
}
}  // namespace internal

/// The p-norm of the difference of each pair of rows.
template <typename CTYPE>
void pdist(const Tensor& in, Tensor& out, double p) {
  if (p == 0.0) {
    internal::pdist<CTYPE, L0<CTYPE>>(in, out, p);
  } else if (p == 1.0) {
    internal::pdist<CTYPE, L1<CTYPE>>(in, out, p);
  } else if (p == 2.0) {
    internal::pdist<CTYPE, L2<CTYPE>>(in, out, p);
  } else if (std::isinf(p)) {
    internal::pdist<CTYPE, Linf<CTYPE>>(in, out, p);
  } else {
    internal::pdist<CTYPE, Lp<CTYPE>>(in, out, p);
  }
}

inline bool check_cdist_args(const Tensor& x1, const Tensor& x2, double p,
                             std::optional<int64_t> compute_mode, const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(p >= 0, "p = %f", p);
  ET_CHECK_OR_RETURN_FALSE(!compute_mode.has_value() || (*compute_mode >= 0 && *compute_mode <= 2),
                           "compute mode %" PRId64, compute_mode.value_or(0));
  return tensors_have_same_dtype(x1, x2, out) && tensor_has_rank_greater_or_equal_to(x1, 2) &&
         tensor_has_rank_greater_or_equal_to(x2, 2) &&
         tensors_have_same_size_at_dims(x1, static_cast<size_t>(x1.dim() - 1), x2,
                                        static_cast<size_t>(x2.dim() - 1));
}

}  // namespace executor
}  // namespace torch
