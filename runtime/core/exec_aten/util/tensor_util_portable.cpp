// SPDX-License-Identifier: BSD-3-Clause
// What the runtime asks of a tensor beyond PyTorch's interface, of portable tensors.
// tensor_util_aten.cpp has the same of PyTorch's.
#include <new>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch {
namespace runtime {
namespace internal {

using executorch::aten::ArrayRef;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

Span<const DimOrderType> dim_order_of(const Tensor& tensor, DimOrderRoom&) {
  return {tensor.dim_order().data(), tensor.dim_order().size()};
}

TensorShapeDynamism shape_dynamism_of(const Tensor& tensor) {
  return tensor.shape_dynamism();
}

Error resize_tensor_impl(TensorImpl* impl, ArrayRef<SizesType> new_sizes) {
  return TensorResizerFriend::resize_tensor_impl(impl, new_sizes);
}

// Builds the tensor anew: its arrays are where they were.
void rebind_tensor(const Tensor& tensor, ArrayRef<SizesType> sizes,
                   Span<const DimOrderType> /*dim_order*/, void* data) {
  TensorImpl* impl = tensor.unsafeGetTensorImpl();
  auto* own_sizes = const_cast<SizesType*>(tensor.sizes().data());
  auto* own_order = const_cast<DimOrderType*>(tensor.dim_order().data());
  auto* own_strides = const_cast<StridesType*>(tensor.strides().data());
  for (size_t i = 0; i < sizes.size(); ++i) {
    own_sizes[i] = sizes[i];
  }
  dim_order_to_stride_nocheck(own_sizes, own_order, sizes.size(), own_strides);
  new (impl) TensorImpl(tensor.scalar_type(), tensor.dim(), own_sizes, data, own_order, own_strides,
                        tensor.shape_dynamism(), impl->device_type(), impl->device_index());
}

void set_data(const Tensor& tensor, void* data) {
  tensor.unsafeGetTensorImpl()->set_data(data);
}

BorrowedTensor::BorrowedTensor(ScalarType type, size_t rank, SizesType* sizes, void* data,
                               DimOrderType* dim_order, StridesType* strides,
                               TensorShapeDynamism dynamism)
    : held_(type, static_cast<ssize_t>(rank), sizes, data, dim_order, strides, dynamism) {}

Tensor BorrowedTensor::get() {
  return Tensor(&held_);
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch
