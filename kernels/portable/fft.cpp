// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms of real and complex tensors: mixed radix, and Bluestein's convolution where a
// size has a large prime factor. Computed in double; sizes need no tables beyond temporary memory.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/temporary.h>

#include <cinttypes>
#include <cmath>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

struct Point {
  double re;
  double im;
};

Point operator+(Point a, Point b) {
  return {a.re + b.re, a.im + b.im};
}
Point operator*(Point a, Point b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Point conjugate(Point a) {
  return {a.re, -a.im};
}

// exp(-2 pi i * turns / size)
Point root(int64_t turns, int64_t size) {
  const double angle =
      -2.0 * 3.14159265358979323846 * static_cast<double>(turns % size) / static_cast<double>(size);
  return {std::cos(angle), std::sin(angle)};
}

constexpr int64_t kMaxRadix = 31;

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) {
      return p;
    }
  }
  return n;
}

bool has_small_factors(int64_t n) {
  while (n > 1) {
    const int64_t p = smallest_factor(n);
    if (p > kMaxRadix) {
      return false;
    }
    n /= p;
  }
  return true;
}

// A size whose factors are at most kMaxRadix, with its roots of unity.
struct Radix {
  int64_t size = 0;
  Point* roots = nullptr;

  // out[k] = sum over i of in[i * stride] * exp(-2 pi i k / n); n divides size.
  void run(const Point* in, int64_t stride, int64_t n, Point* out) const {
    if (n == 1) {
      out[0] = in[0];
      return;
    }
    const int64_t p = smallest_factor(n);
    const int64_t m = n / p;
    for (int64_t q = 0; q < p; ++q) {
      run(in + q * stride, stride * p, m, out + q * m);
    }
    const int64_t turn = size / n;
    for (int64_t k = 0; k < m; ++k) {
      Point parts[kMaxRadix];
      for (int64_t q = 0; q < p; ++q) {
        parts[q] = out[q * m + k] * roots[q * k * turn];
      }
      for (int64_t j = 0; j < p; ++j) {
        Point sum = parts[0];
        for (int64_t q = 1; q < p; ++q) {
          sum = sum + parts[q] * roots[q * j % p * (size / p)];
        }
        out[j * m + k] = sum;
      }
    }
  }
};

// The transform of one length. Bluestein: with c[k] = exp(-pi i k^2 / n), the spectrum is c times
// the convolution of c * x with 1 / c, done with transforms of a power of two.
class Fourier {
 public:
  // Takes temporary memory; fails when there is none.
  bool init(const OpCall& call, int64_t n) {
    n_ = n;
    direct_ = has_small_factors(n);
    radix_.size = n;
    if (!direct_) {
      radix_.size = 1;
      while (radix_.size < 2 * n - 1) {
        radix_.size *= 2;
      }
    }
    const int64_t m = radix_.size;
    const int64_t count = direct_ ? 3 * n : n + 4 * m;
    const size_t bytes = static_cast<size_t>(count) * sizeof(Point);
    line_ = static_cast<Point*>(temporary_.allocate(call, bytes, alignof(Point)));
    if (line_ == nullptr) {
      return false;
    }
    result_ = line_ + m;
    radix_.roots = result_ + m;
    for (int64_t i = 0; i < m; ++i) {
      radix_.roots[i] = root(i, m);
    }
    if (!direct_) {
      filter_ = radix_.roots + m;
      chirp_ = filter_ + m;
      make_filter();
    }
    return true;
  }

  // Where the n elements to transform are put.
  Point* line() { return line_; }

  // The n transformed elements.
  const Point* forward() {
    if (direct_) {
      radix_.run(line_, 1, n_, result_);
      return result_;
    }
    const int64_t m = radix_.size;
    for (int64_t i = 0; i < m; ++i) {
      line_[i] = i < n_ ? line_[i] * chirp_[i] : Point{0, 0};
    }
    radix_.run(line_, 1, m, result_);
    for (int64_t i = 0; i < m; ++i) {
      line_[i] = conjugate(result_[i] * filter_[i]);
    }
    radix_.run(line_, 1, m, result_);
    for (int64_t i = 0; i < n_; ++i) {
      result_[i] = conjugate(result_[i]) * chirp_[i];
    }
    return result_;
  }

