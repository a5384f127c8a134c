// SPDX-License-Identifier: BSD-3-Clause
// The historic namespace spellings, once for all headers: torch::executor::X finds
// executorch::runtime::X and executorch::runtime::etensor::X; exec_aten::X is executorch::aten::X.
// Our own code does not use them.
#pragma once

#ifdef __cplusplus
namespace executorch {
namespace aten {}
namespace platform {}
namespace runtime {
namespace etensor {}
}  // namespace runtime
}  // namespace executorch

namespace torch {
namespace executor {
using namespace ::executorch::runtime;
using namespace ::executorch::runtime::etensor;
}  // namespace executor
}  // namespace torch

namespace exec_aten = ::executorch::aten;
#endif
