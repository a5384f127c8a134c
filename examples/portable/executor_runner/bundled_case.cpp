// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/self_test.h>

#include <array>
#include <cstdint>
#include <fstream>

#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using bundled_program::ErrorStats;
using runtime::DataLoader;
using runtime::Error;
using runtime::Method;

bool is_bundled_program_file(const std::string& path) {
  std::array<char, 8> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return bundled_program::is_bundled_program(begin.data(), begin.size());
}

Error run_bundled_case(ModelRunnerOptions options, double rtol, double atol, std::ostream& out) {
  ET_CHECK_OR_RETURN_ERROR(options.inputs.empty() && options.data_path.empty(), InvalidArgument,
                           "%s has its inputs in it: leave --inputs and --data_path out",
                           options.model_path.c_str());
  auto loader = ET_UNWRAP(MmapDataLoader::from(options.model_path.c_str()));
  const auto kind = DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program);
  const auto file = ET_UNWRAP(loader.load(0, ET_UNWRAP(loader.size()), kind));
  const void* program = nullptr;
  size_t size = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(bundled_program::get_program_data(const_cast<void*>(file.data()),
                                                                file.size(), &program, &size),
                              "Cannot load %s", options.model_path.c_str());
  options.program = {static_cast<const uint8_t*>(program), size};
  options.prepare = [&](Method& method) {
    return bundled_program::load_bundled_input(method, file.data(), 0);
  };
  options.when_executed = [&](Method& method) {
    const ErrorStats stats =
        bundled_program::compute_method_output_error_stats(method, file.data(), 0);
    if (stats.status == Error::Ok) {
      out << "largest difference " << stats.max_abs_error << " (relative "
          << stats.max_relative_error << "), mean " << stats.mean_abs_error << " (relative "
          << stats.mean_relative_error << ")\n";
    }
    const Error error = bundled_program::verify_method_outputs(method, file.data(), 0, rtol, atol);
    out << "TEST: BundleIO index[0] Test_result: " << (error == Error::Ok ? "PASS" : "FAIL")
        << std::endl;
    return error;
  };
  return run_model(options);
}

}  // namespace executorch::extension
