// SPDX-License-Identifier: BSD-3-Clause
// ArrayRef<T>: a read-only view of consecutive elements. Does not own them: pass it by value, do
// not store it beyond the life of what it points to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <c10/util/irange.h>
#include <c10/util/safe_numerics.h>

#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace runtime {

template <typename T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;

  constexpr ArrayRef() noexcept : Data(nullptr), Length(0) {}
  /* implicit */ constexpr ArrayRef(const T& OneElt) : Data(&OneElt), Length(1) {}
  constexpr ArrayRef(const T* data, size_t length) : Data(data), Length(length) {
    ET_DCHECK(Data != nullptr || Length == 0);
  }
  constexpr ArrayRef(const T* begin, const T* end)
      : Data(begin), Length(static_cast<size_t>(end - begin)) {}
  template <size_t N>
  /* implicit */ constexpr ArrayRef(const std::array<T, N>& Arr) : Data(Arr.data()), Length(N) {}
  template <size_t N>
  /* implicit */ constexpr ArrayRef(const T (&Arr)[N]) : Data(Arr), Length(N) {}

  constexpr iterator begin() const { return Data; }
  constexpr iterator end() const { return Data + Length; }
  constexpr const_iterator cbegin() const { return Data; }
  constexpr const_iterator cend() const { return Data + Length; }
  constexpr bool empty() const { return Length == 0; }
  constexpr const T* data() const { return Data; }
  constexpr size_t size() const { return Length; }

  /// The elements; the index must be within, checked in debug builds.
  const T& operator[](size_t Index) const {
    ET_DCHECK(Index < Length);
    return Data[Index];
  }

  /// As operator[], always checked.
  const T& front() const { return at(0); }
  const T& back() const { return at(Length - 1); }
  const T& at(size_t Index) const {
    ET_CHECK_MSG(Index < Length, "index %zu of an ArrayRef of %zu", Index, Length);
    return Data[Index];
  }

  bool equals(ArrayRef RHS) const {
    if (Length != RHS.Length) {
      return false;
    }
    for (size_t i = 0; i < Length; ++i) {
      if (!(Data[i] == RHS.Data[i])) {
        return false;
      }
    }
    return true;
  }

  /// M elements from the N-th on; they must exist.
  ArrayRef<T> slice(size_t N, size_t M) const {
    ET_CHECK_MSG(N <= Length && M <= Length - N, "slice (%zu, %zu) of an ArrayRef of %zu", N, M,
                 Length);
    return {Data + N, M};
  }
  /// All elements from the N-th on.
  ArrayRef<T> slice(size_t N) const {
    ET_CHECK_MSG(N <= Length, "slice (%zu) of an ArrayRef of %zu", N, Length);
    return {Data + N, Length - N};
  }

 private:
  const T* Data;
  size_type Length;
};

template <typename T>
bool operator==(ArrayRef<T> a1, ArrayRef<T> a2) {
  return a1.equals(a2);
}
template <typename T>
bool operator!=(ArrayRef<T> a1, ArrayRef<T> a2) {
  return !a1.equals(a2);
}

template <typename T>
ArrayRef<T> makeArrayRef(const T& OneElt) {
  return OneElt;
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* data, size_t length) {
  return ArrayRef<T>(data, length);
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* begin, const T* end) {
  return ArrayRef<T>(begin, end);
}
template <typename T>
ArrayRef<T> makeArrayRef(const ArrayRef<T>& Vec) {
  return Vec;
}
template <typename T>
ArrayRef<T>& makeArrayRef(ArrayRef<T>& Vec) {
  return Vec;
}
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& Arr) {
  return Arr;
}
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const T (&Arr)[N]) {
  return ArrayRef<T>(Arr);
}

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::ArrayRef;
using ::executorch::runtime::IntArrayRef;
using ::executorch::runtime::makeArrayRef;
}  // namespace torch::executor
