// SPDX-License-Identifier: BSD-3-Clause
// The vendor's library: found and loaded when it is first used, by the compiler and the runtime.
#pragma once

#include <executorch/backends/skeleton_compiler/vendor/vendor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <string>

namespace executorch::backends::skeleton_compiler {

// clang-format off: it does not settle on lines here
#define SKELETON_COMPILER_FUNCTIONS(X) \
  X(vendor_version)                    \
  X(vendor_device)                     \
  X(vendor_last_error)                 \
  X(vendor_graph_create)               \
  X(vendor_graph_free)                 \
  X(vendor_graph_add_tensor)           \
  X(vendor_graph_validate)             \
  X(vendor_graph_add_op)               \
  X(vendor_graph_set_outputs)          \
  X(vendor_compile)                    \
  X(vendor_bytes_free)                 \
  X(vendor_context_create)             \
  X(vendor_context_free)               \
  X(vendor_context_ports)              \
  X(vendor_context_run)
// clang-format on

struct Api {
#define SKELETON_COMPILER_MEMBER(function) decltype(&::function) function = nullptr;
  SKELETON_COMPILER_FUNCTIONS(SKELETON_COMPILER_MEMBER)
#undef SKELETON_COMPILER_MEMBER
};

/// The library that SKELETON_COMPILER_LIBRARY names, or else the system finds, whatever its version
/// is. NotFound when there is none, or one that lacks functions; it is looked for again at the next
/// call. Threads: any.
runtime::Result<const Api*> find_library();

/// The same; NotSupported for a version that vendor.h is not of.
runtime::Result<const Api*> library();

/// Such as "2.1".
std::string version_text(uint32_t version);

/// NotSupported, with both versions in the log, unless the library has the major version of `made`
/// and at least its minor one; `what` was made by that.
runtime::Error check_version(const Api& api, uint32_t made, const char* what);

/// Ok when `status` is; else `error`, with what the library says in the log. `what` failed.
runtime::Error check_status(const Api& api, vendor_status status, runtime::Error error,
                            const char* what);

}  // namespace executorch::backends::skeleton_compiler
