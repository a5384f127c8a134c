// SPDX-License-Identifier: BSD-3-Clause
// EValue: one value of a program - tensor, number, string or list. Small, trivially copyable, owns
// nothing; but in ATen mode a tensor counts its references, and an EValue holds one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

struct EValue;

/// A list whose elements are values of a program: pointers to them, and an array that get() fills
/// with what they hold at that moment. Owns neither array. A null pointer stands for no value,
/// where T is an optional.
template <typename T>
class BoxedEvalueList {
 public:
  BoxedEvalueList() = default;
  /// Both arrays exist and have `size` elements; those of `unwrapped_vals` are constructed or
  /// trivial.
  BoxedEvalueList(EValue** wrapped_vals, T* unwrapped_vals, int size)
      : wrapped_vals_(wrapped_vals, checked_size(wrapped_vals, unwrapped_vals, size)),
        unwrapped_vals_(unwrapped_vals) {}

  /// The elements as they are now. Ends the program when one has another type.
  executorch::aten::ArrayRef<T> get() const;
  /// As get(); InvalidType when an element has another type, InvalidState when one is missing.
  Result<executorch::aten::ArrayRef<T>> tryGet() const;

  /// Destroys the elements of the array. The list must not be used afterwards.
  void destroy_elements() {
    for (size_t i = 0; i < wrapped_vals_.size(); ++i) {
      unwrapped_vals_[i].~T();
    }
  }

 private:
  static size_t checked_size(EValue** wrapped_vals, T* unwrapped_vals, int size) {
    ET_CHECK_MSG(size >= 0, "list of %d elements", size);
    ET_CHECK_MSG(wrapped_vals != nullptr && unwrapped_vals != nullptr,
                 "no memory for a list of %d elements", size);
    return static_cast<size_t>(size);
  }

  executorch::aten::ArrayRef<EValue*> wrapped_vals_;
  T* unwrapped_vals_ = nullptr;
};

}  // namespace ET_RUNTIME_NAMESPACE

namespace runtime {
namespace internal {

template <typename T>
struct is_std_optional : std::false_type {};
template <typename T>
struct is_std_optional<std::optional<T>> : std::true_type {};

/// What EValue::to<T>() returns: references for tensors, values for all else.
template <typename T>
struct evalue_to_const_ref_overload_return {
  using type = T;
};
template <>
struct evalue_to_const_ref_overload_return<executorch::aten::Tensor> {
  using type = const executorch::aten::Tensor&;
};
template <typename T>
struct evalue_to_ref_overload_return {
  using type = T;
};
template <>
struct evalue_to_ref_overload_return<executorch::aten::Tensor> {
  using type = executorch::aten::Tensor&;
};

/// All that an EValue holds but for tensors.
union EValuePlainPayload {
  EValuePlainPayload() : as_int(0) {}
  int64_t as_int;
  double as_double;
  bool as_bool;
  executorch::aten::ArrayRef<char>* as_string_ptr;
  executorch::aten::ArrayRef<double>* as_double_list_ptr;
  executorch::aten::ArrayRef<bool>* as_bool_list_ptr;
  ET_RUNTIME_NAMESPACE::BoxedEvalueList<int64_t>* as_int_list_ptr;
  ET_RUNTIME_NAMESPACE::BoxedEvalueList<executorch::aten::Tensor>* as_tensor_list_ptr;
  ET_RUNTIME_NAMESPACE::BoxedEvalueList<std::optional<executorch::aten::Tensor>>*
      as_list_optional_tensor_ptr;
};

/// The value and its kind. Tensors that are handles are copied and forgotten like numbers.
template <typename T, bool is_handle = std::is_trivially_copyable_v<T>>
struct EValueStorage {
  union Payload {
    using TriviallyCopyablePayload = EValuePlainPayload;
    TriviallyCopyablePayload copyable_union;
    T as_tensor;

