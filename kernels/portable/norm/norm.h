// SPDX-License-Identifier: BSD-3-Clause
// What normalisations check.
#pragma once

#include <cinttypes>
#include <optional>

#include <executorch/kernels/portable/loops/checks.h>

namespace executorch {
namespace kernels {

// A weight, bias or statistic that is there has `numel` elements in order.
inline bool check_affine(const OpCall& call, const char* name, const std::optional<Tensor>& tensor,
                         int64_t numel) {
  if (!tensor.has_value()) {
    return true;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, tensor->numel() == numel && is_row_major(*tensor), InvalidArgument,
                      false, "%s: expected %s to have %" PRId64 " elements, found %" PRId64,
                      call.op, name, numel, static_cast<int64_t>(tensor->numel()));
  return check_computable(call, name, *tensor);
}

}  // namespace kernels
}  // namespace executorch
