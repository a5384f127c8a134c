// SPDX-License-Identifier: BSD-3-Clause
// Matmuls, as the readable reference: four rows by a chunk of columns at a time, in the
// compute type.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cinttypes>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// A matrix inside a tensor: sizes and strides in elements from `offset`.
struct Matrix {
  const Tensor& tensor;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
  int64_t offset = 0;
};

Matrix matrix_of(const Tensor& tensor, int first_dim = 0) {
  return {tensor, tensor.sizes()[first_dim], tensor.sizes()[first_dim + 1],
          tensor.strides()[first_dim], tensor.strides()[first_dim + 1]};
}

// out = alpha * a @ b + beta * addend. The addend broadcasts, its absent dimensions having stride
// 0.
struct Epilogue {
  const Tensor* addend = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
  Scalar alpha = Scalar(static_cast<int64_t>(1));
  Scalar beta = Scalar(static_cast<int64_t>(1));
};

// Adds a tensor of at most two dimensions, which broadcasts to the result.
Epilogue adding(const Tensor& addend) {
  Epilogue epilogue;
  epilogue.addend = &addend;
  const int64_t last = addend.dim() - 1;
  epilogue.col_stride = last >= 0 && addend.sizes()[last] != 1 ? addend.strides()[last] : 0;
  epilogue.row_stride = last >= 1 && addend.sizes()[last - 1] != 1 ? addend.strides()[last - 1] : 0;
  return epilogue;
}

constexpr int64_t kRows = 4;

// acc[r][j] = sum over k of a[i + r][k] * b[k][j0 + j], along rows of b.
template <typename C>
void multiply_by_rows(const StridedReader<C>& a_reader, const Matrix& a,
                      const StridedReader<C>& b_reader, const Matrix& b, int64_t i, int64_t rows,
                      int64_t j0, int64_t n, C (*acc)[kChunk]) {
  C b_buffer[kChunk];
  for (int64_t k = 0; k < a.cols; ++k) {
    const C* b_row =
        b_reader.read(b.offset + k * b.row_stride + j0 * b.col_stride, b.col_stride, n, b_buffer);
    for (int64_t r = 0; r < rows; ++r) {
      const C factor = a_reader.at(a.offset + (i + r) * a.row_stride + k * a.col_stride);
      C* __restrict sums = acc[r];
      for (int64_t j = 0; j < n; ++j) {
        sums[j] = wrap_add(sums[j], wrap_mul(factor, b_row[j]));
      }
    }
  }
}

template <typename C>
C dot(const C* a, const C* b, int64_t n) {
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      lanes[k] = wrap_add(lanes[k], wrap_mul(a[i + k], b[i + k]));
    }
  }
  C sum = 0;
  for (; i < n; ++i) {
    sum = wrap_add(sum, wrap_mul(a[i], b[i]));
  }
  for (int k = 0; k < kLanes; ++k) {
    sum = wrap_add(sum, lanes[k]);
  }
  return sum;
}

// The same where columns of b are dense, as a transposed weight's are.
template <typename C>
void multiply_by_columns(const StridedReader<C>& a_reader, const Matrix& a,
                         const StridedReader<C>& b_reader, const Matrix& b, int64_t i, int64_t rows,
                         int64_t j0, int64_t n, C (*acc)[kChunk]) {
  C a_buffer[kRows][kChunk];
  C b_buffer[kChunk];
  for (int64_t k0 = 0; k0 < a.cols; k0 += kChunk) {
    const int64_t depth = std::min(kChunk, a.cols - k0);
    const C* a_rows[kRows];
    for (int64_t r = 0; r < rows; ++r) {
      a_rows[r] = a_reader.read(a.offset + (i + r) * a.row_stride + k0 * a.col_stride, a.col_stride,
                                depth, a_buffer[r]);
    }
    for (int64_t j = 0; j < n; ++j) {
      const C* b_col = b_reader.read(b.offset + (j0 + j) * b.col_stride + k0 * b.row_stride,
                                     b.row_stride, depth, b_buffer);
      for (int64_t r = 0; r < rows; ++r) {
        acc[r][j] = wrap_add(acc[r][j], dot(a_rows[r], b_col, depth));
      }
    }
  }
}

