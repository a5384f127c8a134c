// SPDX-License-Identifier: BSD-3-Clause
// Trees of lists, tuples and dicts over leaves: flatten to an array, put together again, and the
// compact text form that programs carry, such as `T2#1#1($,D1#1('o':$))`. Header only; for
// applications, not for the core.
//
// A tree owns its nodes and never its leaves: leaf pointers are the caller's. Trees may be read by
// several threads. Malformed text and wrong shapes throw std::runtime_error, indices behind the end
// std::out_of_range (abort where exceptions are off).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <executorch/extension/pytree/function_ref.h>
#include <executorch/runtime/platform/compiler.h>

#ifndef EXECUTORCH_ALWAYS_INLINE
#define EXECUTORCH_ALWAYS_INLINE inline
#endif

namespace executorch::extension::pytree {

struct Empty {};

enum class Kind : uint8_t { List, Tuple, NamedTuple, Dict, Leaf, Custom, None };

using KeyStr = std::string;
using KeyInt = int32_t;
using StrTreeSpec = std::string;

// The letters and signs of the text form.
struct Config final {
  static constexpr char kTuple = 'T';
  static constexpr char kNamedTuple = 'N';
  static constexpr char kList = 'L';
  static constexpr char kDict = 'D';
  static constexpr char kCustom = 'C';
  static constexpr char kLeaf = '$';
  static constexpr char kNodeDataBegin = '(';
  static constexpr char kNodeDataEnd = ')';
  static constexpr char kDictStrKeyQuote = '\'';
  static constexpr char kDictKeyValueSep = ':';
  static constexpr char kChildrenSep = ',';
  static constexpr char kChildrenDataSep = '#';
};

inline void pytree_check(bool must_be_true) {
  if (must_be_true) {
    return;
  }
#if defined(__cpp_exceptions)
  throw std::runtime_error("pytree: malformed text, or a tree of another shape than asked for");
#else
  std::abort();
#endif
}

inline void index_check(size_t index, size_t size) {
  if (index < size) {
    return;
  }
#if defined(__cpp_exceptions)
  throw std::out_of_range("pytree: index " + std::to_string(index) + " of " + std::to_string(size));
#else
  std::abort();
#endif
}

// A key of a dict: a string or a 32-bit number.
struct Key final {
  enum class Kind : uint8_t { None, Int, Str };

  Key() = default;
  /*implicit*/ Key(KeyInt key) : kind_(Kind::Int), int_(key) {}
  /*implicit*/ Key(KeyStr key) : kind_(Kind::Str), str_(std::move(key)) {}

  Kind kind() const { return kind_; }
  KeyInt as_int() const {
    pytree_check(kind_ == Kind::Int);
    return int_;
  }
  const KeyStr& as_str() const {
    pytree_check(kind_ == Kind::Str);
    return str_;
  }
  operator KeyInt() const { return as_int(); }
  operator const KeyStr&() const { return as_str(); }
  bool operator==(const Key& rhs) const {
    return kind_ == rhs.kind_ && int_ == rhs.int_ && str_ == rhs.str_;
  }
  bool operator!=(const Key& rhs) const { return !(*this == rhs); }

 private:
  Kind kind_ = Kind::None;
  KeyInt int_ = 0;
  KeyStr str_;
};

template <typename T, typename Aux>
struct ContainerHandle;

// One node: a leaf, or `size` items (of a dict: under `keys`). `leaves_num` counts the leaves
// below.
template <typename T, typename Aux = Empty>
struct Container final : public Aux {
  using handle_type = ContainerHandle<T, Aux>;
  using leaf_type = T;

  explicit Container(Kind kind, size_t size = 0u)
      : kind(kind), size(size), items(size ? new handle_type[size] : nullptr) {
    if (kind == Kind::Dict) {
      keys.reset(new Key[size]);
    }
  }
  explicit Container(leaf_type* leaf) : kind(Kind::Leaf), leaves_num(1u), leaf(leaf) {}
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  Kind kind = Kind::None;
  size_t size = 0;
  size_t leaves_num = 0;
  leaf_type* leaf = nullptr;
  std::unique_ptr<handle_type[]> items;
  std::unique_ptr<Key[]> keys;
  std::string custom_type;
};

// Owns a node.
template <typename T, typename Aux = Empty>
struct ContainerHandle {
  using container_type = Container<T, Aux>;
  using leaf_type = T;

