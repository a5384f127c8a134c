// SPDX-License-Identifier: BSD-3-Clause
// torch tensors and our tensors, through Python: nothing here links libtorch.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/executor/method_meta.h>

namespace executorch::extension::pybindings {

// The torch.dtype of an element type; throws RuntimeFailure if torch has none.
pybind11::object torch_dtype(executorch::aten::ScalarType type);

bool is_torch_tensor(pybind11::handle value);

// The same numbers in memory that can be read as they lie: a conjugated or negated view, which only
// says so, is computed. RuntimeFailure, beginning with `what`, for tensors without such memory
// (sparse, nested, on another device, fake).
pybind11::object plain_torch_tensor(pybind11::handle tensor, const std::string& what);

// A tensor over the memory of a plain torch tensor, which must live as long. Type, rank and order
// of dimensions must be those of `expected`: otherwise RuntimeFailure, beginning with `what`, says
// what was expected and found.
TensorPtr borrow_torch_tensor(pybind11::handle tensor,
                              const executorch::runtime::TensorInfo& expected,
                              const std::string& what);

// Uninitialized torch memory for an output of at most this many bytes, as a tensor of uint8.
pybind11::object make_output_memory(size_t num_bytes);

// Where a torch tensor's data lie.
void* torch_data_ptr(pybind11::handle tensor);

// A torch tensor with the type, sizes and strides of `tensor` and its data in `memory` (from
// make_output_memory).
pybind11::object view_memory(const executorch::aten::Tensor& tensor,
                             const pybind11::object& memory);

// A torch tensor with a copy of the data.
pybind11::object copy_to_torch(const executorch::aten::Tensor& tensor);

// A torch tensor over the same data, which `owner` keeps alive.
pybind11::object share_with_torch(const executorch::aten::Tensor& tensor,
                                  const pybind11::object& owner);

// Adds the types that share_with_torch() needs.
void bind_torch_tensor(pybind11::module_& module);

}  // namespace executorch::extension::pybindings
