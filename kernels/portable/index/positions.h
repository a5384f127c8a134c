// SPDX-License-Identifier: BSD-3-Clause
// Elements of index tensors.
#pragma once

#include <cinttypes>
#include <cstdint>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch {
namespace kernels {

inline bool check_index_dtype(const OpCall& call, const Tensor& index) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
      InvalidArgument, false, "%s: expected indices to be Int or Long, found %s", call.op,
      executorch::runtime::toString(index.scalar_type()));
  return true;
}

inline int64_t index_at(const char* data, ScalarType type, int64_t offset) {
  return type == ScalarType::Long ? reinterpret_cast<const int64_t*>(data)[offset]
                                  : reinterpret_cast<const int32_t*>(data)[offset];
}

inline bool fail_index(const OpCall& call, int64_t size) {
  ET_KERNEL_CHECK_MSG(call.ctx, false, InvalidArgument, false,
                      "%s: expected indices in [%" PRId64 ", %" PRId64 "), found one outside",
                      call.op, static_cast<int64_t>(-size), size);
  return false;
}

}  // namespace kernels
}  // namespace executorch
