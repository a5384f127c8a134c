// SPDX-License-Identifier: BSD-3-Clause
// Makes a function that PyTorch's registry takes out of a kernel of the runtime:
//
//   Tensor& my_op_out(const Tensor& self, int64_t dim, Tensor& out);
//   m.def("my_op.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)",
//   WRAP_TO_ATEN(my_op_out, 2));
//
// Tensors are passed on as views of the same memory; one that has holes, or another order of
// dimensions than programs have, is copied. A kernel that fails its context, and tensors that are
// not in the CPU's memory, throw c10::Error. Tensors without data, with which programs are
// exported, are given back as they are: who makes the output says its sizes. Headers only: whoever
// includes this compiles against libtorch.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <executorch/extension/aten_util/aten_bridge.h>
#include <executorch/extension/kernel_util/meta_programming.h>
#include <executorch/extension/kernel_util/type_list.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::extension::aten_util_internal {

using EtTensor = executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

// What a kernel's parameter of type T is called with: `Aten` is the parameter of the wrapping
// function, get() what the kernel takes. Plain types are the same on both sides.
template <typename T>
struct Converted {
  static_assert(std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
                    std::is_same_v<T, bool> || std::is_same_v<T, std::string_view>,
                "WRAP_TO_ATEN does not know this type of parameter");
  using Aten = T;
  explicit Converted(T given) : value(given) {}
  T get() { return value; }
  T value;
};

// Programs have tensors in the order of their dimensions, and images with channels last; kernels
// need not know others.
inline bool lies_as_in_programs(const at::Tensor& tensor) {
  return tensor.is_contiguous() || tensor.is_contiguous(at::MemoryFormat::ChannelsLast);
}

// A tensor of the runtime on the memory of one of PyTorch.
template <>
struct Converted<EtTensor> {
  using Aten = const at::Tensor&;

  explicit Converted(const at::Tensor& given)
      : tensor(lies_as_in_programs(given) ? given : given.contiguous()),
        sizes(narrowed<executorch::aten::SizesType>(tensor.sizes())),
        strides(narrowed<executorch::aten::StridesType>(tensor.strides())),
        order(dim_order_of(tensor)),
        impl(torch_to_executorch_scalar_type(tensor.dtype()), static_cast<ssize_t>(sizes.size()),
             sizes.data(), tensor.data_ptr(), order.data(), strides.data(),
             executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND),
        view(&impl) {
    TORCH_CHECK(tensor.device().is_cpu(), "expected a tensor of the CPU, found one of ",
                tensor.device());
  }
  Converted(const Converted&) = delete;

  EtTensor& get() { return view; }

  // What the kernel wrote and how it resized, back to the tensor that was given.
  void give_back(at::Tensor& given) const {
    const auto written = narrowed<int64_t>(view.sizes());
    if (given.sizes() != at::IntArrayRef(written)) {
      given.resize_(written);
    }
    if (given.data_ptr() != impl.data()) {
      given.copy_(alias_attensor_to_etensor(view));
    }
  }

  at::Tensor tensor;
  std::vector<executorch::aten::SizesType> sizes;
  std::vector<executorch::aten::StridesType> strides;
  std::vector<executorch::aten::DimOrderType> order;
  executorch::aten::TensorImpl impl;
  EtTensor view;
};

template <>
struct Converted<executorch::aten::Scalar> {
  using Aten = const at::Scalar&;
  explicit Converted(const at::Scalar& given)
      : value(given.isBoolean()         ? executorch::aten::Scalar(given.toBool())
              : given.isIntegral(false) ? executorch::aten::Scalar(given.toLong())
                                        : executorch::aten::Scalar(given.toDouble())) {}
  executorch::aten::Scalar& get() { return value; }
  executorch::aten::Scalar value;
};

// Enumerations have the same numbers on both sides.
template <typename Et, typename At>
struct ConvertedEnum {
  using Aten = At;
  explicit ConvertedEnum(At given) : value(static_cast<Et>(given)) {}
  Et get() { return value; }
  Et value;
};
template <>
struct Converted<executorch::aten::ScalarType>
    : ConvertedEnum<executorch::aten::ScalarType, at::ScalarType> {
  using ConvertedEnum::ConvertedEnum;
};
template <>
struct Converted<executorch::aten::MemoryFormat>
    : ConvertedEnum<executorch::aten::MemoryFormat, at::MemoryFormat> {
  using ConvertedEnum::ConvertedEnum;
};
template <>
struct Converted<executorch::aten::Layout> : ConvertedEnum<executorch::aten::Layout, at::Layout> {
  using ConvertedEnum::ConvertedEnum;
};

template <typename T>
struct Converted<executorch::aten::ArrayRef<T>> {
  using Aten = at::ArrayRef<T>;
  explicit Converted(Aten given) : value(given.data(), given.size()) {}
  executorch::aten::ArrayRef<T> get() { return value; }
  executorch::aten::ArrayRef<T> value;
};

template <>
struct Converted<executorch::aten::ArrayRef<EtTensor>> {
  using Aten = at::TensorList;
  explicit Converted(at::TensorList given) {
    for (const at::Tensor& tensor : given) {
      kept.push_back(std::make_unique<Converted<EtTensor>>(tensor));
      views.push_back(kept.back()->get());
    }
  }
  executorch::aten::ArrayRef<EtTensor> get() { return {views.data(), views.size()}; }
  std::vector<std::unique_ptr<Converted<EtTensor>>> kept;
  std::vector<EtTensor> views;
};