    Payload() : copyable_union() {}
    ~Payload() = default;
  };

  EValueStorage() = default;

  Payload payload;
  Tag tag = Tag::None;

 protected:
  explicit EValueStorage(Tag kind) : tag(kind) {}
  void set_tensor(const T& tensor) {
    payload.as_tensor = tensor;
    tag = Tag::Tensor;
  }
  void clear() {
    payload.copyable_union.as_int = 0;
    tag = Tag::None;
  }
};

/// The same with tensors that count their references.
template <typename T>
struct EValueStorage<T, false> {
  union Payload {
    using TriviallyCopyablePayload = EValuePlainPayload;
    TriviallyCopyablePayload copyable_union;
    T as_tensor;

    Payload() : copyable_union() {}
    ~Payload() {}
  };

  EValueStorage() = default;
  EValueStorage(const EValueStorage& rhs) { copy(rhs); }
  EValueStorage& operator=(const EValueStorage& rhs) {
    if (this != &rhs) {
      clear();
      copy(rhs);
    }
    return *this;
  }
  ~EValueStorage() { clear(); }

  Payload payload;
  Tag tag = Tag::None;

 protected:
  explicit EValueStorage(Tag kind) : tag(kind) {}
  void set_tensor(const T& tensor) {
    new (&payload.as_tensor) T(tensor);
    tag = Tag::Tensor;
  }
  void clear() {
    if (tag == Tag::Tensor) {
      payload.as_tensor.~T();
    }
    payload.copyable_union.as_int = 0;
    tag = Tag::None;
  }

 private:
  void copy(const EValueStorage& rhs) {
    if (rhs.tag == Tag::Tensor) {
      set_tensor(rhs.payload.as_tensor);
    } else {
      payload.copyable_union = rhs.payload.copyable_union;
      tag = rhs.tag;
    }
  }
};

}  // namespace internal
}  // namespace runtime

namespace ET_RUNTIME_NAMESPACE {

/// Three ways to read: isX() tells the kind; toX() gives the value and ends the program on another
/// kind - for values the caller has checked; tryToX() returns InvalidType on another kind and
/// InvalidState on a null list or string - for values that come from a file or a user. What lists,
/// strings and tensors refer to must outlive the EValue.
struct EValue : runtime::internal::EValueStorage<executorch::aten::Tensor> {
  /// None.
  EValue() = default;
  EValue(const EValue& rhs) = default;
  EValue(EValue&& rhs) noexcept : EValueStorage(rhs) { rhs.clear(); }
  EValue& operator=(const EValue& rhs) = default;
  EValue& operator=(EValue&& rhs) noexcept {
    if (this != &rhs) {
      EValueStorage::operator=(rhs);
      rhs.clear();
    }
    return *this;
  }
  ~EValue() = default;

