// SPDX-License-Identifier: BSD-3-Clause
// Trees of PyTorch's tensors (IValues of tensors, tuples, lists and dicts): flattened to a list and
// a shape, and back.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <executorch/extension/pytree/pytree.h>

namespace executorch::extension {

/// The tensors in their order, and the shape of the tree. Keys of dicts are strings or integers of
/// 32 bits. Throws c10::Error for any other leaf, std::runtime_error for any other key.
std::pair<std::vector<at::Tensor>, std::unique_ptr<pytree::TreeSpec<pytree::Empty>>> flatten(
    const c10::IValue& data);

/// The tree again; std::runtime_error unless there are as many tensors as the shape has leaves.
c10::IValue unflatten(const std::vector<at::Tensor>& tensors,
                      const std::unique_ptr<pytree::TreeSpec<pytree::Empty>>& tree_spec);

/// Whether both have the same tensors, in kind: the same objects, not equal ones.
bool is_same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b);
bool is_same(const c10::IValue& lhs, const c10::IValue& rhs);

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::flatten;
using ::executorch::extension::is_same;
using ::executorch::extension::unflatten;
}  // namespace torch::executor::util
namespace torch::util {
using ::executorch::extension::flatten;
using ::executorch::extension::is_same;
using ::executorch::extension::unflatten;
}  // namespace torch::util
