// SPDX-License-Identifier: BSD-3-Clause
// ATen mode: a TensorPtr is a pointer to a PyTorch tensor, which keeps its sizes, and its data
// while anyone refers to it.
#include <executorch/extension/tensor/tensor_ptr.h>

#include <executorch/runtime/core/exec_aten/util/aten_tensor.h>

namespace executorch::extension {

using executorch::aten::Device;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::TensorShapeDynamism;

namespace {

// What a storage calls at its end.
struct Deleter {
  void* data;
  std::function<void(void*)> function;
};

void call_deleter(void* context) {
  auto* deleter = static_cast<Deleter*>(context);
  deleter->function(deleter->data);
  delete deleter;
}

}  // namespace

namespace internal {

TensorPtr make_of_layout(std::vector<SizesType> sizes, std::vector<DimOrderType> /*dim_order*/,
                         std::vector<StridesType> strides, void* data, ScalarType type,
                         TensorShapeDynamism /*dynamism*/, std::function<void(void*)> deleter,
                         Device device) {
  const auto count = static_cast<size_t>(
      executorch::aten::compute_numel(sizes.data(), static_cast<ssize_t>(sizes.size())));
  at::Tensor tensor = runtime::internal::make_aten_tensor(
      type, sizes, strides, data, count * runtime::elementSize(type), device);
  if (deleter) {
    tensor.unsafeGetTensorImpl()->unsafe_storage().set_data_ptr_noswap(
        at::DataPtr(data, new Deleter{data, std::move(deleter)}, &call_deleter, device));
  }
  return std::make_shared<at::Tensor>(std::move(tensor));
}

}  // namespace internal
}  // namespace executorch::extension