  ContainerHandle() = default;
  // Implicit, so that an item is assigned a node of any kind, a new one or a leaf:
  //   tree[0] = &leaf; tree[1] = new Container<T>(Kind::List, 2);
  ContainerHandle(container_type* c) : handle(c) {}
  ContainerHandle(std::unique_ptr<container_type> c) : handle(std::move(c)) {}
  template <typename... Args,
            typename = std::enable_if_t<std::is_constructible_v<container_type, Args...>>>
  ContainerHandle(Args... args) : handle(std::make_unique<container_type>(args...)) {}

  Kind kind() const { return node().kind; }
  size_t size() const { return node().size; }
  size_t leaves_num() const { return node().leaves_num; }
  bool isDict() const { return kind() == Kind::Dict; }
  bool isList() const { return kind() == Kind::List; }
  bool isTuple() const { return kind() == Kind::Tuple; }
  bool isNamedTuple() const { return kind() == Kind::NamedTuple; }
  bool isLeaf() const { return kind() == Kind::Leaf; }

  const leaf_type& leaf() const { return *checked_leaf(); }
  leaf_type& leaf() { return *checked_leaf(); }
  const leaf_type* leaf_ptr() const { return node().leaf; }
  leaf_type* leaf_ptr() { return node().leaf; }
  void set_leaf(leaf_type* leaf) {
    pytree_check(isLeaf());
    node().leaf = leaf;
  }
  operator leaf_type() const { return leaf(); }

  ContainerHandle& operator[](size_t idx) { return node().items[checked(idx)]; }
  const ContainerHandle& operator[](size_t idx) const { return node().items[checked(idx)]; }
  Key& key(size_t idx) { return node().keys[checked_key(idx)]; }
  const Key& key(size_t idx) const { return node().keys[checked_key(idx)]; }

  const ContainerHandle& at(const Key& lookup_key) const {
    const size_t idx = find(lookup_key);
    pytree_check(idx < size());
    return node().items[idx];
  }
  const ContainerHandle& at(const KeyInt& lookup_key) const { return at(Key(lookup_key)); }
  const ContainerHandle& at(const KeyStr& lookup_key) const { return at(Key(lookup_key)); }
  bool contains(const KeyStr& lookup_key) const { return isDict() && find(lookup_key) < size(); }

  // Same shape and keys; leaves are not compared.
  bool operator==(const ContainerHandle& rhs) const {
    if (!handle || !rhs.handle) {
      return !handle && !rhs.handle;
    }
    if (kind() != rhs.kind() || size() != rhs.size() || leaves_num() != rhs.leaves_num() ||
        node().custom_type != rhs.node().custom_type) {
      return false;
    }
    for (size_t i = 0; i < size(); ++i) {
      if ((isDict() && key(i) != rhs.key(i)) || !((*this)[i] == rhs[i])) {
        return false;
      }
    }
    return true;
  }
  bool operator!=(const ContainerHandle& rhs) const { return !(*this == rhs); }

  std::unique_ptr<container_type> handle;

 private:
  container_type& node() const {
    pytree_check(handle != nullptr);
    return *handle;
  }
  leaf_type* checked_leaf() const {
    pytree_check(isLeaf() && node().leaf != nullptr);
    return node().leaf;
  }
  size_t checked(size_t idx) const {
    index_check(idx, size());
    return idx;
  }
  size_t checked_key(size_t idx) const {
    pytree_check(isDict());
    return checked(idx);
  }
  size_t find(const Key& lookup_key) const {
    pytree_check(isDict());
    size_t idx = 0;
    while (idx < size() && node().keys[idx] != lookup_key) {
      ++idx;
    }
    return idx;
  }
};

// A tree's shape alone.
struct TreeSpecLeaf {};
template <typename Aux = Empty>
using TreeSpec = ContainerHandle<TreeSpecLeaf, Aux>;
template <typename Aux = Empty>
using TreeSpecContainer = Container<TreeSpecLeaf, Aux>;

// A fixed number of items on the heap.
template <typename T>
struct arr final {
  explicit arr(const size_t n) : data_(new T[n]()), size_(n) {}
  T& operator[](size_t idx) { return data_[idx]; }
  const T& operator[](size_t idx) const { return data_[idx]; }
  T& at(size_t idx) {
    index_check(idx, size_);
    return data_[idx];
  }
  const T& at(size_t idx) const {
    index_check(idx, size_);
    return data_[idx];
  }
  T* data() { return data_.get(); }
  size_t size() const { return size_; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_;
};

// At most SIZE items; bounds how deep text may nest.
template <typename T>
struct stack final {
  static constexpr size_t SIZE = 8;
  T data[SIZE];

