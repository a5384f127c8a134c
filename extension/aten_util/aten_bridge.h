// SPDX-License-Identifier: BSD-3-Clause
// Tensors of the runtime and of PyTorch on the same memory. Headers only: whoever includes this
// compiles against libtorch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

/// The type of the same number; both sides number them alike.
inline c10::ScalarType executorch_to_torch_scalar_type(torch::executor::ScalarType type) {
  return static_cast<c10::ScalarType>(type);
}

/// The type of the same number. Ends the program for a type that the runtime does not know.
inline torch::executor::ScalarType torch_to_executorch_scalar_type(caffe2::TypeMeta type) {
  const auto number = static_cast<int>(c10::typeMetaToScalarType(type));
  ET_CHECK_MSG(number >= 0 && number < static_cast<int>(torch::executor::ScalarType::NumOptions),
               "PyTorch's dtype %d is none that programs have", number);
  return static_cast<torch::executor::ScalarType>(number);
}

namespace aten_util_internal {

/// The dimensions from the outermost to the innermost, after the strides; of equal strides the
/// first dimension is the outer one.
inline std::vector<executorch::aten::DimOrderType> dim_order_of(const at::Tensor& tensor) {
  std::vector<executorch::aten::DimOrderType> order(static_cast<size_t>(tensor.dim()));
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<executorch::aten::DimOrderType>(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return tensor.stride(a) > tensor.stride(b); });
  return order;
}

template <typename Element, typename List>
std::vector<Element> narrowed(const List& list) {
  return std::vector<Element>(list.begin(), list.end());
}

}  // namespace aten_util_internal

/// A tensor of PyTorch on the memory of `et`, which must outlive it.
inline at::Tensor alias_attensor_to_etensor(const torch::executor::Tensor& et) {
  const auto sizes = aten_util_internal::narrowed<int64_t>(et.sizes());
  const auto strides = aten_util_internal::narrowed<int64_t>(et.strides());
  const auto options = at::TensorOptions().dtype(executorch_to_torch_scalar_type(et.scalar_type()));
  return at::from_blob(et.mutable_data_ptr(), sizes, strides, options);
}

/// Points `et` at the memory of `at`, which must outlive it. Ends the program unless both have the
/// same type, sizes and strides.
inline void alias_etensor_to_attensor(at::Tensor& at, torch::executor::Tensor& et) {
  ET_CHECK_MSG(torch_to_executorch_scalar_type(at.dtype()) == et.scalar_type(),
               "expected a tensor of dtype %d, found %d", static_cast<int>(et.scalar_type()),
               static_cast<int>(at.scalar_type()));
  ET_CHECK_MSG(at.dim() == et.dim(), "expected a tensor of %d dims, found %d",
               static_cast<int>(et.dim()), static_cast<int>(at.dim()));
  for (int64_t i = 0; i < at.dim(); ++i) {
    const auto index = static_cast<size_t>(i);
    ET_CHECK_MSG(
        at.size(i) == et.sizes()[index] && (at.size(i) == 1 || at.stride(i) == et.strides()[index]),
        "dimension %d: expected size %d and stride %d, found %d and %d", static_cast<int>(i),
        static_cast<int>(et.sizes()[index]), static_cast<int>(et.strides()[index]),
        static_cast<int>(at.size(i)), static_cast<int>(at.stride(i)));
  }
  et.unsafeGetTensorImpl()->set_data(at.mutable_data_ptr());
}

/// A tensor of the runtime on the memory of `t`, which is kept alive. `t` must fill its memory
/// without holes, in any order of dimensions; ends the program otherwise.
inline TensorPtr alias_tensor_ptr_to_attensor(at::Tensor& t) {
  ET_CHECK_MSG(t.is_non_overlapping_and_dense(), "expected a tensor without holes in its memory");
  return make_tensor_ptr(aten_util_internal::narrowed<executorch::aten::SizesType>(t.sizes()),
                         t.mutable_data_ptr(), aten_util_internal::dim_order_of(t),
                         aten_util_internal::narrowed<executorch::aten::StridesType>(t.strides()),
                         torch_to_executorch_scalar_type(t.dtype()),
                         executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND,
                         [keeper = t](void*) {});
}

}  // namespace executorch::extension

namespace torch::executor::util {
inline c10::ScalarType execuTorchtoTorchScalarType(torch::executor::ScalarType type) {
  return ::executorch::extension::executorch_to_torch_scalar_type(type);
}
inline torch::executor::ScalarType torchToExecuTorchScalarType(caffe2::TypeMeta type) {
  return ::executorch::extension::torch_to_executorch_scalar_type(type);
}
using ::executorch::extension::alias_attensor_to_etensor;
using ::executorch::extension::alias_etensor_to_attensor;
}  // namespace torch::executor::util
