// SPDX-License-Identifier: BSD-3-Clause
// Tensors behind handles: of the caller, or outputs of a module.
#pragma once

#include <executorch/extension/c/handles.h>
#include <executorch/extension/c/status.h>
#include <executorch/extension/tensor/tensor_ptr.h>

namespace executorch::extension::c {

struct TensorObject final : Object {
  static constexpr Kind kKind = Kind::Tensor;
  explicit TensorObject(TensorPtr its_tensor) : tensor(*its_tensor), owner(std::move(its_tensor)) {}
  // A module's.
  explicit TensorObject(const executorch::aten::Tensor& its_tensor) : tensor(its_tensor) {}

  executorch::aten::Tensor tensor;  // refers to the owner's, or the method's
  TensorPtr owner;
};

ExecuTorchStatus dtype_info(int32_t dtype, ExecuTorchDtypeInfo* out_info) noexcept;
ExecuTorchStatus tensor_new(const ExecuTorchTensorSpec* spec,
                            ExecuTorchTensor* out_tensor) noexcept;
ExecuTorchStatus tensor_info(ExecuTorchTensor tensor, ExecuTorchTensorInfo* out_info) noexcept;
ExecuTorchStatus tensor_resize(ExecuTorchTensor tensor, size_t rank, const int32_t* sizes) noexcept;
ExecuTorchStatus tensor_copy(ExecuTorchTensor tensor, ExecuTorchTensor* out_tensor) noexcept;

// A handle for the object. MemoryAllocationFailed if there is no place.
template <typename T, typename... Args>
runtime::Result<Handle> make_handle(Args&&... args) {
  const Handle handle = add(T::kKind, std::make_unique<T>(std::forward<Args>(args)...));
  ET_CHECK_OR_RETURN_ERROR(handle != 0, MemoryAllocationFailed,
                           "there is no place for another handle: release some");
  return handle;
}

}  // namespace executorch::extension::c
