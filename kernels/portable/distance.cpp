// SPDX-License-Identifier: BSD-3-Clause
// Distances between rows in the p-norm: all pairs of two sets, and pairs within one.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <limits>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

template <typename C>
struct Rows {
  StridedReader<C> reader;
  int64_t row_stride;
  int64_t col_stride;
  int64_t offset;
};

template <typename C>
C distance(const Rows<C>& a, int64_t i, const Rows<C>& b, int64_t k, int64_t length, double p) {
  double total = 0;
  for (int64_t c = 0; c < length; ++c) {
    const double x = a.reader.at(a.offset + i * a.row_stride + c * a.col_stride);
    const double y = b.reader.at(b.offset + k * b.row_stride + c * b.col_stride);
    const double difference = std::fabs(x - y);
    if (p == 0) {
      total += difference != difference ? difference : difference != 0;
    } else if (p == 1) {
      total += difference;
    } else if (p == 2) {
      total += difference * difference;
    } else if (std::isinf(p)) {
      total = difference > total || difference != difference ? difference : total;
    } else {
      total += std::pow(difference, p);
    }
  }
  const bool rooted = p != 0 && p != 1 && !std::isinf(p);
  return static_cast<C>(!rooted ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p));
}

bool check_order(const OpCall& call, double p) {
  ET_KERNEL_CHECK_MSG(call.ctx, p >= 0, InvalidArgument, false, "%s: expected p >= 0, found %g",
                      call.op, p);
  return true;
}

}  // namespace

Tensor& _cdist_forward_out(KernelRuntimeContext& ctx, const Tensor& x1, const Tensor& x2, double p,
                           std::optional<int64_t> compute_mode, Tensor& out) {
  const OpCall call{ctx, "_cdist_forward.out"};
  // 0 to 2 say whether matmuls are used; here they are not.
  ET_KERNEL_CHECK_MSG(ctx, compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2,
                      InvalidArgument, out,
                      "_cdist_forward.out: expected compute_mode 0, 1 or 2, found %" PRId64,
                      static_cast<int64_t>(*compute_mode));
  const int rank1 = static_cast<int>(x1.dim());
  const int rank2 = static_cast<int>(x2.dim());
  ET_KERNEL_CHECK_MSG(ctx,
                      rank1 >= 2 && rank2 >= 2 && x1.sizes()[rank1 - 1] == x2.sizes()[rank2 - 1],
                      InvalidArgument, out,
                      "_cdist_forward.out: expected x1 and x2 of as many columns, found %s and %s",
                      ShapeText(x1).text, ShapeText(x2).text);
  Shape batch(x1);
  Shape batch2(x2);
  batch.ndim -= 2;
  batch2.ndim -= 2;
  if (!check_order(call, p) || !check_floating(call, "x1", x1) ||
      !check_same_dtype(call, "x2", x2, "x1", x1) ||
      !check_same_dtype(call, "out", out, "x1", x1) ||
      !broadcast_shapes(call, batch, batch2, batch)) {
    return out;
  }
  Shape shape = batch;
  const int64_t rows1 = x1.sizes()[rank1 - 2];
  const int64_t rows2 = x2.sizes()[rank2 - 2];
  shape.push(rows1);
  shape.push(rows2);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  int64_t strides[2][Shape::kMaxDims];
  const Tensor* tensors[2] = {&x1, &x2};
  for (int k = 0; k < 2; ++k) {
    const int64_t lead = batch.ndim - (tensors[k]->dim() - 2);
    for (int64_t d = 0; d < batch.ndim; ++d) {
      strides[k][d] = broadcast_stride(tensors[k]->sizes(), tensors[k]->strides(), d - lead);
    }
  }
  const StridedView to = StridedView::of(out);
  Odometer<3> odometer(batch.ndim, batch.sizes);
  odometer.set_strides(0, strides[0]);
  odometer.set_strides(1, strides[1]);
  odometer.set_strides(2, to.strides);
  with_float_compute_type(compute_type_of(x1.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedWriter<C> writer(out);
    Rows<C> a{StridedReader<C>(x1), x1.strides()[rank1 - 2], x1.strides()[rank1 - 1], 0};
    Rows<C> b{StridedReader<C>(x2), x2.strides()[rank2 - 2], x2.strides()[rank2 - 1], 0};
    for (int64_t n = batch.numel(); n > 0; --n, odometer.next()) {
      a.offset = odometer.offset(0);
      b.offset = odometer.offset(1);
      for (int64_t i = 0; i < rows1; ++i) {
        for (int64_t k = 0; k < rows2; ++k) {
          const int64_t at =
              odometer.offset(2) + i * to.strides[batch.ndim] + k * to.strides[batch.ndim + 1];
          writer.put(at, distance(a, i, b, k, x1.sizes()[rank1 - 1], p));
        }
      }
    }
  });
  return out;
}

Tensor& _pdist_forward_out(KernelRuntimeContext& ctx, const Tensor& self, double p, Tensor& out) {
  const OpCall call{ctx, "_pdist_forward.out"};
  if (!check_order(call, p) || !check_floating(call, "self", self) ||
      !check_rank(call, "self", self, 2) || !check_same_dtype(call, "out", out, "self", self)) {
    return out;
  }
  const int64_t rows = self.sizes()[0];
  Shape shape;
  shape.push(rows * (rows - 1) / 2);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  with_float_compute_type(compute_type_of(self.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedWriter<C> writer(out);
    const Rows<C> all{StridedReader<C>(self), self.strides()[0], self.strides()[1], 0};
    int64_t position = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = i + 1; k < rows; ++k) {
        writer.put(position++, distance(all, i, all, k, self.sizes()[1], p));
      }
    }
  });
  return out;
}

}  // namespace torch::executor::native
