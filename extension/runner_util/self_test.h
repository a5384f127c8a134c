// SPDX-License-Identifier: BSD-3-Clause
// What a runner does about the self-test of a program. In the library an error; a program with the
// developer tools links examples/portable/executor_runner/self_test.cpp, which comes before it.
#pragma once

#include <ostream>

#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/runtime/core/error.h>

namespace executorch::extension {

// Runs the cases of options.method_name, or of all methods when it is empty, and writes a line for
// each, then, where options.num_executions is more than 1, what so many runs of each take. NotFound
// when an output is wrong or there is nothing to run; errors as of run_model().
ET_NODISCARD runtime::Error run_self_test(ModelRunnerOptions options, std::ostream& out);

}  // namespace executorch::extension