  // The inverse transform, not scaled.
  const Point* backward() {
    for (int64_t i = 0; i < n_; ++i) {
      line_[i] = conjugate(line_[i]);
    }
    forward();
    for (int64_t i = 0; i < n_; ++i) {
      result_[i] = conjugate(result_[i]);
    }
    return result_;
  }

 private:
  // The transform of 1 / c, scaled by 1 / size for the way back.
  void make_filter() {
    const int64_t m = radix_.size;
    std::memset(static_cast<void*>(line_), 0, static_cast<size_t>(m) * sizeof(Point));
    for (int64_t i = 0; i < n_; ++i) {
      chirp_[i] = root(i * i, 2 * n_);
      line_[i] = conjugate(chirp_[i]);
      line_[i == 0 ? 0 : m - i] = line_[i];
    }
    radix_.run(line_, 1, m, filter_);
    for (int64_t i = 0; i < m; ++i) {
      filter_[i] = filter_[i] * Point{1.0 / static_cast<double>(m), 0};
    }
  }

  Temporary temporary_;
  int64_t n_ = 0;
  bool direct_ = true;
  Radix radix_;
  Point* line_ = nullptr;
  Point* result_ = nullptr;
  Point* filter_ = nullptr;
  Point* chirp_ = nullptr;
};

// Elements of Float, Double, ComplexFloat or ComplexDouble memory as points, and back.
struct Elements {
  char* data;
  bool is_double;
  int width;  // numbers in an element: 1 or 2

  static Elements of(const Tensor& tensor) {
    const ScalarType type = tensor.scalar_type();
    return {StridedView::of(tensor).data,
            type == ScalarType::Double || type == ScalarType::ComplexDouble,
            ::executorch::runtime::isComplexType(type) ? 2 : 1};
  }
  Point get(int64_t offset) const {
    return {number(offset, 0), width == 2 ? number(offset, 1) : 0};
  }
  void put(int64_t offset, Point value) const {
    const double numbers[2] = {value.re, value.im};
    for (int k = 0; k < width; ++k) {
      if (is_double) {
        reinterpret_cast<double*>(data)[offset * width + k] = numbers[k];
      } else {
        reinterpret_cast<float*>(data)[offset * width + k] = static_cast<float>(numbers[k]);
      }
    }
  }

 private:
  double number(int64_t offset, int k) const {
    return is_double ? reinterpret_cast<const double*>(data)[offset * width + k]
                     : reinterpret_cast<const float*>(data)[offset * width + k];
  }
};

// Two tensors that differ in the size of one dimension only, visited line by line along it.
struct Lines {
  StridedView from;
  StridedView to;
  int dim;

  // Calls body(offset in from, offset in to) for each line.
  template <typename Body>
  void for_each(const Body& body) const {
    StridedView outer = to;
    outer.sizes[dim] = 1;
    Odometer<2> odometer(outer.ndim, outer.sizes);
    odometer.set_strides(0, from.strides);
    odometer.set_strides(1, to.strides);
    for (int64_t i = outer.numel(); i > 0; --i, odometer.next()) {
      body(odometer.offset(0), odometer.offset(1));
    }
  }
};

// Transforms dimension `dim` of complex elements in place.
bool transform_in_place(const OpCall& call, const Elements& elements, const StridedView& view,
                        int dim, bool inverse) {
  const int64_t n = view.sizes[dim];
  const int64_t step = view.strides[dim];
  Fourier fourier;
  if (!fourier.init(call, n)) {
    return false;
  }
  Lines{view, view, dim}.for_each([&](int64_t start, int64_t) {
    for (int64_t i = 0; i < n; ++i) {
      fourier.line()[i] = elements.get(start + i * step);
    }
    const Point* result = inverse ? fourier.backward() : fourier.forward();
    for (int64_t i = 0; i < n; ++i) {
      elements.put(start + i * step, result[i]);
    }
  });
  return true;
}

