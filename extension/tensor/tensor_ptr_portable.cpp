// SPDX-License-Identifier: BSD-3-Clause
// A TensorPtr of a portable tensor, with what it points to. tensor_ptr_aten.cpp makes PyTorch's.
#include <executorch/extension/tensor/tensor_ptr.h>

namespace executorch::extension {

using executorch::aten::Device;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;

namespace {

// What a TensorPtr points into.
struct Storage {
  Storage(std::vector<SizesType>&& sizes_in, std::vector<DimOrderType>&& dim_order_in,
          std::vector<StridesType>&& strides_in, void* data, ScalarType type,
          TensorShapeDynamism dynamism, Device device, std::function<void(void*)>&& deleter_in)
      : sizes(std::move(sizes_in)),
        dim_order(std::move(dim_order_in)),
        strides(std::move(strides_in)),
        impl(type, static_cast<ssize_t>(sizes.size()), sizes.data(), data, dim_order.data(),
             strides.data(), sizes.empty() ? TensorShapeDynamism::STATIC : dynamism, device.type(),
             device.index()),
        tensor(&impl),
        deleter(std::move(deleter_in)) {}

  ~Storage() {
    if (deleter) {
      deleter(impl.mutable_data());
    }
  }

  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::vector<SizesType> sizes;
  std::vector<DimOrderType> dim_order;
  std::vector<StridesType> strides;
  TensorImpl impl;
  Tensor tensor;
  std::function<void(void*)> deleter;
};

}  // namespace

namespace internal {

TensorPtr make_of_layout(std::vector<SizesType> sizes, std::vector<DimOrderType> dim_order,
                         std::vector<StridesType> strides, void* data, ScalarType type,
                         TensorShapeDynamism dynamism, std::function<void(void*)> deleter,
                         Device device) {
  const auto storage =
      std::make_shared<Storage>(std::move(sizes), std::move(dim_order), std::move(strides), data,
                                type, dynamism, device, std::move(deleter));
  return TensorPtr(storage, &storage->tensor);
}

}  // namespace internal
}  // namespace executorch::extension
