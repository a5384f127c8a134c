// SPDX-License-Identifier: BSD-3-Clause
// The tensor vocabulary, executorch::aten::*: the types of portable_type/ or, in ATen mode
// (USE_ATEN_LIB), PyTorch's. This is the switch between them; scalar_type_functions.h follows it
// for the functions beside ScalarType.
#pragma once

#include <cinttypes>
#include <optional>
#include <string_view>

#include <c10/util/BFloat16-math.h>
#include <c10/util/complex.h>
#include <c10/util/safe_numerics.h>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/compiler.h>

#ifdef USE_ATEN_LIB
#include <limits>

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

/// Namespaces of what depends on the tensor types, so that both modes may be in one program.
/// ET_DECLARE_MODE_NAMESPACE(name): code that says name::X means the one of its mode.
#define ET_MODE_NAMESPACE(name) name::aten
#define ET_DECLARE_MODE_NAMESPACE(name) \
  namespace name {                      \
  namespace aten {}                     \
  using namespace aten;                 \
  }

// printf conversions for what tensors return.
#define ET_PRI_TENSOR_SIZE PRId64
#define ET_PRI_TENSOR_DIM PRId64
#define ET_PRI_TENSOR_NUMEL PRId64
#define ET_PRI_SIZES_AND_STRIDES PRId64

/// _(C++ type, name) in the order of the numbers, which are those of the program format.
#define ET_FORALL_SCALAR_TYPES(_) AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(_)

namespace executorch {
ET_DECLARE_MODE_NAMESPACE(runtime)

namespace runtime {
// What is internal, and what serves tests, is in one namespace, by whichever name.
namespace internal {}
namespace testing {}
namespace aten {
namespace internal = ::executorch::runtime::internal;
namespace testing = ::executorch::runtime::testing;
}  // namespace aten
}  // namespace runtime

namespace aten {

using Tensor = at::Tensor;
using TensorImpl = at::TensorImpl;
using SizesType = int64_t;
using DimOrderType = uint8_t;
using StridesType = int64_t;
using Device = c10::Device;
using DeviceIndex = c10::DeviceIndex;
using DeviceType = c10::DeviceType;
using Layout = c10::Layout;
using MemoryFormat = c10::MemoryFormat;
using Scalar = c10::Scalar;
using ScalarType = c10::ScalarType;

using at::TensorList;
using c10::ArrayRef;
using c10::IntArrayRef;
template <typename T>
using OptionalArrayRef = c10::OptionalArrayRef<T>;

using Half = c10::Half;
using BFloat16 = c10::BFloat16;
using c10::complex;
using qint8 = c10::qint8;
using quint8 = c10::quint8;
using qint32 = c10::qint32;
using quint4x2 = c10::quint4x2;
using quint2x4 = c10::quint2x4;
using bits1x8 = c10::bits1x8;
using bits2x4 = c10::bits2x4;
using bits4x2 = c10::bits4x2;
using bits8 = c10::bits8;
using bits16 = c10::bits16;

/// As compute_numel() for untrusted sizes: InvalidArgument when negative or too large.
inline ::executorch::runtime::Result<ssize_t> safe_numel(const SizesType* sizes, ssize_t dim) {
  int64_t numel = 1;
  bool has_zero = false;
  for (ssize_t i = 0; i < dim; ++i) {
    has_zero = has_zero || sizes[i] == 0;
    if (sizes[i] < 0 || (sizes[i] != 0 && c10::mul_overflows(numel, sizes[i], &numel))) {
      return ::executorch::runtime::Error::InvalidArgument;
    }
  }
  return static_cast<ssize_t>(has_zero ? 0 : numel);
}

/// Product of `dim` sizes, which must not be negative and whose product must fit.
inline ssize_t compute_numel(const SizesType* sizes, ssize_t dim) {
  return safe_numel(sizes, dim).get();
}

}  // namespace aten
}  // namespace executorch

#else  // portable tensors
#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/bits_types.h>
#include <executorch/runtime/core/portable_type/complex.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/portable_type/optional.h>
#include <executorch/runtime/core/portable_type/qint_types.h>
#include <executorch/runtime/core/portable_type/scalar.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/portable_type/string_view.h>
#include <executorch/runtime/core/portable_type/tensor.h>
#include <executorch/runtime/core/portable_type/tensor_options.h>

#define ET_MODE_NAMESPACE(name) name
#define ET_DECLARE_MODE_NAMESPACE(name) \
  namespace name {}

namespace executorch {
namespace aten {

using Tensor = executorch::runtime::etensor::Tensor;
using TensorImpl = executorch::runtime::etensor::TensorImpl;
using SizesType = Tensor::SizesType;
using DimOrderType = Tensor::DimOrderType;
using StridesType = Tensor::StridesType;
using Device = executorch::runtime::etensor::Device;
using DeviceIndex = executorch::runtime::etensor::DeviceIndex;
using DeviceType = executorch::runtime::etensor::DeviceType;
using Layout = executorch::runtime::etensor::Layout;
using MemoryFormat = executorch::runtime::etensor::MemoryFormat;
using Scalar = executorch::runtime::etensor::Scalar;
using ScalarType = executorch::runtime::etensor::ScalarType;

using executorch::runtime::ArrayRef;
using IntArrayRef = executorch::runtime::IntArrayRef;
using TensorList = ArrayRef<Tensor>;
template <typename T>
using OptionalArrayRef = std::optional<ArrayRef<T> >;

using Half = executorch::runtime::etensor::Half;
using BFloat16 = executorch::runtime::etensor::BFloat16;
using executorch::runtime::etensor::complex;
using qint8 = executorch::runtime::etensor::qint8;
using quint8 = executorch::runtime::etensor::quint8;
using qint32 = executorch::runtime::etensor::qint32;
using quint4x2 = executorch::runtime::etensor::quint4x2;
using quint2x4 = executorch::runtime::etensor::quint2x4;
using bits1x8 = executorch::runtime::etensor::bits1x8;
using bits2x4 = executorch::runtime::etensor::bits2x4;
using bits4x2 = executorch::runtime::etensor::bits4x2;
using bits8 = executorch::runtime::etensor::bits8;
using bits16 = executorch::runtime::etensor::bits16;

/// Product of `dim` sizes, which must not be negative and whose product must fit.
inline ssize_t compute_numel(const SizesType* sizes, ssize_t dim) {
  return executorch::runtime::etensor::compute_numel(sizes, dim);
}

/// As compute_numel() for untrusted sizes: InvalidArgument when negative or too large.
inline ::executorch::runtime::Result<ssize_t> safe_numel(const SizesType* sizes, ssize_t dim) {
  return executorch::runtime::etensor::safe_numel(sizes, dim);
}

}  // namespace aten
}  // namespace executorch
#endif  // USE_ATEN_LIB

/// The namespace below executorch:: of everything in the runtime that depends on the tensor types.
#define ET_RUNTIME_NAMESPACE ET_MODE_NAMESPACE(runtime)

namespace executorch {
namespace aten {

using TensorShapeDynamism = executorch::runtime::TensorShapeDynamism;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

// Former spellings of the standard types.
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;

}  // namespace aten
}  // namespace executorch

namespace torch {
namespace executor {
using TensorList = ::executorch::aten::TensorList;
}  // namespace executor
}  // namespace torch
