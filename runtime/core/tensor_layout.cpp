// SPDX-License-Identifier: BSD-3-Clause
// Checks of a layout, which may come from a file.
#include <executorch/runtime/core/tensor_layout.h>

#include <algorithm>
#include <limits>

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

executorch::runtime::Result<const TensorLayout> TensorLayout::create(
    Span<const int32_t> sizes, Span<const uint8_t> dim_order,
    executorch::aten::ScalarType scalar_type) {
  ET_CHECK_OR_RETURN_ERROR(isValid(scalar_type), InvalidArgument, "%d is no scalar type",
                           static_cast<int>(scalar_type));
  ET_CHECK_OR_RETURN_ERROR(sizes.size() == dim_order.size(), InvalidArgument,
                           "%zu sizes, but a dim order of %zu", sizes.size(), dim_order.size());
  ET_CHECK_OR_RETURN_ERROR(is_valid_dim_order(dim_order.data(), dim_order.size()), InvalidArgument,
                           "dim order of %zu dimensions is not a permutation", dim_order.size());
  executorch::aten::SizesType own_sizes[kTensorDimensionLimit];
  std::copy(sizes.begin(), sizes.end(), own_sizes);
  const auto numel = executorch::aten::safe_numel(own_sizes, static_cast<ssize_t>(sizes.size()));
  if (!numel.ok()) {
    return numel.error();
  }
  const size_t element_size = elementSize(scalar_type);
  ET_CHECK_OR_RETURN_ERROR(
      static_cast<size_t>(*numel) <=
          static_cast<size_t>(std::numeric_limits<ssize_t>::max()) / element_size,
      InvalidArgument, "%zd elements of %zu bytes exceed the address space", *numel, element_size);
  return TensorLayout(sizes, dim_order, scalar_type, static_cast<size_t>(*numel) * element_size);
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
