// SPDX-License-Identifier: BSD-3-Clause
// Kernel keys and tensor metas on streams, for tests and tools; apart, so that programs without
// streams do not link them.
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

std::ostream& operator<<(std::ostream& os, const TensorMeta& meta) {
  os << "TensorMeta(" << toString(meta.dtype_) << ", [";
  for (size_t i = 0; i < meta.dim_order_.size(); ++i) {
    os << (i == 0 ? "" : ", ") << static_cast<int>(meta.dim_order_[i]);
  }
  return os << "])";
}

std::ostream& operator<<(std::ostream& os, const KernelKey& key) {
  return os << "KernelKey(" << (key.is_fallback() ? "fallback" : key.data()) << ")";
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
