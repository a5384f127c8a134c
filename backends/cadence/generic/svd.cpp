// SPDX-License-Identifier: BSD-3-Clause
// The decomposition into singular values: one-sided Jacobi, in the memory of the results.
#include <cstring>
#include <tuple>

#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/quantized_values.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;

namespace {

// `count` vectors of `length` floats in a matrix: its rows, or its columns.
struct Vectors {
  float* base;
  int64_t count, length, step, element;

  float& at(int64_t vector, int64_t place) const { return base[vector * step + place * element]; }

  double dot(int64_t i, int64_t j) const {
    double total = 0;
    for (int64_t k = 0; k < length; ++k) {
      total += static_cast<double>(at(i, k)) * static_cast<double>(at(j, k));
    }
    return total;
  }
  void rotate(int64_t i, int64_t j, double cosine, double sine) const {
    for (int64_t k = 0; k < length; ++k) {
      const double x = at(i, k), y = at(j, k);
      at(i, k) = static_cast<float>(cosine * x - sine * y);
      at(j, k) = static_cast<float>(sine * x + cosine * y);
    }
  }
  void scale(int64_t i, double factor) const {
    for (int64_t k = 0; k < length; ++k) {
      at(i, k) = static_cast<float>(at(i, k) * factor);
    }
  }
  void swap(int64_t i, int64_t j) const {
    for (int64_t k = 0; k < length; ++k) {
      const float x = at(i, k);
      at(i, k) = at(j, k);
      at(j, k) = x;
    }
  }
};

// Turns vectors until each two are orthogonal, and `turned` with them.
void make_orthogonal(const Vectors& vectors, const Vectors& turned) {
  constexpr int32_t kMaxSweeps = 60;
  const int64_t count = turned.count;
  for (int32_t sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool is_done = true;
    for (int64_t i = 0; i + 1 < count; ++i) {
      for (int64_t j = i + 1; j < count; ++j) {
        const double a = vectors.dot(i, i), b = vectors.dot(j, j), c = vectors.dot(i, j);
        if (std::abs(c) <= 1e-8 * std::sqrt(a * b)) {
          continue;
        }
        is_done = false;
        const double zeta = (b - a) / (2 * c);
        const double tangent = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent);
        vectors.rotate(i, j, cosine, cosine * tangent);
        turned.rotate(i, j, cosine, cosine * tangent);
      }
    }
    if (is_done) {
      return;
    }
  }
}

// A vector of length 1 that is orthogonal to those before it: the first axis of which enough is
// left.
void complete(const Vectors& vectors, int64_t vector) {
  for (int64_t axis = 0; axis < vectors.length; ++axis) {
    for (int64_t k = 0; k < vectors.length; ++k) {
      vectors.at(vector, k) = k == axis ? 1 : 0;
    }
    for (int32_t again = 0; again < 2; ++again) {
      for (int64_t i = 0; i < vector; ++i) {
        const double share = vectors.dot(vector, i);
        for (int64_t k = 0; k < vectors.length; ++k) {
          vectors.at(vector, k) -= static_cast<float>(share * vectors.at(i, k));
        }
      }
    }
    const double size = std::sqrt(vectors.dot(vector, vector));
    if (size * size * static_cast<double>(vectors.length) > 0.5) {
      vectors.scale(vector, 1 / size);
      return;
    }
  }
}

// Largest first; the largest value of each column of U is positive.
void order(const Vectors& vectors, const Vectors& turned, const Vectors& left, float* values) {
  const int64_t count = turned.count;
  for (int64_t i = 0; i < count; ++i) {
    int64_t largest = i;
    for (int64_t j = i + 1; j < count; ++j) {
      largest = vectors.dot(j, j) > vectors.dot(largest, largest) ? j : largest;
    }
    vectors.swap(i, largest);
    turned.swap(i, largest);
    const double size = std::sqrt(vectors.dot(i, i));
    values[i] = static_cast<float>(size);
    if (size > 0) {
      vectors.scale(i, 1 / size);
    } else {
      complete(vectors, i);
    }
    int64_t most = 0;
    for (int64_t k = 1; k < left.length; ++k) {
      most = std::abs(left.at(i, k)) > std::abs(left.at(i, most)) ? k : most;
    }
    if (left.at(i, most) < 0) {
      vectors.scale(i, -1);
      turned.scale(i, -1);
    }
  }
}

struct Shape {
  int64_t rows, columns, left, right;  // of A, U's columns, Vh's rows

  int64_t count() const { return rows < columns ? rows : columns; }
};

// The longer vectors of A, its columns or its rows, become those of U or of Vh.
void decompose(const Shape& shape, const float* a, float* u, float* s, float* vh) {
  const int64_t count = shape.count();
  const Vectors left{u, count, shape.rows, 1, shape.left};
  const Vectors right{vh, count, shape.columns, shape.columns, 1};
  const bool is_tall = shape.rows >= shape.columns;
  const Vectors& vectors = is_tall ? left : right;
  const Vectors& turned = is_tall ? right : left;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < vectors.length; ++k) {
      vectors.at(i, k) = is_tall ? a[k * shape.columns + i] : a[i * shape.columns + k];
    }
    for (int64_t k = 0; k < turned.length; ++k) {
      turned.at(i, k) = i == k ? 1 : 0;
    }
  }
  make_orthogonal(vectors, turned);
  order(vectors, turned, left, s);
  for (int64_t i = count; i < (is_tall ? shape.left : shape.right); ++i) {
    complete(vectors, i);
  }
}

bool take_sizes(const Tensor& A, const Shape& shape, Tensor& U, Tensor& S, Tensor& Vh) {
  Sizes sizes[3];
  for (Sizes& each : sizes) {
    each.add_leading(A, A.dim() - 2);
  }
  sizes[0].add(shape.rows);
  sizes[0].add(shape.left);
  sizes[1].add(shape.count());
  sizes[2].add(shape.right);
  sizes[2].add(shape.columns);
  return sizes[0].take(U) && sizes[1].take(S) && sizes[2].take(Vh);
}

bool is_float(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Float;
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> linalg_svd_out(
    KernelRuntimeContext& context, const Tensor& A, bool full_matrices, bool compute_uv,
    executorch::aten::optional<executorch::aten::string_view> /*driver*/, Tensor& U, Tensor& S,
    Tensor& Vh) {
  std::tuple<Tensor&, Tensor&, Tensor&> out(U, S, Vh);
  CADENCE_CHECK(compute_uv && A.dim() >= 2 && is_contiguous(A) && is_float(A) && is_float(U) &&
                    is_float(S) && is_float(Vh),
                "linalg_svd: expected contiguous float32 matrices, and U and Vh to be computed");
  const int64_t rows = A.size(A.dim() - 2), columns = A.size(A.dim() - 1);
  const int64_t count = rows < columns ? rows : columns;
  const Shape shape{rows, columns, full_matrices ? rows : count, full_matrices ? columns : count};
  CADENCE_CHECK(count > 0 && take_sizes(A, shape, U, S, Vh),
                "linalg_svd: expected outputs of the sizes of U, S and Vh");
  for (int64_t i = 0; i < A.numel() / (rows * columns); ++i) {
    decompose(shape, A.const_data_ptr<float>() + i * rows * columns,
              U.mutable_data_ptr<float>() + i * rows * shape.left,
              S.mutable_data_ptr<float>() + i * count,
              Vh.mutable_data_ptr<float>() + i * shape.right * columns);
  }
  return out;
}

}  // namespace impl::generic::native
