// SPDX-License-Identifier: BSD-3-Clause
// The tensor vocabulary, executorch::aten::*. It names the types of portable_type/; this is the one
// header that a build on other tensor types would change.
#pragma once

#include <cinttypes>
#include <optional>

#include <c10/util/BFloat16-math.h>
#include <c10/util/complex.h>
#include <c10/util/safe_numerics.h>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/complex.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/portable_type/optional.h>
#include <executorch/runtime/core/portable_type/qint_types.h>
#include <executorch/runtime/core/portable_type/scalar.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/portable_type/string_view.h>
#include <executorch/runtime/core/portable_type/tensor.h>
#include <executorch/runtime/core/portable_type/tensor_options.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/compiler.h>

#ifdef USE_ATEN_LIB
#error "USE_ATEN_LIB: this version has portable tensors only"
#endif

/// The namespace below executorch:: of everything that depends on the tensor types.
#define ET_RUNTIME_NAMESPACE runtime

namespace executorch {
namespace aten {

using TensorShapeDynamism = executorch::runtime::TensorShapeDynamism;

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
using OptionalArrayRef = std::optional<ArrayRef<T>>;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

// Former spellings of the standard types.
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;

using Half = executorch::runtime::etensor::Half;
using BFloat16 = executorch::runtime::etensor::BFloat16;
using executorch::runtime::etensor::complex;
using qint8 = executorch::runtime::etensor::qint8;
using quint8 = executorch::runtime::etensor::quint8;
using qint32 = executorch::runtime::etensor::qint32;
using quint4x2 = executorch::runtime::etensor::quint4x2;
using quint2x4 = executorch::runtime::etensor::quint2x4;

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

namespace torch {
namespace executor {
using TensorList = ::executorch::aten::TensorList;
}  // namespace executor
}  // namespace torch
