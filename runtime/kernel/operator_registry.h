// SPDX-License-Identifier: BSD-3-Clause
// The registry of kernels: operator name and, optionally, dtypes and dim orders of the tensors, to
// function.
//
// Register before the first Program is loaded, from static constructors or by calling
// register_kernels(); the registry does not change afterwards and is then read by any number of
// threads. It holds EXECUTORCH_MAX_KERNEL_NUM (2000) kernels in static storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/compiler.h>

#define ET_LOG_KERNEL_KEY(k) \
  ET_LOG(Error, "key: %s, is_fallback: %s", (k).data(), (k).is_fallback() ? "true" : "false")
#define ET_LOG_TENSOR_META(meta_list)                                             \
  for (const auto& meta__ : (meta_list)) {                                        \
    ET_LOG(Error, "dtype: %d, %zu dimensions", static_cast<int>((meta__).dtype_), \
           (meta__).dim_order_.size());                                           \
  }

namespace executorch {
namespace runtime {
namespace internal {
/// Bytes of the longest key: kTensorDimensionLimit tensors of kTensorDimensionLimit dimensions.
constexpr size_t kKernelKeyBufSize = 659;
}  // namespace internal
}  // namespace runtime

namespace ET_RUNTIME_NAMESPACE {

/// A kernel with its arguments in one list, the outputs last.
using OpFunction = void (*)(KernelRuntimeContext&, Span<EValue*>);

/// What the kernel of an operator depends on: dtype and dim order of one tensor argument.
struct TensorMeta {
  executorch::aten::ScalarType dtype_ = executorch::aten::ScalarType::Undefined;
  /// Not owned.
  Span<executorch::aten::DimOrderType> dim_order_;

  TensorMeta() = default;
  TensorMeta(executorch::aten::ScalarType dtype, Span<executorch::aten::DimOrderType> order)
      : dtype_(dtype), dim_order_(order) {}

  bool equals(const TensorMeta& other) const;
  bool operator==(const TensorMeta& other) const { return equals(other); }
  bool operator!=(const TensorMeta& other) const { return !equals(other); }

  friend std::ostream& operator<<(std::ostream& os, const TensorMeta& meta);
};

/// The metas of all tensor arguments as text: "v1/" and for each "<dtype>;<dim order, comma
/// separated>", joined by '|', for example v1/6;0,1|6;0,1. Without data: a fallback, which serves
/// all tensors that no other kernel of the name does.
struct KernelKey {
 public:
  static constexpr size_t MAX_SIZE = internal::kKernelKeyBufSize;

  constexpr KernelKey() = default;
  /// Not owned: usually a string constant.
  /* implicit */ constexpr KernelKey(const char* kernel_key_data)
      : kernel_key_data_(kernel_key_data) {}

  bool is_fallback() const { return kernel_key_data_ == nullptr; }
  const char* data() const { return kernel_key_data_; }

  bool equals(const KernelKey& other) const {
    if (is_fallback() || other.is_fallback()) {
      return is_fallback() && other.is_fallback();
    }
    return std::strcmp(kernel_key_data_, other.kernel_key_data_) == 0;
  }
  bool operator==(const KernelKey& other) const { return equals(other); }
  bool operator!=(const KernelKey& other) const { return !equals(other); }

  friend std::ostream& operator<<(std::ostream& os, const KernelKey& key);

 private:
  const char* kernel_key_data_ = nullptr;
};

/// One entry. The name (such as "aten::add.out") and the key are not owned and must live as long as
/// the program.
struct Kernel {
  const char* name_ = nullptr;
  KernelKey kernel_key_;
  OpFunction op_ = nullptr;

  constexpr Kernel() = default;
  /// A fallback.
  explicit constexpr Kernel(const char* name, OpFunction func) : name_(name), op_(func) {}
  explicit constexpr Kernel(const char* name, KernelKey key, OpFunction func)
      : name_(name), kernel_key_(key), op_(func) {}
};

/// All kernels, in the order of registration.
Span<const Kernel> get_registered_kernels();

/// Adds all or, on an error, none of the kernels. A kernel that is there already, with the same
/// name, key and function, is left out; with another function it is RegistrationAlreadyRegistered.
/// RegistrationExceedingMaxKernels when they do not fit. InvalidArgument for one without name or
/// function.
ET_NODISCARD Error register_kernels(const Span<const Kernel>);

ET_NODISCARD inline Error register_kernel(const Kernel& kernel) {
  return register_kernels(Span<const Kernel>(&kernel, 1));
}

/// Whether a kernel serves tensors of these metas.
bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list = {});

/// The function for tensors of these metas: the kernel with exactly this key, else the fallback.
/// OperatorMissing, without a message, when there is none: the caller knows where it is missing.
Result<OpFunction> get_op_function_from_registry(const char* name,
                                                 Span<const TensorMeta> meta_list = {});

/// The same in a list of the caller, and nowhere else.
Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_registry);

}  // namespace ET_RUNTIME_NAMESPACE

namespace runtime {
namespace internal {

using ::executorch::ET_RUNTIME_NAMESPACE::get_op_function_from_registry;

/// Writes the key of `key` metas, at most `buf_size` bytes with the final NUL; an empty string for
/// no tensors. InvalidArgument when it does not fit or a dtype or dim order is out of range.
Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size);

/// For static constructors: ends the program when the kernels cannot be registered. Returns true.
bool register_kernels_or_abort(Span<const Kernel> kernels);

}  // namespace internal
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Kernel;
using ::executorch::runtime::KernelKey;
using ::executorch::runtime::OpFunction;
using ::executorch::runtime::TensorMeta;
}  // namespace torch::executor

namespace torch {
namespace executor {

// Former names, with ArrayRef. The metas and kernels are only read.
inline OpFunction getOpsFn(const char* name, ArrayRef<TensorMeta> meta_list = {}) {
  const auto function = ::executorch::runtime::get_op_function_from_registry(
      name, {meta_list.data(), meta_list.size()});
  ET_CHECK_MSG(function.ok(), "no kernel for %s", name);
  return *function;
}
inline bool hasOpsFn(const char* name, ArrayRef<TensorMeta> meta_list = {}) {
  return ::executorch::runtime::registry_has_op_function(name,
                                                         {meta_list.data(), meta_list.size()});
}
inline ArrayRef<Kernel> get_kernels() {
  const auto kernels = ::executorch::runtime::get_registered_kernels();
  return {kernels.data(), kernels.size()};
}
ET_NODISCARD inline ::executorch::runtime::Error register_kernels(ArrayRef<Kernel> kernels) {
  return ::executorch::runtime::register_kernels(
      ::executorch::runtime::Span<const Kernel>(kernels.data(), kernels.size()));
}

}  // namespace executor
}  // namespace torch
