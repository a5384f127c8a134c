// SPDX-License-Identifier: BSD-3-Clause
// The element types kernels accept, and the few types that arithmetic is done in. Elements are
// converted on the way in and on the way out in runs, so that a functor is compiled for four types
// only (five where it takes complex numbers) and not once per dtype.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dtype_selection.h>

namespace executorch {
namespace kernels {

using executorch::aten::ScalarType;

// What a chunk of elements is computed in. Floats narrower than 32 bits are computed in float,
// every integer in int64_t (with wrap-around, so that narrowing gives what arithmetic in the narrow
// type gives), masks in uint8_t of 0 and 1, complex numbers in pairs of doubles.
enum class ComputeType : uint8_t { kBool, kInt64, kFloat, kDouble, kComplex };

using Complex = executorch::aten::complex<double>;

constexpr size_t kMaxComputeSize = 16;

// Whether this build has tensors of complex numbers.
constexpr bool kHasComplex = should_include_dtype(ScalarType::ComplexHalf) ||
                             should_include_dtype(ScalarType::ComplexFloat) ||
                             should_include_dtype(ScalarType::ComplexDouble);

// Whether this build has tensors that are computed as integers.
constexpr bool kHasIntegers =
    should_include_dtype(ScalarType::Byte) || should_include_dtype(ScalarType::Char) ||
    should_include_dtype(ScalarType::Short) || should_include_dtype(ScalarType::Int) ||
    should_include_dtype(ScalarType::Long) || should_include_dtype(ScalarType::Bool);

// Whether a functor takes complex numbers, too.
template <typename Functor>
constexpr bool takes_complex_v = false;

template <typename C>
constexpr ComputeType compute_type_v = ComputeType::kInt64;
template <>
inline constexpr ComputeType compute_type_v<uint8_t> = ComputeType::kBool;
template <>
inline constexpr ComputeType compute_type_v<float> = ComputeType::kFloat;
template <>
inline constexpr ComputeType compute_type_v<double> = ComputeType::kDouble;
template <>
inline constexpr ComputeType compute_type_v<Complex> = ComputeType::kComplex;

inline size_t compute_size(ComputeType type) {
  return type == ComputeType::kBool      ? 1
         : type == ComputeType::kFloat   ? 4
         : type == ComputeType::kComplex ? 16
                                         : 8;
}

// Copies `n` elements that lie `stride` elements apart (0 and negative allowed) into dense `out`,
// converting them.
using LoadRun = void (*)(const void* in, int64_t stride, int64_t n, void* out);
// Copies `n` dense computed values into dense elements, converting them. Floats beyond an integer
// type's range give an unspecified value of that type.
using StoreRun = void (*)(const void* in, int64_t n, void* out);

// Null when the dtype is not one of Byte, Char, Short, Int, Long, Half, Float, Double, Bool,
// BFloat16, and for complex dtypes when the type is neither kComplex, nor for
// loading kBool (is it not zero?) or kDouble (its real part).
LoadRun loader(ScalarType from, ComputeType to);
StoreRun storer(ComputeType from, ScalarType to);

// The runs of a dtype that a library has compiled for this processor, by compute type; null where
// it has none.
struct FasterRuns {
  ScalarType type;
  LoadRun load[5];
  StoreRun store[5];
};
// From now on loader() and storer() give these first. For registration, before threads; the rows
// live as long as the program.
void prefer_runs(const FasterRuns* rows, int count);

// True for the ten real dtypes above.
bool is_computable(ScalarType type);
// True for ComplexHalf, ComplexFloat and ComplexDouble.
bool is_complex(ScalarType type);

// The type that elements of a computable or complex dtype are computed in; kBool for Bool.
ComputeType compute_type_of(ScalarType type);

// True when elements of `type` are stored exactly as computed values of `compute` are, so that no
// copy is needed.
bool is_stored_as(ScalarType type, ComputeType compute);

}  // namespace kernels
}  // namespace executorch
