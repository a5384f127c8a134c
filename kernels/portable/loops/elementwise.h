// SPDX-License-Identifier: BSD-3-Clause
// The one loop of all elementwise kernels: broadcasts inputs to the output, converts chunks of
// elements to the type they are computed in, and calls a functor's loop over each chunk.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <executorch/kernels/portable/loops/element_type.h>
#include <executorch/runtime/core/exec_aten/util/dtype_selection.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>

namespace executorch {
namespace kernels {

using executorch::aten::Scalar;
using executorch::aten::Tensor;

// Elements; bounds the stack a kernel uses: with 256 some 12 KB, with 32 a quarter of that.
#if !defined(ET_KERNEL_CHUNK)
#define ET_KERNEL_CHUNK 256
#endif
constexpr int64_t kChunk = ET_KERNEL_CHUNK;

// Rounds computed values to what a dtype holds, as if they had been stored there: arithmetic is of
// the operands' common dtype, whatever wider type values are computed in or stored to.
class Rounding {
 public:
  Rounding() = default;  // rounds nothing
  Rounding(ScalarType type, ComputeType computed);

  bool is_needed() const { return store_ != nullptr; }
  void round(void* values, int64_t n) const;

 private:
  StoreRun store_ = nullptr;
  LoadRun load_ = nullptr;
  size_t compute_size_ = 0;
};

// Reads ranges of a tensor (or one scalar) as if it had the shape and the memory order of an
// output.
class RangeReader {
 public:
  RangeReader() = default;
  // `like` gives shape and memory order; `in` broadcasts to it (checked by the caller) and outlives
  // the reader. Elements are rounded to `common` first, if it is given.
  RangeReader(const Tensor& in, const Tensor& like, ComputeType type,
              ScalarType common = ScalarType::Undefined);
  RangeReader(const Scalar& value, ComputeType type);

  // Elements [begin, begin + n) in the memory order of `like`, n <= kChunk, or any n when
  // is_direct(). Returns either memory of the tensor itself or `buffer`, which holds kChunk
  // elements.
  const void* read(int64_t begin, int64_t n, void* buffer) const;
  // True when every range has the same values: what one read() put into `buffer` serves them all.
  bool is_constant() const { return constant_; }
  // Bytes of a value that is read.
  size_t value_size() const { return compute_size_; }
  // True when read() always returns the tensor's own memory.
  bool is_direct() const { return direct_ && ndim_ == 1 && strides_[0] == 1; }

 private:
  const char* data_ = nullptr;
  LoadRun load_ = nullptr;
  Rounding rounding_;
  int64_t element_size_ = 0;
  size_t compute_size_ = 0;
  bool direct_ = false;    // stored as it is computed
  bool constant_ = false;  // one value for all
  alignas(16) char value_[kMaxComputeSize] = {};
  int ndim_ = 0;  // after merging, innermost last
  int64_t sizes_[executorch::runtime::kTensorDimensionLimit] = {};
  int64_t strides_[executorch::runtime::kTensorDimensionLimit] = {};
};

// A functor's loop: out[i] = functor(in[0][i], ...) for n dense computed values.
using ChunkFn = void (*)(const void* const* in, void* out, int64_t n, const void* functor);

constexpr int kMaxInputs = 4;

// Runs `fn` over all elements of `out`. Inputs broadcast to out's shape; dtypes have been checked.
// Results are rounded to `common` before they are converted to out's dtype; Undefined: only to
// that.
void run_elementwise(const RangeReader* inputs, int num_inputs, const Tensor& out,
                     ComputeType out_type, ScalarType common, ChunkFn fn, const void* functor);

namespace internal {

template <typename F, typename R, typename... C>
struct ChunkLoop {
  static void unary(const void* const* in, void* out, int64_t n, const void* functor) {
    run(in, out, n, *static_cast<const F*>(functor), std::index_sequence_for<C...>());
  }

 private:
  template <size_t... I>
  static void run(const void* const* in, void* out, int64_t n, const F f,
                  std::index_sequence<I...>) {
    run_typed(static_cast<R*>(out), n, f, static_cast<const C*>(in[I])...);
  }
  static void run_typed(R* __restrict out, int64_t n, const F f, const C*... in) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = f(in[i]...);
    }
  }
};

}  // namespace internal

// out[i] = f(in0[i], in1[i], ...): C... are the compute types of the inputs, R that of the result.
// `common`: see run_elementwise().
template <typename R, typename... C, typename F>
void map_elements(const F& f, const Tensor& out, const RangeReader (&inputs)[sizeof...(C)],
                  ScalarType common = ScalarType::Undefined) {
  run_elementwise(inputs, sizeof...(C), out, compute_type_v<R>, common,
                  internal::ChunkLoop<F, R, C...>::unary, &f);
}

// Calls `body` with a value of the compute type of a kernel that computes floats only, so that
// `decltype(zero)` names it. Where this build has no tensors of doubles, float serves.
template <typename Body>
void with_float_compute_type(ComputeType type, const Body& body) {
  if constexpr (should_include_dtype(ScalarType::Double)) {
    if (type == ComputeType::kDouble) {
      return body(double(0));
    }
  }
  return body(float(0));
}

// The same for kernels that compute integers, too (bool and integers: int64_t).
template <typename Body>
void with_compute_type(ComputeType type, const Body& body) {
  if constexpr (kHasIntegers) {
    if (type != ComputeType::kFloat && type != ComputeType::kDouble) {
      return body(int64_t(0));
    }
  }
  with_float_compute_type(type, body);
}

// The same for functors that may take complex numbers, see takes_complex_v.
template <bool kComplexToo, typename Body>
void with_number_type(ComputeType type, const Body& body) {
  if constexpr (kComplexToo && kHasComplex) {
    if (type == ComputeType::kComplex) {
      return body(Complex(0));
    }
  }
  with_compute_type(type, body);
}

template <bool kComplexToo, typename Body>
void with_float_type(ComputeType type, const Body& body) {
  if constexpr (kComplexToo && kHasComplex) {
    if (type == ComputeType::kComplex) {
      return body(Complex(0));
    }
  }
  with_float_compute_type(type, body);
}

// The value of a scalar of any kind as a compute type.
template <typename C>
C scalar_to(const Scalar& value) {
  if constexpr (std::is_same<C, Complex>::value) {
    return C(scalar_to<double>(value));
  }
  if (value.isBoolean()) {
    return static_cast<C>(value.to<bool>() ? 1 : 0);
  }
  if (value.isIntegral(/*includeBool=*/false)) {
    return static_cast<C>(value.to<int64_t>());
  }
  const double number = value.to<double>();
  if constexpr (std::is_same<C, int64_t>::value) {
    const bool fits = number >= -9223372036854775808.0 && number < 9223372036854775808.0;
    return fits ? static_cast<int64_t>(number) : INT64_MIN;
  } else {
    return static_cast<C>(number);
  }
}

}  // namespace kernels
}  // namespace executorch