template <typename C>
void multiply(const Matrix& a, const Matrix& b, const Epilogue& epilogue, const Matrix& out) {
  const StridedReader<C> a_reader(a.tensor);
  const StridedReader<C> b_reader(b.tensor);
  const StridedWriter<C> writer(out.tensor);
  const StridedReader<C> addend(epilogue.addend != nullptr ? *epilogue.addend : a.tensor);
  const C alpha = scalar_to<C>(epilogue.alpha);
  const C beta = scalar_to<C>(epilogue.beta);
  const bool adds = epilogue.addend != nullptr && beta != C(0);
  const bool by_columns = b.row_stride == 1 && b.col_stride != 1;
  C acc[kRows][kChunk];
  C addend_buffer[kChunk];
  for (int64_t i = 0; i < out.rows; i += kRows) {
    const int64_t rows = std::min(kRows, out.rows - i);
    for (int64_t j0 = 0; j0 < out.cols; j0 += kChunk) {
      const int64_t n = std::min(kChunk, out.cols - j0);
      std::fill_n(&acc[0][0], kRows * kChunk, C(0));
      if (by_columns) {
        multiply_by_columns(a_reader, a, b_reader, b, i, rows, j0, n, acc);
      } else {
        multiply_by_rows(a_reader, a, b_reader, b, i, rows, j0, n, acc);
      }
      for (int64_t r = 0; r < rows; ++r) {
        if (adds) {
          const C* values = addend.read((i + r) * epilogue.row_stride + j0 * epilogue.col_stride,
                                        epilogue.col_stride, n, addend_buffer);
          for (int64_t j = 0; j < n; ++j) {
            acc[r][j] = wrap_add(wrap_mul(alpha, acc[r][j]), wrap_mul(beta, values[j]));
          }
        } else if (alpha != C(1)) {
          for (int64_t j = 0; j < n; ++j) {
            acc[r][j] = wrap_mul(alpha, acc[r][j]);
          }
        }
        writer.write(out.offset + (i + r) * out.row_stride + j0 * out.col_stride, out.col_stride, n,
                     acc[r]);
      }
    }
  }
}

bool check_matmul(const OpCall& call, const Tensor& a, const Tensor& b, const Tensor& out,
                  int64_t depth_a, int64_t depth_b) {
  ET_KERNEL_CHECK_MSG(call.ctx, depth_a == depth_b, InvalidArgument, false,
                      "%s: expected equal inner sizes, found %" PRId64 " and %" PRId64, call.op,
                      static_cast<int64_t>(depth_a), static_cast<int64_t>(depth_b));
  return check_number(call, "self", a) && check_same_dtype(call, "mat2", b, "self", a) &&
         check_same_dtype(call, "out", out, "self", a);
}

void run(const Matrix& a, const Matrix& b, const Epilogue& epilogue, const Matrix& out) {
  with_number_type<true>(compute_type_of(out.tensor.scalar_type()),
                         [&](auto zero) { multiply<decltype(zero)>(a, b, epilogue, out); });
}

bool resize_matrix(const OpCall& call, Tensor& out, int64_t rows, int64_t cols) {
  Shape shape;
  shape.push(rows);
  shape.push(cols);
  return resize_output(call, out, shape);
}

}  // namespace

Tensor& mm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2, Tensor& out) {
  const OpCall call{ctx, "mm.out"};
  if (check_rank(call, "self", self, 2) && check_rank(call, "mat2", mat2, 2) &&
      check_matmul(call, self, mat2, out, self.sizes()[1], mat2.sizes()[0]) &&
      resize_matrix(call, out, self.sizes()[0], mat2.sizes()[1])) {
    run(matrix_of(self), matrix_of(mat2), {}, matrix_of(out));
  }
  return out;
}

Tensor& _int_mm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2,
                    Tensor& out) {
  const OpCall call{ctx, "_int_mm.out"};
  if (!check_rank(call, "self", self, 2) || !check_rank(call, "mat2", mat2, 2) ||
      !check_count(call, "rows of mat2", mat2.sizes()[0], self.sizes()[1])) {
    return out;
  }
  const ScalarType type = self.scalar_type();
  ET_KERNEL_CHECK_MSG(
      ctx,
      (type == ScalarType::Char || type == ScalarType::Byte) &&
          mat2.scalar_type() == ScalarType::Char && out.scalar_type() == ScalarType::Int,
      InvalidArgument, out,
      "_int_mm.out: expected self of Char or Byte, mat2 of Char and out of Int, found %s, %s, %s",
      ::executorch::runtime::toString(self.scalar_type()),
      ::executorch::runtime::toString(mat2.scalar_type()),
      ::executorch::runtime::toString(out.scalar_type()));
  if (resize_matrix(call, out, self.sizes()[0], mat2.sizes()[1])) {
    run(matrix_of(self), matrix_of(mat2), {}, matrix_of(out));
  }
  return out;
}

Tensor& bmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2, Tensor& out) {
  const OpCall call{ctx, "bmm.out"};
  if (!check_rank(call, "self", self, 3) || !check_rank(call, "mat2", mat2, 3) ||
      !check_matmul(call, self, mat2, out, self.sizes()[2], mat2.sizes()[1])) {
    return out;
  }
  const int64_t batches = self.sizes()[0];
  ET_KERNEL_CHECK_MSG(ctx, mat2.sizes()[0] == batches, InvalidArgument, out,
                      "bmm.out: expected %" PRId64 " matrices in mat2, found %" PRId64,
                      static_cast<int64_t>(batches), static_cast<int64_t>(mat2.sizes()[0]));
  Shape shape;
  shape.push(batches);
  shape.push(self.sizes()[1]);
  shape.push(mat2.sizes()[2]);
  if (!resize_output(call, out, shape)) {
    return out;
  }
  Matrix a = matrix_of(self, 1);
  Matrix b = matrix_of(mat2, 1);
  Matrix to = matrix_of(out, 1);
  for (int64_t i = 0; i < batches; ++i) {
    a.offset = i * self.strides()[0];
    b.offset = i * mat2.strides()[0];
    to.offset = i * out.strides()[0];
    run(a, b, {}, to);
  }
  return out;
}

Tensor& addmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat1,
                  const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const OpCall call{ctx, "addmm.out"};
  if (!check_rank(call, "mat1", mat1, 2) || !check_rank(call, "mat2", mat2, 2) ||
      !check_matmul(call, mat1, mat2, out, mat1.sizes()[1], mat2.sizes()[0]) ||
      !check_same_dtype(call, "self", self, "mat1", mat1) ||
      !resize_matrix(call, out, mat1.sizes()[0], mat2.sizes()[1])) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, broadcasts_to(Shape(self), Shape(out)), InvalidArgument, out,
                      "addmm.out: expected self to broadcast to the product's shape, found %s",
                      ShapeText(self).text);
  Epilogue epilogue = adding(self);
  epilogue.alpha = alpha;
  epilogue.beta = beta;
  run(matrix_of(mat1), matrix_of(mat2), epilogue, matrix_of(out));
  return out;
}

Tensor& linear_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, Tensor& out) {
  const OpCall call{ctx, "linear.out"};
  ET_KERNEL_CHECK_MSG(
      ctx, input.dim() >= 1 && (input.dim() == 2 || is_row_major(input)), InvalidArgument, out,
      "linear.out: expected input with at least 1 dim in row-major order, found %d dims",
      static_cast<int>(input.dim()));
  const int64_t depth = input.sizes()[input.dim() - 1];
  // A weight of rank 1 is one row, and its dimension is left out of the result.
  const bool is_row = weight.dim() == 1;
  ET_KERNEL_CHECK_MSG(ctx, is_row || weight.dim() == 2, InvalidArgument, out,
                      "linear.out: expected 1 or 2 dims for weight, found %d",
                      static_cast<int>(weight.dim()));
  const int64_t last = weight.dim() - 1;
  if (!check_matmul(call, input, weight, out, depth, weight.sizes()[last])) {
    return out;
  }
  const int64_t cols = is_row ? 1 : weight.sizes()[0];
  Shape shape(input);
  shape.sizes[shape.ndim - 1] = cols;
  shape.ndim -= is_row ? 1 : 0;
  if ((bias.has_value() && !check_same_dtype(call, "bias", *bias, "input", input)) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, (out.dim() == 2 && !is_row) || is_row_major(out), InvalidArgument, out,
                      "linear.out: expected out in row-major order, found another order");
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < input.dim(); ++d) {
    rows *= input.sizes()[d];
  }
  Shape product;
  product.push(rows);
  product.push(cols);
  ET_KERNEL_CHECK_MSG(
      ctx,
      !bias.has_value() ||
          (broadcasts_to(Shape(*bias), product) && (bias->dim() <= 1 || input.dim() == 2)),
      InvalidArgument, out,
      "linear.out: expected bias to broadcast to rows of %" PRId64 " elements, found %s",
      static_cast<int64_t>(cols), ShapeText(*bias).text);
  const Epilogue epilogue = bias.has_value() ? adding(*bias) : Epilogue();
  const Matrix transposed{weight, depth, cols, weight.strides()[last], weight.strides()[0]};
  const Matrix from = input.dim() == 2 ? matrix_of(input) : Matrix{input, rows, depth, depth, 1};
  const Matrix to = out.dim() == 2 && !is_row ? matrix_of(out) : Matrix{out, rows, cols, cols, 1};
  run(from, transposed, epilogue, to);
  return out;
}

}  // namespace torch::executor::native
