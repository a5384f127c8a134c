// SPDX-License-Identifier: BSD-3-Clause
// What a runner does about test cases: the self-test of a program, and those of a bundled program.
// In the library errors; a program with the developer tools links self_test.cpp and
// bundled_case.cpp of examples/portable/executor_runner, which come before it.
#pragma once

#include <ostream>
#include <string>

#include <executorch/extension/runner_util/model_runner.h>
#include <executorch/runtime/core/error.h>

namespace executorch::extension {

// Runs the cases of options.method_name, or of all methods when it is empty, and writes a line for
// each, then, where options.num_executions is more than 1, what so many runs of each take. NotFound
// when an output is wrong or there is nothing to run; errors as of run_model().
ET_NODISCARD runtime::Error run_self_test(ModelRunnerOptions options, std::ostream& out);

// Whether the file says that it is a bundled program; in the library: never.
bool is_bundled_program_file(const std::string& path);

// run_model() with the program and the inputs of the first case of the bundled program
// options.model_path. Writes how far the outputs are from the expected ones, and whether they are
// within atol + rtol * |output|: "TEST: BundleIO index[0] Test_result: PASS", or FAIL and NotFound.
ET_NODISCARD runtime::Error run_bundled_case(ModelRunnerOptions options, double rtol, double atol,
                                             std::ostream& out);

}  // namespace executorch::extension
