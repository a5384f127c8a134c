// SPDX-License-Identifier: BSD-3-Clause
// Which input does not fit a method, in words of the model.
#pragma once

#include <string>
#include <vector>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/method_meta.h>

namespace executorch::extension::jni {

// "input 1 (image): expected Float [1, 3, 1..224, 224], got Byte [224, 224]" of the first that does
// not fit; empty if all do.
std::string first_misfit(const runtime::MethodMeta& meta,
                         const std::vector<runtime::EValue>& inputs);

}  // namespace executorch::extension::jni
