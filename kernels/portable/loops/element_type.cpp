// SPDX-License-Identifier: BSD-3-Clause
// The conversion tables: one row per dtype, one column per compute type.
#include <executorch/kernels/portable/loops/element_type.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include <executorch/runtime/core/exec_aten/util/dtype_selection.h>

namespace executorch {
namespace kernels {
namespace {

using executorch::aten::BFloat16;
using executorch::aten::complex;
using executorch::aten::Half;

// Float to integer without undefined behaviour: out of range gives the smallest value, as x86
// instructions do.
template <typename Int, typename Float>
Int truncate_to(Float value) {
  using Wide = std::conditional_t<(sizeof(Int) < 4), int32_t, Int>;
  constexpr double kLow = static_cast<double>(std::numeric_limits<Wide>::min());
  const double wide_value = static_cast<double>(value);
  const bool fits = wide_value >= kLow && wide_value < -kLow;
  return static_cast<Int>(fits ? static_cast<Wide>(wide_value) : std::numeric_limits<Wide>::min());
}

template <typename To, typename From>
To convert(From value) {
  constexpr bool kFromFloat = !std::is_integral<From>::value;
  if constexpr (std::is_same<To, bool>::value || std::is_same<From, bool>::value) {
    if constexpr (std::is_same<To, bool>::value) {
      return value != From(0);
    } else {
      return static_cast<To>(value ? 1.0f : 0.0f);
    }
  } else if constexpr (kFromFloat && std::is_integral<To>::value) {
    return truncate_to<To>(static_cast<double>(value));
  } else if constexpr (std::is_same<To, Half>::value || std::is_same<To, BFloat16>::value) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
constexpr bool is_complex_v = false;
template <typename T>
constexpr bool is_complex_v<complex<T>> = true;

// One element on its way in. Of complex numbers, other types see whether they are zero, or their
// real part.
template <typename C, typename From>
C load_one(From value) {
  if constexpr (is_complex_v<From>) {
    if constexpr (std::is_same<C, uint8_t>::value) {
      return static_cast<C>(value.real() != 0 || value.imag() != 0);
    } else if constexpr (std::is_same<C, Complex>::value) {
      return C(convert<double>(value.real()), convert<double>(value.imag()));
    } else {
      return convert<C>(value.real());
    }
  } else if constexpr (std::is_same<C, Complex>::value) {
    return C(convert<double>(value));
  } else if constexpr (std::is_same<C, uint8_t>::value) {
    return static_cast<C>(convert<bool>(value));
  } else {
    return convert<C>(value);
  }
}

template <typename From, typename C>
void load(const void* in, int64_t stride, int64_t n, void* out) {
  const From* from = static_cast<const From*>(in);
  C* to = static_cast<C*>(out);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = load_one<C>(from[i]);
    }
  } else if (stride == 0) {
    const C value = load_one<C>(from[0]);
    for (int64_t i = 0; i < n; ++i) {
      to[i] = value;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = load_one<C>(from[i * stride]);
    }
  }
}

template <typename C, typename To>
void store(const void* in, int64_t n, void* out) {
  const C* from = static_cast<const C*>(in);
  To* to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = convert<To>(from[i]);
  }
}

template <typename T>
void store_complex(const void* in, int64_t n, void* out) {
  const Complex* from = static_cast<const Complex*>(in);
  complex<T>* to = static_cast<complex<T>*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = complex<T>(convert<T>(from[i].real()), convert<T>(from[i].imag()));
  }
}

struct Row {
  ScalarType type;
  ComputeType compute;
  LoadRun load[5];
  StoreRun store[5];
};

// The row of a dtype that this build leaves out answers to no dtype.
template <typename T, ScalarType type>
constexpr Row row(ComputeType compute) {
  if constexpr (should_include_dtype(type)) {
    return {type,
            compute,
            {load<T, uint8_t>, load<T, int64_t>, load<T, float>, load<T, double>,
             kHasComplex ? load<T, Complex> : nullptr},
            {store<uint8_t, T>, store<int64_t, T>, store<float, T>, store<double, T>, nullptr}};
  } else {
    return {ScalarType::Undefined, compute, {}, {}};
  }
}

template <typename T, ScalarType type>
constexpr Row complex_row() {
  if constexpr (should_include_dtype(type)) {
    return {type,
            ComputeType::kComplex,
            {load<complex<T>, uint8_t>, nullptr, nullptr, load<complex<T>, double>,
             load<complex<T>, Complex>},
            {nullptr, nullptr, nullptr, nullptr, store_complex<T>}};
  } else {
    return {ScalarType::Undefined, ComputeType::kComplex, {}, {}};
  }
}

constexpr Row kRows[] = {
    row<uint8_t, ScalarType::Byte>(ComputeType::kInt64),
    row<int8_t, ScalarType::Char>(ComputeType::kInt64),
    row<int16_t, ScalarType::Short>(ComputeType::kInt64),
    row<int32_t, ScalarType::Int>(ComputeType::kInt64),
    row<int64_t, ScalarType::Long>(ComputeType::kInt64),
    row<Half, ScalarType::Half>(ComputeType::kFloat),
    row<float, ScalarType::Float>(ComputeType::kFloat),
    row<double, ScalarType::Double>(ComputeType::kDouble),
    row<bool, ScalarType::Bool>(ComputeType::kBool),
    row<BFloat16, ScalarType::BFloat16>(ComputeType::kFloat),
    complex_row<Half, ScalarType::ComplexHalf>(),
    complex_row<float, ScalarType::ComplexFloat>(),
    complex_row<double, ScalarType::ComplexDouble>(),
};

const Row* find_row(ScalarType type) {
  for (const Row& candidate : kRows) {
    if (candidate.type == type && type != ScalarType::Undefined) {
      return &candidate;
    }
  }
  return nullptr;
}

}  // namespace

LoadRun loader(ScalarType from, ComputeType to) {
  const Row* found = find_row(from);
  return found == nullptr ? nullptr : found->load[static_cast<int>(to)];
}

StoreRun storer(ComputeType from, ScalarType to) {
  const Row* found = find_row(to);
  return found == nullptr ? nullptr : found->store[static_cast<int>(from)];
}

bool is_computable(ScalarType type) {
  const Row* found = find_row(type);
  return found != nullptr && found->compute != ComputeType::kComplex;
}

bool is_complex(ScalarType type) {
  const Row* found = find_row(type);
  return found != nullptr && found->compute == ComputeType::kComplex;
}

ComputeType compute_type_of(ScalarType type) {
  const Row* found = find_row(type);
  return found == nullptr ? ComputeType::kInt64 : found->compute;
}

bool is_stored_as(ScalarType type, ComputeType compute) {
  switch (compute) {
    case ComputeType::kBool:
      return type == ScalarType::Bool;
    case ComputeType::kInt64:
      return type == ScalarType::Long;
    case ComputeType::kFloat:
      return type == ScalarType::Float;
    case ComputeType::kDouble:
      return type == ScalarType::Double;
    case ComputeType::kComplex:
      return type == ScalarType::ComplexDouble;
  }
  return false;
}

}  // namespace kernels
}  // namespace executorch
