// SPDX-License-Identifier: BSD-3-Clause
// Lines that a runner's user reads: they go to the log in every build, other than ET_LOG's below
// Error.
#pragma once

#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::llm {

// A line at level Info; of 255 bytes at most.
ET_PRINTFLIKE(1, 2)
void print_status(const char* format, ...);

// "RSS after <when>: ..."; only a message of level Debug where the configuration wants no lines.
void print_memory_status(const char* when, const GenerationConfig& config);

}  // namespace executorch::extension::llm
