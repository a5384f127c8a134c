// SPDX-License-Identifier: BSD-3-Clause
// The conversion tables: one row per dtype, one column per compute type.
#include <executorch/kernels/portable/loops/element_type.h>

#include <executorch/kernels/portable/loops/element_run.h>
#include <executorch/runtime/core/exec_aten/util/dtype_selection.h>

namespace executorch {
namespace kernels {
namespace {

using executorch::aten::BFloat16;
using executorch::aten::complex;
using executorch::aten::Half;

template <typename From, typename C>
void load(const void* in, int64_t stride, int64_t n, void* out) {
  load_run<From, C>(in, stride, n, out);
}

template <typename C, typename To>
void store(const void* in, int64_t n, void* out) {
  store_run<C, To>(in, n, out);
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

// The row of a dtype that this build leaves out answers to no dtype; a column that it leaves out is
// null.
template <typename T, ScalarType type>
constexpr Row row(ComputeType compute) {
  if constexpr (should_include_dtype(type)) {
    return {type,
            compute,
            {kHasIntegers ? load<T, uint8_t> : nullptr, kHasIntegers ? load<T, int64_t> : nullptr,
             load<T, float>, load<T, double>, kHasComplex ? load<T, Complex> : nullptr},
            {kHasIntegers ? store<uint8_t, T> : nullptr, kHasIntegers ? store<int64_t, T> : nullptr,
             store<float, T>, store<double, T>, nullptr}};
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

const FasterRuns* faster_runs = nullptr;
int num_faster_runs = 0;

// The faster runs of a dtype, or null.
const FasterRuns* find_faster(ScalarType type) {
  for (int i = 0; i < num_faster_runs; ++i) {
    if (faster_runs[i].type == type) {
      return &faster_runs[i];
    }
  }
  return nullptr;
}

}  // namespace

void prefer_runs(const FasterRuns* rows, int count) {
  faster_runs = rows;
  num_faster_runs = count;
}

LoadRun loader(ScalarType from, ComputeType to) {
  const Row* found = find_row(from);
  const FasterRuns* faster = found == nullptr ? nullptr : find_faster(from);
  const LoadRun run = faster == nullptr ? nullptr : faster->load[static_cast<int>(to)];
  return found == nullptr || run != nullptr ? run : found->load[static_cast<int>(to)];
}

StoreRun storer(ComputeType from, ScalarType to) {
  const Row* found = find_row(to);
  const FasterRuns* faster = found == nullptr ? nullptr : find_faster(to);
  const StoreRun run = faster == nullptr ? nullptr : faster->store[static_cast<int>(from)];
  return found == nullptr || run != nullptr ? run : found->store[static_cast<int>(from)];
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
