// SPDX-License-Identifier: BSD-3-Clause
// Self-tests: test cases that a program file carries in its named data, to be run on the device.
//
//   SelfTest test = ET_UNWRAP(SelfTest::load(program));
//   test.run(*method, 0);  // of a method that was loaded from the program
//
// `python -m executorch.devtools self_test` adds them to a file; other programs ignore them.
#pragma once

#include <cstddef>

#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/executor/program.h>

namespace executorch {
namespace BUNDLED_PROGRAM_NAMESPACE {

/// Keys of the named data: a bundled program without a program, and two doubles of little endian,
/// rtol and atol of verify_method_outputs().
constexpr const char kSelfTestCases[] = "executorch.self_test.cases";
constexpr const char kSelfTestTolerances[] = "executorch.self_test.tolerances";

/// Holds the cases; inputs that the memory plan leaves to the caller point into them. One thread at
/// a time. Nothing is allocated but what the program's loader needs.
class SelfTest {
 public:
  /// NotFound when the program carries none, InvalidProgram for corrupted ones; what its loader
  /// returns. `program` must outlive the result.
  static runtime::Result<SelfTest> load(const runtime::Program& program);

  /// Methods that have cases.
  size_t num_methods() const;
  /// `index` below num_methods(). Lives as long as the SelfTest.
  const char* method_name(size_t index) const;
  /// `index` below num_methods().
  size_t num_cases(size_t index) const;

  double rtol() const { return rtol_; }
  double atol() const { return atol_; }

  /// Runs a case on a method, which has memory for its outputs, and verifies what it gives.
  /// NotFound when an output differs (it is logged where), and the errors of load_bundled_input()
  /// and Method::execute().
  ET_NODISCARD runtime::Error run(Method& method, size_t case_index) const;

  /// The inputs of a case alone, for runs that are timed.
  ET_NODISCARD runtime::Error give_inputs(Method& method, size_t case_index) const;

  /// How far the outputs of the last run are from the expected ones: see
  /// compute_method_output_error_stats().
  ErrorStats error_stats(Method& method, size_t case_index) const;

 private:
  SelfTest(runtime::FreeableBuffer&& cases, double rtol, double atol)
      : cases_(static_cast<runtime::FreeableBuffer&&>(cases)), rtol_(rtol), atol_(atol) {}

  runtime::FreeableBuffer cases_;
  double rtol_;
  double atol_;
};

}  // namespace BUNDLED_PROGRAM_NAMESPACE
}  // namespace executorch
