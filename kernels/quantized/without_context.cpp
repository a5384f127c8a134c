// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/quantized/without_context.h>

#include <cinttypes>
#include <utility>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch::executor::native {

namespace {

// Calls a kernel with a context of its own, which has no scratch memory.
template <typename Call>
auto with_context(const char* name, const Call& call)
    -> decltype(call(std::declval<::executorch::runtime::KernelRuntimeContext&>())) {
  ::executorch::runtime::KernelRuntimeContext context;
  decltype(auto) result = call(context);
  ET_CHECK_MSG(context.failure_state() == ::executorch::runtime::Error::Ok,
               "%s failed: error 0x%" PRIx32, name, static_cast<uint32_t>(context.failure_state()));
  return result;
}

}  // namespace

#define ET_NAMES(...) __VA_ARGS__
#define ET_WITHOUT_CONTEXT(Result, name, parameters, names)                                   \
  Result name parameters {                                                                    \
    return with_context(#name,                                                                \
                        [&](::executorch::runtime::KernelRuntimeContext& context) -> Result { \
                          return name(context, ET_NAMES names);                               \
                        });                                                                   \
  }
ET_QUANTIZED_KERNELS(ET_WITHOUT_CONTEXT)
#undef ET_WITHOUT_CONTEXT
#undef ET_NAMES

}  // namespace torch::executor::native