template <>
struct Converted<executorch::aten::ArrayRef<std::optional<EtTensor>>> {
  using Aten = const c10::List<std::optional<at::Tensor>>&;
  explicit Converted(Aten given) {
    for (const std::optional<at::Tensor> tensor : given) {
      if (tensor.has_value()) {
        kept.push_back(std::make_unique<Converted<EtTensor>>(*tensor));
        views.emplace_back(kept.back()->get());
      } else {
        views.emplace_back(std::nullopt);
      }
    }
  }
  executorch::aten::ArrayRef<std::optional<EtTensor>> get() { return {views.data(), views.size()}; }
  std::vector<std::unique_ptr<Converted<EtTensor>>> kept;
  std::vector<std::optional<EtTensor>> views;
};

template <typename T>
struct Converted<std::optional<T>> {
  using Value = std::decay_t<typename Converted<T>::Aten>;
  using Aten = const std::optional<Value>&;
  explicit Converted(Aten given) {
    if (given.has_value()) {
      inner.emplace(*given);
      value.emplace(inner->get());
    }
  }
  std::optional<T>& get() { return value; }
  std::optional<Converted<T>> inner;
  std::optional<T> value;
};

template <typename T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

// Whether a kernel writes to a parameter of type T.
template <typename T>
constexpr bool is_written = std::is_same_v<T, EtTensor&>;

template <typename T>
using AtenParameter =
    std::conditional_t<is_written<T>, at::Tensor&, typename Converted<Plain<T>>::Aten>;

template <typename Function, bool with_context, int out, typename List>
struct Wrapped;

template <typename Function, bool with_context, int out, typename... Args>
struct Wrapped<Function, with_context, out, kernel_util_internal::typelist<Args...>> {
  static constexpr int kOut = out < 0 ? static_cast<int>(sizeof...(Args)) - 1 : out;
  static_assert(kOut < static_cast<int>(sizeof...(Args)), "there is no parameter of this number");
  static_assert(is_written<std::tuple_element_t<kOut, std::tuple<Args...>>>,
                "WRAP_TO_ATEN: the number of the parameter `Tensor& out`, counted from 0");

  static at::Tensor& call(AtenParameter<Args>... args) {
    std::tuple<AtenParameter<Args>...> given(args...);
    return apply(given, std::index_sequence_for<Args...>());
  }

  // While a program is exported, tensors have sizes and no data: there is nothing to compute.
  template <typename T>
  static bool has_data(const T& given) {
    if constexpr (std::is_same_v<Plain<T>, at::Tensor>) {
      return !given.is_meta() && !given.unsafeGetTensorImpl()->is_python_dispatch();
    } else {
      return true;
    }
  }

  template <size_t... index>
  static at::Tensor& apply(std::tuple<AtenParameter<Args>...>& given,
                           std::index_sequence<index...>) {
    if (!(has_data(std::get<index>(given)) && ...)) {
      return std::get<kOut>(given);
    }
    std::tuple<Converted<Plain<Args>>...> converted(std::get<index>(given)...);
    KernelRuntimeContext context;
    if constexpr (with_context) {
      Function::func_ptr()(context, std::get<index>(converted).get()...);
    } else {
      Function::func_ptr()(std::get<index>(converted).get()...);
    }
    TORCH_CHECK(context.failure_state() == executorch::runtime::Error::Ok,
                "the kernel failed with error ", static_cast<unsigned>(context.failure_state()),
                "; its message is above");
    (give_back<Args>(std::get<index>(converted), std::get<index>(given)), ...);
    return std::get<kOut>(given);
  }

  template <typename Arg, typename From, typename To>
  static void give_back(From& from, To& to) {
    if constexpr (is_written<Arg>) {
      from.give_back(to);
    }
  }
};

template <typename First>
constexpr bool is_context = std::is_same_v<First, KernelRuntimeContext&>;

// Parts the context, if the kernel takes one, from the arguments of the schema.
template <typename Function, int out, typename List>
struct WrapOf;
template <typename Function, int out, typename First, typename... Rest>
struct WrapOf<Function, out, kernel_util_internal::typelist<First, Rest...>> {
  using type = std::conditional_t<
      is_context<First>, Wrapped<Function, true, out, kernel_util_internal::typelist<Rest...>>,
      Wrapped<Function, false, out, kernel_util_internal::typelist<First, Rest...>>>;
};

template <typename Function, int out>
using WrapFunction = typename WrapOf<Function, out,
                                     typename kernel_util_internal::infer_function_traits_t<
                                         typename Function::FuncType>::parameter_types>::type;

}  // namespace executorch::extension::aten_util_internal

#define _WRAP_2(func, N) \
  (&::executorch::extension::aten_util_internal::WrapFunction<EXECUTORCH_FN_TYPE(func), N>::call)
#define _WRAP_1(func) _WRAP_2(func, -1)
#define _GET_MACRO(_1, _2, NAME, ...) NAME

// The kernel `func` as a function of PyTorch; the second argument is the number of the parameter
// that it returns, counted from 0 without the context; without it, the last one.
#define WRAP_TO_ATEN(...) _GET_MACRO(__VA_ARGS__, _WRAP_2, _WRAP_1, )(__VA_ARGS__)