  void push(T&& item) {
    pytree_check(size_ < SIZE);
    data[size_++] = std::move(item);
  }
  T pop() {
    pytree_check(size_ > 0);
    return std::move(data[--size_]);
  }
  T& top() {
    pytree_check(size_ > 0);
    return data[size_ - 1];
  }
  size_t size() { return size_; }

 private:
  size_t size_ = 0;
};

// Every node, parents first.
template <typename T, typename Aux>
void traverse(ContainerHandle<T, Aux>& node, FunctionRef<void(ContainerHandle<T, Aux>&)> func) {
  func(node);
  for (size_t i = 0; i < node.size(); ++i) {
    traverse(node[i], func);
  }
}

template <typename T, typename Aux>
void traverse(const ContainerHandle<T, Aux>& node,
              FunctionRef<void(const ContainerHandle<T, Aux>&)> func) {
  func(node);
  for (size_t i = 0; i < node.size(); ++i) {
    traverse(node[i], func);
  }
}

// Counts the leaves below each node again, after a tree was built by hand.
template <typename T, typename Aux>
size_t refresh_leaves_num(const ContainerHandle<T, Aux>& node) {
  size_t count = node.isLeaf() ? 1 : 0;
  for (size_t i = 0; i < node.size(); ++i) {
    count += refresh_leaves_num(node[i]);
  }
  node.handle->leaves_num = count;
  return count;
}

// The same shape over other leaves: `leaves` has leaves_num() of them, or is null.
template <typename T, typename Aux, typename U>
ContainerHandle<U, Aux> clone(const ContainerHandle<T, Aux>& node, U* leaves) {
  if (node.isLeaf()) {
    return ContainerHandle<U, Aux>(new Container<U, Aux>(leaves));
  }
  ContainerHandle<U, Aux> result(new Container<U, Aux>(node.kind(), node.size()));
  result.handle->leaves_num = node.leaves_num();
  result.handle->custom_type = node.handle->custom_type;
  for (size_t i = 0; i < node.size(); ++i) {
    if (node.isDict()) {
      result.key(i) = node.key(i);
    }
    result[i] = clone(node[i], leaves);
    leaves = leaves == nullptr ? nullptr : leaves + node[i].leaves_num();
  }
  return result;
}

template <typename T, typename Aux>
void flatten_internal(ContainerHandle<T, Aux>& tree, T** leaves) {
  traverse<T, Aux>(tree, [&leaves](ContainerHandle<T, Aux>& node) {
    if (node.isLeaf()) {
      *leaves++ = node.leaf_ptr();
    }
  });
}

template <typename T, typename Aux>
void flatten_internal(const ContainerHandle<T, Aux>& tree, const T** leaves) {
  traverse<T, Aux>(tree, [&leaves](const ContainerHandle<T, Aux>& node) {
    if (node.isLeaf()) {
      *leaves++ = node.leaf_ptr();
    }
  });
}

namespace internal {
template <typename T, typename Aux>
std::unique_ptr<TreeSpec<Aux>> shape_of(const ContainerHandle<T, Aux>& tree) {
  auto spec = std::make_unique<TreeSpec<Aux>>();
  *spec = clone<T, Aux, TreeSpecLeaf>(tree, nullptr);
  return spec;
}
}  // namespace internal

// The leaves in order, and the shape. The pointers are those of the tree.
template <typename T, typename Aux>
std::pair<arr<const T*>, std::unique_ptr<TreeSpec<Aux>>> flatten(
    const ContainerHandle<T, Aux>& tree) {
  arr<const T*> leaves(refresh_leaves_num(tree));
  flatten_internal(tree, leaves.data());
  return {std::move(leaves), internal::shape_of(tree)};
}

template <typename T, typename Aux>
std::pair<arr<T*>, std::unique_ptr<TreeSpec<Aux>>> flatten(ContainerHandle<T, Aux>& tree) {
  arr<T*> leaves(refresh_leaves_num(tree));
  flatten_internal(tree, leaves.data());
  return {std::move(leaves), internal::shape_of(tree)};
}

// ---- The text form ----

template <typename Aux>
StrTreeSpec to_str_internal(const TreeSpec<Aux>& spec) {
  if (spec.isLeaf()) {
    return StrTreeSpec(1, Config::kLeaf);
  }
  // In the order of Kind. from_str() has no trees of a user's own types.
  constexpr char kLetters[] = {Config::kList, Config::kTuple, Config::kNamedTuple,
                               Config::kDict, Config::kLeaf,  Config::kCustom};
  pytree_check(static_cast<size_t>(spec.kind()) < sizeof(kLetters));
  StrTreeSpec text(1, kLetters[static_cast<size_t>(spec.kind())]);
  if (spec.kind() == Kind::Custom) {
    text += '(' + spec.handle->custom_type + ')';
  }
  text += std::to_string(spec.size());
  for (size_t i = 0; i < spec.size(); ++i) {
    text += Config::kChildrenDataSep + std::to_string(spec[i].leaves_num());
  }
  text += Config::kNodeDataBegin;
  for (size_t i = 0; i < spec.size(); ++i) {
    if (i > 0) {
      text += Config::kChildrenSep;
    }
    if (spec.isDict()) {
      const Key& key = spec.key(i);
      text += key.kind() == Key::Kind::Int
                  ? std::to_string(key.as_int())
                  : Config::kDictStrKeyQuote + key.as_str() + Config::kDictStrKeyQuote;
      text += Config::kDictKeyValueSep;
    }
    text += to_str_internal(spec[i]);
  }
  return text + Config::kNodeDataEnd;
}

template <typename Aux>
StrTreeSpec to_str(const TreeSpec<Aux>& spec) {
  refresh_leaves_num(spec);
  return to_str_internal(spec);
}

// A decimal number at `read_idx`, which moves behind it.
inline size_t read_number(const StrTreeSpec& spec, size_t& read_idx) {
  constexpr size_t kLimit = 1u << 30;
  size_t number = 0;
  const size_t start = read_idx;
  while (read_idx < spec.size() && spec[read_idx] >= '0' && spec[read_idx] <= '9') {
    number = number * 10 + static_cast<size_t>(spec[read_idx++] - '0');
    pytree_check(number < kLimit);
  }
  pytree_check(read_idx > start);
  return number;
}

// `2#1#1` at `read_idx`: how many leaves each child has.
inline arr<size_t> read_node_layout(const StrTreeSpec& spec, size_t& read_idx) {
  const size_t children = read_number(spec, read_idx);
  pytree_check(children <= spec.size());  // each takes a character at least
  arr<size_t> layout(children);
  for (size_t& leaves : layout) {
    pytree_check(read_idx < spec.size() && spec[read_idx] == Config::kChildrenDataSep);
    ++read_idx;
    leaves = read_number(spec, read_idx);
  }
  return layout;
}

// For each opening parenthesis the place of its closing one. Refuses text that does not pair or
// nests too deep.
inline arr<size_t> pre_parse(const StrTreeSpec& spec) {
  arr<size_t> closing(spec.size());
  stack<size_t> open;
  bool quoted = false;
  for (size_t i = 0; i < spec.size(); ++i) {
    quoted = quoted != (spec[i] == Config::kDictStrKeyQuote);
    if (!quoted && spec[i] == Config::kNodeDataBegin) {
      open.push(size_t(i));
    } else if (!quoted && spec[i] == Config::kNodeDataEnd) {
      closing[open.pop()] = i;
    }
  }
  pytree_check(!quoted && open.size() == 0);
  return closing;
}

namespace internal {
inline Key read_key(const StrTreeSpec& spec, size_t& read_idx) {
  pytree_check(read_idx < spec.size());
  Key key;
  if (spec[read_idx] == Config::kDictStrKeyQuote) {
    const size_t end = spec.find(Config::kDictStrKeyQuote, read_idx + 1);
    pytree_check(end != StrTreeSpec::npos);
    key = Key(spec.substr(read_idx + 1, end - read_idx - 1));
    read_idx = end + 1;
  } else {
    const bool negative = spec[read_idx] == '-';
    read_idx += negative ? 1 : 0;
    const auto number = static_cast<KeyInt>(read_number(spec, read_idx));
    key = Key(negative ? -number : number);
  }
  pytree_check(read_idx < spec.size() && spec[read_idx] == Config::kDictKeyValueSep);
  ++read_idx;
  return key;
}

inline Kind kind_of(char letter) {
  switch (letter) {
    case Config::kList:
      return Kind::List;
    case Config::kTuple:
      return Kind::Tuple;
    case Config::kNamedTuple:
      return Kind::NamedTuple;
    case Config::kDict:
      return Kind::Dict;
    default:
      pytree_check(false);  // custom containers have no text that can be read
      return Kind::None;
  }
}
}  // namespace internal

// The node that starts at `read_idx`; `spec_data` is pre_parse's.
template <typename Aux>
TreeSpec<Aux> from_str_internal(const StrTreeSpec& spec, size_t read_idx,
                                const arr<size_t>& spec_data) {
  pytree_check(read_idx < spec.size());
  if (spec[read_idx] == Config::kLeaf) {
    return TreeSpec<Aux>(new TreeSpecContainer<Aux>(static_cast<TreeSpecLeaf*>(nullptr)));
  }
  const Kind kind = internal::kind_of(spec[read_idx++]);
  const arr<size_t> layout = read_node_layout(spec, read_idx);
  pytree_check(read_idx < spec.size() && spec[read_idx] == Config::kNodeDataBegin);
  const size_t end = spec_data.at(read_idx++);
  TreeSpec<Aux> node(new TreeSpecContainer<Aux>(kind, layout.size()));
  for (size_t i = 0; i < layout.size(); ++i) {
    if (i > 0) {
      pytree_check(read_idx < end && spec[read_idx] == Config::kChildrenSep);
      ++read_idx;
    }
    if (kind == Kind::Dict) {
      node.key(i) = internal::read_key(spec, read_idx);
    }
    node[i] = from_str_internal<Aux>(spec, read_idx, spec_data);
    pytree_check(node[i].leaves_num() == layout[i]);
    node.handle->leaves_num += layout[i];
    if (spec[read_idx] == Config::kLeaf) {
      ++read_idx;
    } else {
      read_idx = spec_data.at(spec.find(Config::kNodeDataBegin, read_idx)) + 1;
    }
  }
  pytree_check(read_idx == end);
  return node;
}

template <typename Aux = Empty>
TreeSpec<Aux> from_str(const StrTreeSpec& spec) {
  const arr<size_t> closing = pre_parse(spec);
  TreeSpec<Aux> result = from_str_internal<Aux>(spec, 0, closing);
  const size_t last = result.isLeaf() ? 0 : closing.at(spec.find(Config::kNodeDataBegin));
  pytree_check(last + 1 == spec.size());
  return result;
}

// A tree of that shape over `leaves`, leaves_num() of them, which must outlive it.
template <typename T, typename Aux>
ContainerHandle<T, Aux> unflatten(const TreeSpec<Aux>& spec, T* leaves) {
  return clone<TreeSpecLeaf, Aux, T>(spec, leaves);
}

template <typename T, typename Aux = Empty>
ContainerHandle<T, Aux> unflatten(const StrTreeSpec& spec, T* leaves) {
  return unflatten<T, Aux>(from_str<Aux>(spec), leaves);
}

}  // namespace executorch::extension::pytree

// The historic spellings.
namespace torch::executor::pytree {
using ::executorch::extension::pytree::Empty;
using ::executorch::extension::pytree::from_str;
using ::executorch::extension::pytree::TreeSpec;
using ::executorch::runtime::FunctionRef;
}  // namespace torch::executor::pytree