// Normalised dimensions, the last of which is the one that is real on one side.
struct Dims {
  int count = 0;
  int dims[Shape::kMaxDims];

  int last() const { return dims[count - 1]; }
};

bool make_dims(const OpCall& call, const Tensor& self, IntArrayRef dim, Dims& dims) {
  ET_KERNEL_CHECK_MSG(call.ctx, dim.size() > 0 && dim.size() <= static_cast<size_t>(self.dim()),
                      InvalidArgument, false, "%s: expected 1 to %d entries of dim, found %zu",
                      call.op, static_cast<int>(self.dim()), dim.size());
  bool seen[Shape::kMaxDims] = {};
  for (int64_t d : dim) {
    if (!normalize_dim(call, "dim", self.dim(), d)) {
      return false;
    }
    ET_KERNEL_CHECK_MSG(call.ctx, !seen[d] && self.sizes()[d] > 0, InvalidArgument, false,
                        "%s: expected different dims with elements, found %d twice or empty",
                        call.op, static_cast<int>(d));
    seen[d] = true;
    dims.dims[dims.count++] = static_cast<int>(d);
  }
  return true;
}

// 0: none, 1: by the square root of the number of elements, 2: by their number.
bool make_scale(const OpCall& call, int64_t normalization, const Shape& signal, const Dims& dims,
                double& scale) {
  ET_KERNEL_CHECK_MSG(call.ctx, normalization >= 0 && normalization <= 2, InvalidArgument, false,
                      "%s: expected normalization 0, 1 or 2, found %" PRId64, call.op,
                      normalization);
  double count = 1;
  for (int k = 0; k < dims.count; ++k) {
    count *= static_cast<double>(signal[dims.dims[k]]);
  }
  scale = normalization == 0 ? 1.0 : normalization == 1 ? 1.0 / std::sqrt(count) : 1.0 / count;
  return true;
}

bool check_pair(const OpCall& call, const Tensor& real, const Tensor& complex) {
  const bool fits = (real.scalar_type() == ScalarType::Float &&
                     complex.scalar_type() == ScalarType::ComplexFloat) ||
                    (real.scalar_type() == ScalarType::Double &&
                     complex.scalar_type() == ScalarType::ComplexDouble);
  ET_KERNEL_CHECK_MSG(
      call.ctx, fits, InvalidArgument, false,
      "%s: expected Float and ComplexFloat, or Double and ComplexDouble; found %s and %s", call.op,
      ::executorch::runtime::toString(real.scalar_type()),
      ::executorch::runtime::toString(complex.scalar_type()));
  return true;
}

}  // namespace

Tensor& _fft_r2c_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                     int64_t normalization, bool onesided, Tensor& out) {
  const OpCall call{ctx, "_fft_r2c.out"};
  Dims dims;
  double scale = 1;
  if (!check_pair(call, self, out) || !make_dims(call, self, dim, dims) ||
      !make_scale(call, normalization, Shape(self), dims, scale)) {
    return out;
  }
  const int64_t n = self.sizes()[dims.last()];
  Shape shape(self);
  shape.sizes[dims.last()] = onesided ? n / 2 + 1 : n;
  Fourier fourier;
  if (!resize_output(call, out, shape) || !fourier.init(call, n)) {
    return out;
  }
  const Elements from = Elements::of(self);
  const Elements to = Elements::of(out);
  const Lines lines{StridedView::of(self), StridedView::of(out), dims.last()};
  lines.for_each([&](int64_t in, int64_t at) {
    for (int64_t i = 0; i < n; ++i) {
      fourier.line()[i] = from.get(in + i * lines.from.strides[lines.dim]);
    }
    const Point* result = fourier.forward();
    for (int64_t i = 0; i < shape[lines.dim]; ++i) {
      to.put(at + i * lines.to.strides[lines.dim], result[i] * Point{scale, 0});
    }
  });
  for (int k = 0; k + 1 < dims.count; ++k) {
    if (!transform_in_place(call, to, lines.to, dims.dims[k], /*inverse=*/false)) {
      return out;
    }
  }
  return out;
}

