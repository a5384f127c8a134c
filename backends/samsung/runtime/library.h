// SPDX-License-Identifier: BSD-3-Clause
// Samsung's library: found and loaded when it is first used.
#pragma once

#include <executorch/backends/samsung/runtime/enn.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <string>
#include <vector>

namespace executorch::backends::enn {

// clang-format off: it does not settle on lines here
#define ENN_FUNCTIONS(X)                \
  X(EnnInitialize)                      \
  X(EnnOpenModelFromMemory)             \
  X(EnnAllocateAllBuffersWithSessionId) \
  X(EnnExecuteModel)                    \
  X(EnnReleaseBuffers)                  \
  X(EnnCloseModel)
// clang-format on

/// `library`: its name, for messages.
struct Api {
#define ENN_MEMBER(function) decltype(&::function) function = nullptr;
  ENN_FUNCTIONS(ENN_MEMBER)
#undef ENN_MEMBER
  std::string library;
};

/// The first of `names` that loads. NotFound, with all names in the log, when none does, or one
/// lacks functions.
runtime::Result<Api> load_library(const std::vector<std::string>& names);

/// That of the device, loaded once; after an error it is looked for again. Threads: any.
runtime::Result<const Api*> find_library();

/// Ok, or Internal, with the function's and the library's name in the log, and what the number
/// means.
runtime::Error check_status(const Api& api, EnnReturn status, const char* function);

}  // namespace executorch::backends::enn
