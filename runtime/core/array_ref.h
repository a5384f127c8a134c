// SPDX-License-Identifier: BSD-3-Clause
// ArrayRef<T>: a view of contiguous, constant elements.
#pragma once

#include <executorch/runtime/core/historic_namespaces.h>
#include <executorch/runtime/platform/assert.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace executorch {
namespace runtime {

/// Does not own: the elements must outlive it. Copy it by value.
template <typename T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;

  constexpr ArrayRef() : Data(nullptr), Length(0) {}

  /* implicit */ constexpr ArrayRef(const T& OneElt) : Data(&OneElt), Length(1) {}

  ArrayRef(const T* data, size_t length) : Data(data), Length(length) {
    ET_DCHECK(Data != nullptr || Length == 0);
  }

  ArrayRef(const T* begin, const T* end) : Data(begin), Length(static_cast<size_t>(end - begin)) {}

  template <size_t N>
  /* implicit */ constexpr ArrayRef(const std::array<T, N>& Arr) : Data(Arr.data()), Length(N) {}

  template <size_t N>
  /* implicit */ constexpr ArrayRef(const T (&Arr)[N]) : Data(Arr), Length(N) {}

  constexpr iterator begin() const {
    return Data;
  }
  constexpr iterator end() const {
    return Data + Length;
  }
  constexpr const_iterator cbegin() const {
    return Data;
  }
  constexpr const_iterator cend() const {
    return Data + Length;
  }
  constexpr bool empty() const {
    return Length == 0;
  }
  constexpr const T* data() const {
    return Data;
  }
  constexpr size_t size() const {
    return Length;
  }

  const T& front() const {
    ET_CHECK(!empty());
    return Data[0];
  }
  const T& back() const {
    ET_CHECK(!empty());
    return Data[Length - 1];
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

  /// Elements [N, N + M).
  ArrayRef<T> slice(size_t N, size_t M) const {
    ET_CHECK_MSG(N <= Length && M <= Length - N, "slice(%zu, %zu) of %zu", N, M, Length);
    return ArrayRef<T>(Data + N, M);
  }
  ArrayRef<T> slice(size_t N) const {
    ET_CHECK_MSG(N <= Length, "slice(%zu) of %zu", N, Length);
    return ArrayRef<T>(Data + N, Length - N);
  }

  constexpr const T& operator[](size_t Index) const {
    return Data[Index];
  }

  const T& at(size_t Index) const {
    ET_CHECK_MSG(Index < Length, "index %zu of %zu", Index, Length);
    return Data[Index];
  }

 private:
  const T* Data;
  size_type Length;
};

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
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& Arr) {
  return Arr;
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
ArrayRef<T> makeArrayRef(const T (&Arr)[N]) {
  return ArrayRef<T>(Arr);
}

template <typename T>
bool operator==(ArrayRef<T> a1, ArrayRef<T> a2) {
  return a1.equals(a2);
}
template <typename T>
bool operator!=(ArrayRef<T> a1, ArrayRef<T> a2) {
  return !a1.equals(a2);
}

using IntArrayRef = ArrayRef<int64_t>;

} // namespace runtime
} // namespace executorch