  /* implicit */ EValue(int64_t i) : EValueStorage(Tag::Int) { payload.copyable_union.as_int = i; }
  /* implicit */ EValue(double d) : EValueStorage(Tag::Double) {
    payload.copyable_union.as_double = d;
  }
  /* implicit */ EValue(bool b) : EValueStorage(Tag::Bool) { payload.copyable_union.as_bool = b; }
  /// Int, Double or Bool, as the scalar is.
  /* implicit */ EValue(executorch::aten::Scalar s) : EValue() {
    if (s.isIntegral(/*includeBool=*/false)) {
      *this = EValue(s.to<int64_t>());
    } else if (s.isFloatingPoint()) {
      *this = EValue(s.to<double>());
    } else {
      *this = EValue(s.to<bool>());
    }
  }
  /* implicit */ EValue(executorch::aten::Tensor t) { set_tensor(t); }
  /* implicit */ EValue(executorch::aten::ArrayRef<char>* s) : EValueStorage(Tag::String) {
    payload.copyable_union.as_string_ptr = not_null(s);
  }
  /* implicit */ EValue(executorch::aten::ArrayRef<bool>* b) : EValueStorage(Tag::ListBool) {
    payload.copyable_union.as_bool_list_ptr = not_null(b);
  }
  /* implicit */ EValue(executorch::aten::ArrayRef<double>* d) : EValueStorage(Tag::ListDouble) {
    payload.copyable_union.as_double_list_ptr = not_null(d);
  }
  /* implicit */ EValue(BoxedEvalueList<int64_t>* i) : EValueStorage(Tag::ListInt) {
    payload.copyable_union.as_int_list_ptr = not_null(i);
  }
  /* implicit */ EValue(BoxedEvalueList<executorch::aten::Tensor>* t)
      : EValueStorage(Tag::ListTensor) {
    payload.copyable_union.as_tensor_list_ptr = not_null(t);
  }
  /* implicit */ EValue(BoxedEvalueList<std::optional<executorch::aten::Tensor>>* t)
      : EValueStorage(Tag::ListOptionalTensor) {
    payload.copyable_union.as_list_optional_tensor_ptr = not_null(t);
  }
  /// From a smart pointer to anything above; it must not be null and keeps its ownership.
  template <typename T,
            typename = std::enable_if_t<
                !std::is_pointer_v<std::decay_t<T>> && !std::is_same_v<std::decay_t<T>, EValue> &&
                !std::is_arithmetic_v<std::decay_t<T>> &&
                std::is_convertible_v<decltype(*std::declval<T&>()), EValue>>>
  /* implicit */ EValue(T&& value) : EValue(*checked(value)) {}
  /// Not from any other pointer: it would silently become a bool.
  template <typename T>
  explicit EValue(T* value) = delete;

  bool isNone() const { return tag == Tag::None; }
  bool isInt() const { return tag == Tag::Int; }
  bool isDouble() const { return tag == Tag::Double; }
  bool isBool() const { return tag == Tag::Bool; }
  bool isScalar() const { return isInt() || isDouble() || isBool(); }
  bool isTensor() const { return tag == Tag::Tensor; }
  bool isString() const { return tag == Tag::String; }
  bool isIntList() const { return tag == Tag::ListInt; }
  bool isBoolList() const { return tag == Tag::ListBool; }
  bool isDoubleList() const { return tag == Tag::ListDouble; }
  bool isTensorList() const { return tag == Tag::ListTensor; }
  bool isListOptionalTensor() const { return tag == Tag::ListOptionalTensor; }

  int64_t toInt() const {
    expect(Tag::Int);
    return payload.copyable_union.as_int;
  }
  double toDouble() const {
    expect(Tag::Double);
    return payload.copyable_union.as_double;
  }
  bool toBool() const {
    expect(Tag::Bool);
    return payload.copyable_union.as_bool;
  }
  executorch::aten::Scalar toScalar() const;
  /// Leaves None behind.
  executorch::aten::Tensor toTensor() && {
    expect(Tag::Tensor);
    const executorch::aten::Tensor tensor = payload.as_tensor;
    clear();
    return tensor;
  }
  executorch::aten::Tensor& toTensor() & {
    expect(Tag::Tensor);
    return payload.as_tensor;
  }
  const executorch::aten::Tensor& toTensor() const& {
    expect(Tag::Tensor);
    return payload.as_tensor;
  }
  std::string_view toString() const {
    const auto& text = *pointer(Tag::String, payload.copyable_union.as_string_ptr);
    return {text.data(), text.size()};
  }
  executorch::aten::ArrayRef<int64_t> toIntList() const {
    return pointer(Tag::ListInt, payload.copyable_union.as_int_list_ptr)->get();
  }
  executorch::aten::ArrayRef<bool> toBoolList() const {
    return *pointer(Tag::ListBool, payload.copyable_union.as_bool_list_ptr);
  }
  executorch::aten::ArrayRef<double> toDoubleList() const {
    return *pointer(Tag::ListDouble, payload.copyable_union.as_double_list_ptr);
  }
  executorch::aten::ArrayRef<executorch::aten::Tensor> toTensorList() const {
    return pointer(Tag::ListTensor, payload.copyable_union.as_tensor_list_ptr)->get();
  }
  executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>> toListOptionalTensor() const {
    return pointer(Tag::ListOptionalTensor, payload.copyable_union.as_list_optional_tensor_ptr)
        ->get();
  }
  // Enumerations are Ints.
  executorch::aten::ScalarType toScalarType() const {
    return static_cast<executorch::aten::ScalarType>(toInt());
  }
  executorch::aten::MemoryFormat toMemoryFormat() const {
    return static_cast<executorch::aten::MemoryFormat>(toInt());
  }
  executorch::aten::Layout toLayout() const {
    return static_cast<executorch::aten::Layout>(toInt());
  }
  executorch::aten::Device toDevice() const {
    return executorch::aten::Device(static_cast<executorch::aten::DeviceType>(toInt()), -1);
  }