Tensor& _fft_c2r_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                     int64_t normalization, int64_t last_dim_size, Tensor& out) {
  const OpCall call{ctx, "_fft_c2r.out"};
  Dims dims;
  double scale = 1;
  if (!check_pair(call, out, self) || !make_dims(call, self, dim, dims)) {
    return out;
  }
  const int64_t n = last_dim_size;
  const int64_t given = self.sizes()[dims.last()];
  ET_KERNEL_CHECK_MSG(ctx, n > 0 && n / 2 + 1 <= given, InvalidArgument, out,
                      "_fft_c2r.out: expected last_dim_size in [1, %" PRId64 "], found %" PRId64,
                      static_cast<int64_t>(2 * given - 1), n);
  Shape shape(self);
  shape.sizes[dims.last()] = n;
  Fourier fourier;
  if (!make_scale(call, normalization, shape, dims, scale) || !resize_output(call, out, shape) ||
      !fourier.init(call, n)) {
    return out;
  }
  Elements from = Elements::of(self);
  Temporary copy;
  if (dims.count > 1) {
    from.data = static_cast<char*>(copy.allocate(call, self.nbytes(), alignof(Point)));
    if (from.data == nullptr) {
      return out;
    }
    std::memcpy(from.data, self.const_data_ptr(), self.nbytes());
  }
  const Lines lines{StridedView::of(self), StridedView::of(out), dims.last()};
  for (int k = 0; k + 1 < dims.count; ++k) {
    if (!transform_in_place(call, from, lines.from, dims.dims[k], /*inverse=*/true)) {
      return out;
    }
  }
  const Elements to = Elements::of(out);
  lines.for_each([&](int64_t in, int64_t at) {
    for (int64_t i = 0; i < n; ++i) {
      const bool mirrored = i > n / 2;
      const Point value = from.get(in + (mirrored ? n - i : i) * lines.from.strides[lines.dim]);
      fourier.line()[i] = mirrored ? conjugate(value) : value;
    }
    const Point* result = fourier.backward();
    for (int64_t i = 0; i < n; ++i) {
      to.put(at + i * lines.to.strides[lines.dim], {result[i].re * scale, 0});
    }
  });
  return out;
}

Tensor& _fft_c2c_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                     int64_t normalization, bool forward, Tensor& out) {
  const OpCall call{ctx, "_fft_c2c.out"};
  const ScalarType type = self.scalar_type();
  ET_KERNEL_CHECK_MSG(
      ctx,
      type == out.scalar_type() &&
          (type == ScalarType::ComplexFloat || type == ScalarType::ComplexDouble),
      InvalidArgument, out,
      "_fft_c2c.out: expected ComplexFloat or ComplexDouble for self and out; found %s and %s",
      ::executorch::runtime::toString(type), ::executorch::runtime::toString(out.scalar_type()));
  Dims dims;
  double scale = 1;
  const Shape shape(self);
  if (!make_dims(call, self, dim, dims) || !make_scale(call, normalization, shape, dims, scale) ||
      !resize_output(call, out, shape)) {
    return out;
  }
  const Elements from = Elements::of(self);
  const Elements to = Elements::of(out);
  const Lines lines{StridedView::of(self), StridedView::of(out), dims.last()};
  lines.for_each([&](int64_t in, int64_t at) {
    for (int64_t i = 0; i < shape[lines.dim]; ++i) {
      to.put(at + i * lines.to.strides[lines.dim],
             from.get(in + i * lines.from.strides[lines.dim]) * Point{scale, 0});
    }
  });
  for (int k = 0; k < dims.count; ++k) {
    if (!transform_in_place(call, to, lines.to, dims.dims[k], !forward)) {
      return out;
    }
  }
  return out;
}

}  // namespace torch::executor::native
