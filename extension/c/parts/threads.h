// SPDX-License-Identifier: BSD-3-Clause
// The pool of threads that all calls share. Builds without one refuse (no_threads.cpp).
#pragma once

#include <executorch/c/executorch.h>

namespace executorch::extension::c {

ExecuTorchStatus set_num_threads(uint32_t num_threads) noexcept;
ExecuTorchStatus get_num_threads(uint32_t* out_num_threads) noexcept;

}  // namespace executorch::extension::c
