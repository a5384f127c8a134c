// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/self_test.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <executorch/devtools/bundled_program/self_test.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using bundled_program::ErrorStats;
using bundled_program::SelfTest;
using runtime::Error;
using runtime::Method;

namespace {

struct Count {
  size_t run = 0;
  size_t failed = 0;
};

void run_cases(const SelfTest& test, size_t index, Method& method, Count* count,
               std::ostream& out) {
  for (size_t i = 0; i < test.num_cases(index); ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Error error = test.run(method, i);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    ++count->run;
    count->failed += error == Error::Ok ? 0 : 1;
    out << "self-test " << test.method_name(index) << "[" << i
        << "]: " << (error == Error::Ok ? "PASS" : "FAIL") << ", " << taken.count() << " ms";
    const ErrorStats stats = test.error_stats(method, i);
    if (stats.status == Error::Ok) {
      out << ", largest difference " << stats.max_abs_error;
    }
    out << "\n";
  }
}

/// After all cases, so that what a method remembers of a case is what the next one expects.
Error time_cases(const SelfTest& test, size_t index, Method& method, uint32_t num_executions,
                 std::ostream& out) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  for (size_t i = 0; i < test.num_cases(index) && num_executions > 1; ++i) {
    std::vector<double> times;
    for (uint32_t n = 0; n < num_executions; ++n) {
      ET_CHECK_OK_OR_RETURN_ERROR(test.give_inputs(method, i));
      const auto start = std::chrono::steady_clock::now();
      ET_CHECK_OK_OR_RETURN_ERROR(method.execute());
      times.push_back(Milliseconds(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    out << "self-test " << test.method_name(index) << "[" << i << "]: " << num_executions
        << " more runs, median " << times[times.size() / 2] << " ms, fastest " << times[0]
        << " ms\n";
  }
  return Error::Ok;
}

}  // namespace

Error run_self_test(ModelRunnerOptions options, std::ostream& out) {
  Module module(options.model_path, options.data_path, Module::LoadMode::Mmap);
  ET_CHECK_OK_OR_RETURN_ERROR(
      module.load(), "Cannot load %s. Export it again, or check --model_path and --data_path",
      options.model_path.c_str());
  const auto test = SelfTest::load(*module.program());
  ET_CHECK_OK_OR_RETURN_ERROR(
      test.error(),
      "%s carries no self-test that can be run: python -m executorch.devtools self_test adds one",
      options.model_path.c_str());
  const std::string wanted = options.method_name;
  Count count;
  for (size_t i = 0; i < test->num_methods(); ++i) {
    options.method_name = test->method_name(i);
    if (!wanted.empty() && wanted != options.method_name) {
      continue;
    }
    options.instead = [&](Method& method) {
      run_cases(*test, i, method, &count, out);
      return time_cases(*test, i, method, options.num_executions, out);
    };
    ET_CHECK_OK_OR_RETURN_ERROR(run_model(options));
  }
  ET_CHECK_OR_RETURN_ERROR(count.run > 0, NotFound, "%s carries no case of method %s",
                           options.model_path.c_str(), wanted.c_str());
  out << count.run - count.failed << " of " << count.run << " cases pass, rtol " << test->rtol()
      << ", atol " << test->atol() << "\n";
  return count.failed == 0 ? Error::Ok : Error::NotFound;
}

}  // namespace executorch::extension
