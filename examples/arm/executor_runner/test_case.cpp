// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/examples/arm/executor_runner/test_case.h>

#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/runtime/platform/log.h>

using namespace executorch::runtime;
namespace bundled_program = executorch::bundled_program;

Result<Bytes> program_in_bundle(Bytes file) {
  const void* program = nullptr;
  size_t size = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(bundled_program::get_program_data(const_cast<uint8_t*>(file.data()),
                                                                file.size(), &program, &size));
  return Bytes(static_cast<const uint8_t*>(program), size);
}

Error give_case_inputs(Method& method, Bytes file) {
  return bundled_program::load_bundled_input(method, file.data(), 0);
}

Error verify_case(Method& method, Bytes file) {
  const auto stats = bundled_program::compute_method_output_error_stats(method, file.data(), 0);
  if (stats.status == Error::Ok) {
    ET_LOG(Info, "largest difference %f, relative %f; mean %f, relative %f", stats.max_abs_error,
           stats.max_relative_error, stats.mean_abs_error, stats.mean_relative_error);
  }
  const Error error = bundled_program::verify_method_outputs(method, file.data(), 0, RTOL, ATOL);
  ET_LOG(Info, "TEST: BundleIO index[0] Test_result: %s", error == Error::Ok ? "PASS" : "FAIL");
  return error;
}
