// SPDX-License-Identifier: BSD-3-Clause
// Elements of any of a set of dtypes, read and written as one type that a kernel computes in.
#pragma once

#include <cstdint>

#include <executorch/kernels/portable/cpu/scalar_utils.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {
namespace utils {

/// The dtypes that an argument may have. SAME_AS_COMPUTE: the one that is computed in;
/// SAME_AS_COMMON: that, or Half or BFloat16 where floats are computed.
enum class SupportedTensorDtypes {
  REALHBBF16,
  REALHBF16,
  FLOATHBF16,
  INTB,
  BOOL,
  BOOL_OR_BYTE,
  SAME_AS_COMPUTE,
  SAME_AS_COMMON,
};

namespace internal {

template <typename CTYPE_COMPUTE>
using load_to_compute_fn = CTYPE_COMPUTE (*)(const void*);
template <typename CTYPE_COMPUTE>
using store_compute_to_tensor_fn = void (*)(CTYPE_COMPUTE, void*);

template <typename To, typename From>
To load_and_convert(const void* from) {
  return ::executorch::runtime::convert<To, From>(*static_cast<const From*>(from));
}
template <typename To, typename From>
void convert_and_store(From value, void* to) {
  *static_cast<To*>(to) = ::executorch::runtime::convert<To, From>(value);
}

inline bool is_supported(ScalarType dtype, SupportedTensorDtypes dtypes, ScalarType compute_type) {
  switch (dtypes) {
    case SupportedTensorDtypes::REALHBBF16:
      return ::executorch::runtime::isRealHBBF16Type(dtype);
    case SupportedTensorDtypes::REALHBF16:
      return ::executorch::runtime::isRealHBF16Type(dtype);
    case SupportedTensorDtypes::FLOATHBF16:
      return isFloatingType(dtype);
    case SupportedTensorDtypes::INTB:
      return isIntegralType(dtype, /*includeBool=*/true);
    case SupportedTensorDtypes::BOOL:
      return dtype == ScalarType::Bool;
    case SupportedTensorDtypes::BOOL_OR_BYTE:
      return dtype == ScalarType::Bool || dtype == ScalarType::Byte;
    case SupportedTensorDtypes::SAME_AS_COMPUTE:
      return dtype == compute_type;
    case SupportedTensorDtypes::SAME_AS_COMMON:
      return dtype == compute_type ||
             (compute_type == ScalarType::Float &&
              (dtype == ScalarType::Half || dtype == ScalarType::BFloat16));
  }
  return false;
}

/// Null, with the context failed (InvalidArgument), when the tensor has none of the dtypes.
template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name>
load_to_compute_fn<CTYPE_COMPUTE> get_load_to_compute_fn(KernelRuntimeContext& ctx, const Tensor& t,
                                                         SupportedTensorDtypes dtypes) {
  load_to_compute_fn<CTYPE_COMPUTE> load = nullptr;
  if (is_supported(t.scalar_type(), dtypes, CppTypeToScalarType<CTYPE_COMPUTE>::value)) {
    ::executorch::runtime::dispatch_real_hb_bf16_uint(t.scalar_type(), [&](auto tag) {
      load = load_and_convert<CTYPE_COMPUTE, typename decltype(tag)::type>;
    });
  }
  ET_KERNEL_CHECK_MSG(ctx, load != nullptr, InvalidArgument, nullptr,
                      "Unhandled dtype %s of an input of %s", toString(t.scalar_type()),
                      static_cast<const char*>(op_name));
  return load;
}

template <typename CTYPE_COMPUTE, ET_OPERATOR_NAME_TYPE op_name>
store_compute_to_tensor_fn<CTYPE_COMPUTE> get_store_compute_to_tensor_fn(
    KernelRuntimeContext& ctx, const Tensor& t, SupportedTensorDtypes dtypes) {
  store_compute_to_tensor_fn<CTYPE_COMPUTE> store = nullptr;
  if (is_supported(t.scalar_type(), dtypes, CppTypeToScalarType<CTYPE_COMPUTE>::value)) {
    ::executorch::runtime::dispatch_real_hb_bf16_uint(t.scalar_type(), [&](auto tag) {
      store = convert_and_store<typename decltype(tag)::type, CTYPE_COMPUTE>;
    });
  }
  ET_KERNEL_CHECK_MSG(ctx, store != nullptr, InvalidArgument, nullptr,
                      "Unhandled dtype %s of the output of %s", toString(t.scalar_type()),
                      static_cast<const char*>(op_name));
  return store;
}

inline bool check_tensor_dtype(const Tensor t, SupportedTensorDtypes dtypes,
                               const ScalarType compute_type) {
  ET_CHECK_OR_RETURN_FALSE(is_supported(t.scalar_type(), dtypes, compute_type),
                           "unexpected dtype %s where %s is computed", toString(t.scalar_type()),
                           toString(compute_type));
  return true;
}

}  // namespace internal
}  // namespace utils
}  // namespace native
}  // namespace executor
}  // namespace torch
