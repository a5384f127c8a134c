// SPDX-License-Identifier: BSD-3-Clause
// What a backend gets with set_option() and get_option(): nothing yet.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

class BackendOptionContext final {
 public:
  explicit BackendOptionContext() {}
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::BackendOptionContext;
}  // namespace torch::executor
