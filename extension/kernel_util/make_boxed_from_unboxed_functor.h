// SPDX-License-Identifier: BSD-3-Clause
// Makes a kernel that the registry takes out of an ordinary C++ function:
//
//   Tensor& my_op_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, Tensor& out);
//   EXECUTORCH_LIBRARY(my_namespace, "my_op.out", my_op_out);
//
// The context parameter may be left out. A call with the wrong number or types of arguments fails
// the context with InvalidArgument and does not reach the function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <executorch/extension/kernel_util/meta_programming.h>
#include <executorch/extension/kernel_util/unboxing.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::extension {

namespace kernel_util_internal {

template <typename List>
struct starts_with_context : std::false_type {};
template <typename First, typename... Rest>
struct starts_with_context<typelist<First, Rest...>>
    : std::is_same<First, ::executorch::runtime::KernelRuntimeContext&> {};

// Checks and unboxes `Args...`, then calls the function.
template <typename Function, bool with_context, typename Result, typename List>
struct Unboxed;

template <typename Function, bool with_context, typename Result, typename... Args>
struct Unboxed<Function, with_context, Result, typelist<Args...>> {
  static constexpr size_t kCount = sizeof...(Args);
  // A function that returns nothing may stand for an operator with any number of results.
  static constexpr size_t kMaxExtra =
      std::is_void_v<Result> ? SIZE_MAX : return_count<Result>::value;
  static constexpr uint8_t kKinds[kCount + 1] = {ArgumentOf<Args>::kind..., 0};

  template <size_t... index>
  static Result apply(::executorch::runtime::KernelRuntimeContext& context, EValue** values,
                      std::index_sequence<index...>) {
    (void)context;  // functions without a context or without arguments
    (void)values;
    if constexpr (with_context) {
      return Function::func_ptr()(context, ArgumentOf<Args>::get(*values[index])...);
    } else {
      return Function::func_ptr()(ArgumentOf<Args>::get(*values[index])...);
    }
  }

  static void call(::executorch::runtime::KernelRuntimeContext& context,
                   ::executorch::runtime::Span<EValue*> stack) {
    if (!check_arguments(context, stack, kKinds, kCount, kMaxExtra)) {
      return;
    }
    constexpr std::make_index_sequence<kCount> indices;
    if constexpr (std::is_arithmetic_v<Result>) {
      const Result result = apply(context, stack.data(), indices);
      if (stack.size() > kCount) {
        *stack[kCount] = EValue(result);
      }
    } else {
      apply(context, stack.data(), indices);
    }
  }
};

// For static constructors: ends the program when another kernel has this name.
inline bool register_or_abort(const ::executorch::runtime::Kernel& kernel) {
  return ::executorch::runtime::internal::register_kernels_or_abort(
      ::executorch::runtime::Span<const ::executorch::runtime::Kernel>(&kernel, 1));
}

}  // namespace kernel_util_internal

// FuncType is the type of EXECUTORCH_FN(function).
template <typename FuncType>
struct WrapUnboxedIntoFunctor {
  static_assert(kernel_util_internal::is_compile_time_function<FuncType>::value,
                "wrap the function: EXECUTORCH_FN(function)");
  using TrueType = typename FuncType::FuncType;
  using ReturnType = typename kernel_util_internal::infer_function_traits_t<TrueType>::return_type;
  using ArgsType =
      typename kernel_util_internal::infer_function_traits_t<TrueType>::parameter_types;
  static constexpr bool first_arg_is_context =
      kernel_util_internal::starts_with_context<ArgsType>::value;
  using ContextRemovedArgsType =
      std::conditional_t<first_arg_is_context,
                         kernel_util_internal::drop_if_nonempty_t<ArgsType, 1>, ArgsType>;

  static void call(::executorch::runtime::KernelRuntimeContext& ctx,
                   executorch::runtime::Span<executorch::runtime::EValue*> stack) {
    kernel_util_internal::Unboxed<FuncType, first_arg_is_context, ReturnType,
                                  ContextRemovedArgsType>::call(ctx, stack);
  }
};

// `name` must live as long as the registry.
template <typename FuncType>
static executorch::runtime::Kernel make_boxed_kernel(const char* name, FuncType) {
  return executorch::runtime::Kernel(name, WrapUnboxedIntoFunctor<FuncType>::call);
}

}  // namespace executorch::extension

namespace torch::executor {
using ::executorch::extension::make_boxed_kernel;
using ::executorch::extension::WrapUnboxedIntoFunctor;
}  // namespace torch::executor

#define ET_CONCATENATE_IMPL(s1, s2) s1##s2
#define ET_CONCATENATE(s1, s2) ET_CONCATENATE_IMPL(s1, s2)
#ifdef __COUNTER__
#define ET_UID __COUNTER__
#else
#define ET_UID __LINE__
#endif

// Registers `func` as the operator "ns::op_name" when the program starts. `op_name` is a string.
#define EXECUTORCH_LIBRARY(ns, op_name, func) _EXECUTORCH_LIBRARY_IMPL(ns, op_name, func, ET_UID)

#define _EXECUTORCH_LIBRARY_IMPL(ns, op_name, func, uid)                          \
  [[maybe_unused]] static const bool ET_CONCATENATE(et_registered_kernel_, uid) = \
      ::executorch::extension::kernel_util_internal::register_or_abort(           \
          ::executorch::extension::make_boxed_kernel(#ns "::" op_name, EXECUTORCH_FN(func)))
