// SPDX-License-Identifier: BSD-3-Clause
// A function as a type, and what a function's type says about its parameters.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <executorch/extension/kernel_util/type_list.h>

// The function `func` as a value that carries it in its type. A second argument, the operator's
// name, may be given.
#define EXECUTORCH_FN_TYPE(func, ...) \
  ::executorch::extension::kernel_util_internal::CompileTimeFunction<decltype(func), func>
#define EXECUTORCH_FN(func, ...) \
  EXECUTORCH_FN_TYPE(func) {}

namespace executorch::extension::kernel_util_internal {

template <typename Function, Function* function>
struct CompileTimeFunction final {
  using FuncType = Function;
  static constexpr Function* func_ptr() { return function; }
};

template <typename T>
struct is_compile_time_function : std::false_type {};
template <typename Function, Function* function>
struct is_compile_time_function<CompileTimeFunction<Function, function>> : std::true_type {};

template <typename Function>
struct function_traits {
  static_assert(!sizeof(Function), "expected the type of a plain function");
};
template <typename Result, typename... Args>
struct function_traits<Result(Args...)> {
  using return_type = Result;
  using parameter_types = typelist<Args...>;
  static constexpr size_t number_of_parameters = sizeof...(Args);
};

template <typename Function>
struct infer_function_traits {
  using type = function_traits<std::remove_pointer_t<Function>>;
};
template <typename Function>
using infer_function_traits_t = typename infer_function_traits<Function>::type;

// How many values an operator with this return type gives back: void 0, a tuple its size, anything
// else 1.
template <typename T>
struct return_count : std::integral_constant<size_t, 1> {};
template <>
struct return_count<void> : std::integral_constant<size_t, 0> {};
template <typename... Types>
struct return_count<std::tuple<Types...>> : std::integral_constant<size_t, sizeof...(Types)> {};

}  // namespace executorch::extension::kernel_util_internal
