// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/sample_runner.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <executorch/extension/runner_util/given_inputs.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using runtime::Error;
using runtime::Method;
using runtime::Result;

namespace {

std::string output_path(const SampleRunnerOptions& options, size_t sample, size_t output) {
  const std::string number = std::to_string(output);
  return options.output_folder + "/output_" +
         (options.names_samples ? std::to_string(sample) + "_" + number + ".raw" : number + ".bin");
}

Error write_outputs(Method& method, const SampleRunnerOptions& options, size_t sample) {
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    if (!method.get_output(i).isTensor()) {
      continue;
    }
    const auto tensor = method.get_output(i).toTensor();
    const std::string path = output_path(options, sample, i);
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(tensor.const_data_ptr()),
               static_cast<std::streamsize>(tensor.nbytes()));
    ET_CHECK_OR_RETURN_ERROR(static_cast<bool>(file), AccessFailed, "cannot write %s",
                             path.c_str());
  }
  return Error::Ok;
}

/// Runs once, with its inputs, and adds its milliseconds.
Error run_once(Method& method, const GivenInputs& inputs, double& out_ms) {
  const BufferCleanup memory = ET_UNWRAP(prepare_inputs(method, inputs.values()));
  const auto start = std::chrono::steady_clock::now();
  ET_CHECK_OK_OR_RETURN_ERROR(method.execute());
  out_ms +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return Error::Ok;
}

}  // namespace

Result<std::vector<Sample>> read_samples(const std::string& list_path) {
  std::ifstream list(list_path);
  if (!list) {
    ET_LOG(Info, "%s is not there: inputs are ones", list_path.c_str());
    return std::vector<Sample>(1);
  }
  std::vector<Sample> samples;
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    Sample files;
    for (std::string word; words >> word;) {
      files.push_back(
          word.substr(word.rfind(":=") == std::string::npos ? 0 : word.rfind(":=") + 2));
    }
    if (!files.empty()) {
      samples.push_back(files);
    }
  }
  ET_CHECK_OR_RETURN_ERROR(!samples.empty(), InvalidArgument,
                           "%s: expected a line of files for each sample, found none",
                           list_path.c_str());
  return samples;
}

Error prepare_folder(const SampleRunnerOptions& options) {
  ET_CHECK_OR_RETURN_ERROR(options.iterations > 0, InvalidArgument,
                           "how often a sample is run: expected 1 or more, found 0");
  std::error_code error;
  std::filesystem::create_directories(options.output_folder, error);
  ET_CHECK_OR_RETURN_ERROR(!error, AccessFailed, "cannot make the folder %s",
                           options.output_folder.c_str());
  return Error::Ok;
}

Result<double> run_samples(Method& method, const std::vector<Sample>& samples,
                           const SampleRunnerOptions& options) {
  ET_LOG(Info, "Method loaded.");
  double total = 0, unused = 0;
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    GivenInputs inputs;
    ET_CHECK_OK_OR_RETURN_ERROR(inputs.read(method.method_meta(), samples[sample]));
    for (uint32_t i = 0; i < (sample == 0 ? options.warm_up : 0); ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(run_once(method, inputs, unused));
    }
    for (uint32_t i = 0; i < options.iterations; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(run_once(method, inputs, total));
    }
    ET_CHECK_OK_OR_RETURN_ERROR(write_outputs(method, options, sample));
  }
  const double each = total / static_cast<double>(samples.size() * options.iterations);
  std::printf("Model executed successfully: %zu sample(s), %.3f ms each\n", samples.size(), each);
  return each;
}

}  // namespace executorch::extension
