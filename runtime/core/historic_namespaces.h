// SPDX-License-Identifier: BSD-3-Clause
// The only place with the historic spellings `torch::executor::X` and `exec_aten::X`. Public headers include it for user code that
// still writes them; our own code does not use them (torch::executor::native, the namespace of kernel functions, excepted).
#pragma once

namespace executorch {
namespace aten {}
namespace extension {}
namespace runtime {
namespace etensor {}
} // namespace runtime
} // namespace executorch

namespace torch {
namespace executor {
using namespace ::executorch::runtime;
using namespace ::executorch::runtime::etensor;
} // namespace executor
} // namespace torch

namespace exec_aten {
using namespace ::executorch::aten;
} // namespace exec_aten
