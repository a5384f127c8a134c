// SPDX-License-Identifier: BSD-3-Clause
// Lines that a runner's user reads: they go to the log in every build, other than ET_LOG's below
// Error.
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::llm {

// A line at level Info; of 255 bytes at most.
ET_PRINTFLIKE(1, 2)
void say(const char* format, ...);

}  // namespace executorch::extension::llm
