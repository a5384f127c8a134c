// SPDX-License-Identifier: BSD-3-Clause
// What runners of phones' NPUs do with a method: run samples of input files one after the other,
// and write what comes out. For ModelRunnerOptions::instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/executor/method.h>

namespace executorch::extension {

// Files of one run, as GivenInputs::read() takes them.
using Sample = std::vector<std::string>;

struct SampleRunnerOptions {
  std::string output_folder = "outputs";  // made if need be
  uint32_t iterations = 1;                // of each sample
  uint32_t warm_up = 0;                   // runs before, which are not measured
  // Output i of sample k goes to output_k_i.raw in the folder; false: output i of the last one to
  // output_i.bin.
  bool names_samples = true;
};

// One sample a line, files separated by spaces; a name before := is passed over. Without the list
// one sample of ones. InvalidArgument for a list without a line.
runtime::Result<std::vector<Sample>> read_samples(const std::string& list_path);

// Checks and makes what a run needs before the program is loaded. InvalidArgument, AccessFailed.
runtime::Error prepare_folder(const SampleRunnerOptions& options);

// Runs all; the milliseconds that one takes.
runtime::Result<double> run_samples(runtime::Method& method, const std::vector<Sample>& samples,
                                    const SampleRunnerOptions& options);

}  // namespace executorch::extension
