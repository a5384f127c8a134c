// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pytree/aten_util/ivalue_util.h>

#include <limits>

#include <ATen/core/Dict.h>
#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>

namespace executorch::extension {

namespace {

using Tree = pytree::ContainerHandle<at::Tensor>;
using pytree::Kind;

pytree::Key key_of(const c10::IValue& key) {
  if (key.isString()) {
    return pytree::KeyStr(key.toStringRef());
  }
  pytree::pytree_check(key.isInt() && key.toInt() >= std::numeric_limits<pytree::KeyInt>::min() &&
                       key.toInt() <= std::numeric_limits<pytree::KeyInt>::max());
  return pytree::KeyInt(static_cast<int32_t>(key.toInt()));
}

// The items of a list or tuple. Lists of tensors are kept apart from other lists.
std::vector<c10::IValue> items_of(const c10::IValue& data) {
  if (data.isTuple()) {
    return data.toTuple()->elements().vec();
  }
  return data.toListRef().vec();
}

// A tree whose leaves point into `leaves`, which has room for all of them.
Tree tree_of(const c10::IValue& data, std::vector<std::unique_ptr<at::Tensor>>& leaves) {
  if (data.isTensor()) {
    leaves.push_back(std::make_unique<at::Tensor>(data.toTensor()));
    return Tree(leaves.back().get());
  }
  if (data.isGenericDict()) {
    const auto dict = data.toGenericDict();
    Tree tree(Kind::Dict, dict.size());
    size_t i = 0;
    for (const auto& entry : dict) {
      tree.key(i) = key_of(entry.key());
      tree[i++] = tree_of(entry.value(), leaves);
    }
    return tree;
  }
  TORCH_CHECK(data.isList() || data.isTuple(),
              "expected a tree of tensors, tuples, lists and dicts, found ", data.tagKind());
  const std::vector<c10::IValue> items = items_of(data);
  Tree tree(data.isTuple() ? Kind::Tuple : Kind::List, items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    tree[i] = tree_of(items[i], leaves);
  }
  return tree;
}

c10::IValue ivalue_of(const Tree& tree);

c10::IValue dict_of(const Tree& tree) {
  // The first entry says what kind of keys the dict has.
  const bool has_strings = tree.size() == 0 || tree.key(0).kind() == pytree::Key::Kind::Str;
  c10::impl::GenericDict dict(
      has_strings ? c10::TypePtr(c10::StringType::get()) : c10::TypePtr(c10::IntType::get()),
      c10::AnyType::get());
  for (size_t i = 0; i < tree.size(); ++i) {
    dict.insert(has_strings ? c10::IValue(tree.key(i).as_str())
                            : c10::IValue(static_cast<int64_t>(tree.key(i).as_int())),
                ivalue_of(tree[i]));
  }
  return dict;
}

c10::IValue ivalue_of(const Tree& tree) {
  if (tree.isLeaf()) {
    return tree.leaf();
  }
  if (tree.isDict()) {
    return dict_of(tree);
  }
  std::vector<c10::IValue> items;
  bool all_tensors = tree.size() > 0;
  for (size_t i = 0; i < tree.size(); ++i) {
    items.push_back(ivalue_of(tree[i]));
    all_tensors = all_tensors && tree[i].isLeaf();
  }
  if (!tree.isList()) {
    return c10::ivalue::Tuple::create(std::move(items));
  }
  c10::impl::GenericList list(all_tensors ? c10::TypePtr(c10::TensorType::get())
                                          : c10::TypePtr(c10::AnyType::get()));
  for (c10::IValue& item : items) {
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

std::pair<std::vector<at::Tensor>, std::unique_ptr<pytree::TreeSpec<pytree::Empty>>> flatten(
    const c10::IValue& data) {
  std::vector<std::unique_ptr<at::Tensor>> leaves;
  Tree tree = tree_of(data, leaves);
  pytree::refresh_leaves_num(tree);
  std::vector<at::Tensor> tensors;
  for (const auto& leaf : leaves) {
    tensors.push_back(*leaf);
  }
  return {std::move(tensors), pytree::flatten(tree).second};
}

c10::IValue unflatten(const std::vector<at::Tensor>& tensors,
                      const std::unique_ptr<pytree::TreeSpec<pytree::Empty>>& tree_spec) {
  pytree::pytree_check(tree_spec != nullptr && tree_spec->leaves_num() == tensors.size());
  std::vector<at::Tensor> leaves = tensors;
  return ivalue_of(pytree::unflatten(*tree_spec, leaves.data()));
}

bool is_same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_same(b[i])) {
      return false;
    }
  }
  return true;
}

bool is_same(const c10::IValue& lhs, const c10::IValue& rhs) {
  const auto [left, left_spec] = flatten(lhs);
  const auto [right, right_spec] = flatten(rhs);
  return *left_spec == *right_spec && is_same(left, right);
}

}  // namespace executorch::extension