  Result<int64_t> tryToInt() const;
  Result<double> tryToDouble() const;
  Result<bool> tryToBool() const;
  Result<executorch::aten::Scalar> tryToScalar() const;
  Result<executorch::aten::Tensor> tryToTensor() const;
  Result<std::string_view> tryToString() const;
  Result<executorch::aten::ArrayRef<int64_t>> tryToIntList() const;
  Result<executorch::aten::ArrayRef<bool>> tryToBoolList() const;
  Result<executorch::aten::ArrayRef<double>> tryToDoubleList() const;
  Result<executorch::aten::ArrayRef<executorch::aten::Tensor>> tryToTensorList() const;
  Result<executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>>
  tryToListOptionalTensor() const;
  /// InvalidArgument when the number is none of the enumeration, for this and the next three.
  Result<executorch::aten::ScalarType> tryToScalarType() const;
  Result<executorch::aten::MemoryFormat> tryToMemoryFormat() const;
  Result<executorch::aten::Layout> tryToLayout() const;
  Result<executorch::aten::Device> tryToDevice() const;

  /// toX() and tryToX() by type: to<int64_t>(), to<Tensor>(), to<std::optional<Tensor>>(), ...
  template <typename T>
  T to() &&;
  template <typename T>
  typename internal::evalue_to_const_ref_overload_return<T>::type to() const&;
  template <typename T>
  typename internal::evalue_to_ref_overload_return<T>::type to() &;
  template <typename T>
  Result<T> tryTo() const;

  /// None as nullopt, anything else as to<T>().
  template <typename T>
  inline std::optional<T> toOptional() const {
    return isNone() ? std::nullopt : std::optional<T>(this->to<T>());
  }
  template <typename T>
  inline Result<std::optional<T>> tryToOptional() const {
    if (isNone()) {
      return std::optional<T>(std::nullopt);
    }
    auto value = tryTo<T>();
    if (!value.ok()) {
      return value.error();
    }
    return std::optional<T>(std::move(*value));
  }

 private:
  void expect(Tag expected) const {
    if (ET_UNLIKELY(tag != expected)) {
      fail(expected);
    }
  }
  /// Ends the program: the value is not an `expected`, or refers to nothing.
  ET_NORETURN void fail(Tag expected) const;

