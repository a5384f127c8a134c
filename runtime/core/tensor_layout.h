// SPDX-License-Identifier: BSD-3-Clause
// TensorLayout: type, sizes and dim order of a tensor that is not loaded yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Refers to the arrays given to create(), which must outlive it. Immutable.
class TensorLayout final {
 public:
  TensorLayout() = delete;

  /// InvalidArgument when the type is no element type, a size is negative, the bytes exceed size_t,
  /// or the dim order is not a permutation of the dimensions.
  static executorch::runtime::Result<const TensorLayout> create(
      Span<const int32_t> sizes, Span<const uint8_t> dim_order,
      executorch::aten::ScalarType scalar_type);

  Span<const int32_t> sizes() const { return sizes_; }
  Span<const uint8_t> dim_order() const { return dim_order_; }
  executorch::aten::ScalarType scalar_type() const { return scalar_type_; }
  /// Bytes of all elements.
  size_t nbytes() const { return nbytes_; }

 private:
  TensorLayout(Span<const int32_t> sizes, Span<const uint8_t> dim_order,
               executorch::aten::ScalarType scalar_type, size_t nbytes)
      : sizes_(sizes), dim_order_(dim_order), scalar_type_(scalar_type), nbytes_(nbytes) {}

  Span<const int32_t> sizes_;
  Span<const uint8_t> dim_order_;
  executorch::aten::ScalarType scalar_type_;
  size_t nbytes_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
