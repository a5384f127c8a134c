// SPDX-License-Identifier: BSD-3-Clause
// The historic namespace spellings, once for all headers: torch::executor::X finds
// executorch::runtime::X and executorch::runtime::etensor::X, torch::executor::util::X finds
// executorch::extension::X; exec_aten::X is executorch::aten::X. Our own code does not use them.
#pragma once

#ifdef __cplusplus
namespace executorch {
namespace aten {}
namespace platform {}
namespace runtime {
namespace etensor {}
namespace internal {}
}  // namespace runtime
namespace extension {
namespace pytree {}
}  // namespace extension
}  // namespace executorch

namespace torch {
namespace executor {
using namespace ::executorch::runtime;
using namespace ::executorch::runtime::etensor;
namespace internal {
using namespace ::executorch::runtime::internal;
}  // namespace internal
namespace util {
using namespace ::executorch::extension;
}  // namespace util
namespace pytree {
using namespace ::executorch::extension::pytree;
}  // namespace pytree
}  // namespace executor
}  // namespace torch

namespace exec_aten = ::executorch::aten;
#endif
