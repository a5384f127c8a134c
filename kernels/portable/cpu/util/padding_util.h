// SPDX-License-Identifier: BSD-3-Clause
// Padding of the last one to three dimensions by what is there.
#pragma once

#include <executorch/kernels/portable/cpu/util/copy_ops_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

/// `n` dimensions are padded, the last one first: left, right. Reflection needs less padding than
/// there are elements.
inline bool check_padding_args(int64_t n, const Tensor& in, ArrayRef<int64_t> padding, Tensor& out,
                               bool reflection = false) {
  ET_CHECK_OR_RETURN_FALSE(padding.size() == static_cast<size_t>(2 * n),
                           "%zu numbers for %" PRId64 " dimensions", padding.size(), n);
  ET_CHECK_OR_RETURN_FALSE(in.dim() == n + 1 || in.dim() == n + 2,
                           "%zd dimensions, of which %" PRId64 " are padded", ssize_t(in.dim()), n);
  if (!tensors_have_same_dtype(in, out)) {
    return false;
  }
  for (int64_t i = 1; i <= n; ++i) {
    const int64_t size = in.size(static_cast<ssize_t>(in.dim() - i));
    const int64_t left = padding[static_cast<size_t>(2 * i - 2)];
    const int64_t right = padding[static_cast<size_t>(2 * i - 1)];
    ET_CHECK_OR_RETURN_FALSE(size + left + right >= 0,
                             "padding (%" PRId64 ", %" PRId64 ") of size %" PRId64, left, right,
                             size);
    ET_CHECK_OR_RETURN_FALSE(!reflection || (left < size && right < size),
                             "padding (%" PRId64 ", %" PRId64 ") reflected in size %" PRId64, left,
                             right, size);
  }
  return true;
}
inline void get_padding_out_target_size(int64_t n, const Tensor& in, ArrayRef<int64_t> padding,
                                        Tensor::SizesType* out_sizes, size_t* out_ndim) {
  *out_ndim = static_cast<size_t>(in.dim());
  for (size_t d = 0; d < *out_ndim; ++d) {
    out_sizes[d] = in.sizes()[d];
  }
  for (int64_t i = 1; i <= n; ++i) {
    out_sizes[in.dim() - i] += static_cast<Tensor::SizesType>(
        padding[static_cast<size_t>(2 * i - 2)] + padding[static_cast<size_t>(2 * i - 1)]);
  }
}

/// Which of `size` elements stands at place `j` of the output.
inline int64_t replication_ix(int64_t j, int64_t size, int64_t pad) {
  const int64_t i = j - pad;
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}
inline int64_t reflection_ix(int64_t j, int64_t size, int64_t pad) {
  const int64_t i = j - pad;
  return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
}

namespace internal {
/// The last `n` dimensions, others as they are.
template <typename CTYPE, typename PaddingIx>
void pad(int64_t n, const PaddingIx& padding_ix, const Tensor& in, Tensor& out,
         ArrayRef<int64_t> padding) {
  const CTYPE* const from = in.const_data_ptr<CTYPE>();
  CTYPE* const to = out.mutable_data_ptr<CTYPE>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    int64_t rest = i;
    int64_t position = 0;
    int64_t stride = 1;
    for (ssize_t d = in.dim(); d-- > 0;) {
      const int64_t size = in.size(d);
      int64_t j = rest % out.size(d);
      rest /= out.size(d);
      const ssize_t padded = in.dim() - 1 - d;
      if (padded < n) {
        j = padding_ix(j, size, padding[static_cast<size_t>(2 * padded)]);
      }
      position += j * stride;
      stride *= size;
    }
    to[i] = from[position];
  }
}
}  // namespace internal

template <typename CTYPE, typename PaddingIx>
void pad1d(const PaddingIx& padding_ix, const Tensor& in, Tensor& out, ArrayRef<int64_t> padding) {
  internal::pad<CTYPE>(1, padding_ix, in, out, padding);
}
template <typename CTYPE, typename PaddingIx>
void pad2d(const PaddingIx& padding_ix, const Tensor& in, Tensor& out, ArrayRef<int64_t> padding) {
  internal::pad<CTYPE>(2, padding_ix, in, out, padding);
}
template <typename CTYPE, typename PaddingIx>
void pad3d(const PaddingIx& padding_ix, const Tensor& in, Tensor& out, ArrayRef<int64_t> padding) {
  internal::pad<CTYPE>(3, padding_ix, in, out, padding);
}

}  // namespace executor
}  // namespace torch