  template <typename T>
  T* pointer(Tag expected, T* value) const {
    if (ET_UNLIKELY(tag != expected || value == nullptr)) {
      fail(expected);
    }
    return value;
  }
  template <typename T>
  static T* not_null(T* value) {
    ET_CHECK_MSG(value != nullptr, "an EValue cannot hold a null list or string");
    return value;
  }
  template <typename T>
  static T& checked(T& value) {
    ET_CHECK_MSG(value != nullptr, "an EValue cannot be made from a null pointer");
    return value;
  }
};

/// EValue::to<T>() is the member function `method_name`.
#define EVALUE_DEFINE_TO(T, method_name)                                                 \
  template <>                                                                            \
  inline internal::evalue_to_const_ref_overload_return<T>::type EValue::to<T>() const& { \
    return method_name();                                                                \
  }                                                                                      \
  template <>                                                                            \
  inline internal::evalue_to_ref_overload_return<T>::type EValue::to<T>()& {             \
    return method_name();                                                                \
  }                                                                                      \
  template <>                                                                            \
  inline T EValue::to<T>()&& {                                                           \
    return static_cast<EValue&&>(*this).method_name();                                   \
  }
/// EValue::tryTo<T>() is the member function `method_name`.
#define EVALUE_DEFINE_TRY_TO(T, method_name)  \
  template <>                                 \
  inline Result<T> EValue::tryTo<T>() const { \
    return method_name();                     \
  }
// T, the name of its methods after "to", and the same for an optional T.
#define ET_INTERNAL_EVALUE_TYPE(T, name)            \
  EVALUE_DEFINE_TO(T, to##name)                     \
  EVALUE_DEFINE_TRY_TO(T, tryTo##name)              \
  EVALUE_DEFINE_TO(std::optional<T>, toOptional<T>) \
  EVALUE_DEFINE_TRY_TO(std::optional<T>, tryToOptional<T>)

ET_INTERNAL_EVALUE_TYPE(executorch::aten::Scalar, Scalar)
ET_INTERNAL_EVALUE_TYPE(int64_t, Int)
ET_INTERNAL_EVALUE_TYPE(bool, Bool)
ET_INTERNAL_EVALUE_TYPE(double, Double)
ET_INTERNAL_EVALUE_TYPE(std::string_view, String)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::ScalarType, ScalarType)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::MemoryFormat, MemoryFormat)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::Layout, Layout)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::Device, Device)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::Tensor, Tensor)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::ArrayRef<int64_t>, IntList)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::ArrayRef<double>, DoubleList)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::ArrayRef<bool>, BoolList)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::ArrayRef<executorch::aten::Tensor>, TensorList)
ET_INTERNAL_EVALUE_TYPE(executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>,
                        ListOptionalTensor)
#undef ET_INTERNAL_EVALUE_TYPE
#undef EVALUE_DEFINE_TO
#undef EVALUE_DEFINE_TRY_TO

template <typename T>
executorch::aten::ArrayRef<T> BoxedEvalueList<T>::get() const {
  for (size_t i = 0; i < wrapped_vals_.size(); ++i) {
    const EValue* const value = wrapped_vals_[i];
    if constexpr (internal::is_std_optional<T>::value) {
      unwrapped_vals_[i] =
          value == nullptr ? T() : value->template toOptional<typename T::value_type>();
    } else {
      ET_CHECK_MSG(value != nullptr, "element %zu of the list is missing", i);
      unwrapped_vals_[i] = value->template to<T>();
    }
  }
  return {unwrapped_vals_, wrapped_vals_.size()};
}

template <typename T>
Result<executorch::aten::ArrayRef<T>> BoxedEvalueList<T>::tryGet() const {
  for (size_t i = 0; i < wrapped_vals_.size(); ++i) {
    const EValue* const value = wrapped_vals_[i];
    if constexpr (internal::is_std_optional<T>::value) {
      if (value == nullptr) {
        unwrapped_vals_[i] = T();
        continue;
      }
    }
    ET_CHECK_OR_RETURN_ERROR(value != nullptr, InvalidState, "element %zu of the list is missing",
                             i);
    auto element = value->template tryTo<T>();
    if (!element.ok()) {
      return element.error();
    }
    unwrapped_vals_[i] = *element;
  }
  return executorch::aten::ArrayRef<T>(unwrapped_vals_, wrapped_vals_.size());
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::BoxedEvalueList;
using ::executorch::runtime::EValue;
}  // namespace torch::executor
