// SPDX-License-Identifier: BSD-3-Clause
// What executor_runner does about the self-test of a program: nothing but an error in builds
// without the developer tools.
#pragma once

#include <ostream>

#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/runtime/core/error.h>

// Runs the cases of options.method_name, or of all methods when it is empty, and writes a line for
// each. NotFound when an output is wrong or there is nothing to run; errors as of run_model().
ET_NODISCARD executorch::runtime::Error run_self_test(
    executorch::extension::ModelRunnerOptions options, std::ostream& out);
