// SPDX-License-Identifier: BSD-3-Clause
// What files and programs tell CudaBackend.
#pragma once

#include <executorch/backends/aoti/runtime/options.h>

#include <string>

namespace executorch::backends::cuda {

struct CudaOptions {
  aoti::AotiOptions common;
  /// "cuda:0"; "cuda" is the first one.
  std::string target_device = "cuda:0";
  /// Whether methods are queued on one stream, else each on its own.
  bool shares_stream = false;
  /// Methods that run as CUDA graphs: "decode,forward".
  std::string graph_methods;
  /// Taken and said to be without effect: see the README.
  std::string skipped_copies;

  bool runs_as_graph() const {
    return ("," + graph_methods + ",").find("," + common.method_name + ",") != std::string::npos &&
           !common.method_name.empty();
  }
};

inline aoti::AotiOptions& common_of(CudaOptions& options) {
  return options.common;
}

inline constexpr runtime::Option<CudaOptions> kCudaOptions[] = {
    {"method_name", runtime::read_option<&CudaOptions::common, &aoti::AotiOptions::method_name>},
    {"target_device", runtime::read_option<&CudaOptions::target_device>},
    {"allow_native_code",
     runtime::read_option<&CudaOptions::common, &aoti::AotiOptions::allow_native_code>,
     runtime::OptionSource::kRuntime},
    {"weight_sharing_across_methods",
     runtime::read_option<&CudaOptions::common, &aoti::AotiOptions::shares_constants>,
     runtime::OptionSource::kRuntime},
    {"use_shared_cuda_stream", runtime::read_option<&CudaOptions::shares_stream>,
     runtime::OptionSource::kRuntime},
    {"enable_cuda_graph_for_method", runtime::read_option<&CudaOptions::graph_methods>,
     runtime::OptionSource::kRuntime},
    {"skip_copy_output_to_cpu_for_method", runtime::read_option<&CudaOptions::skipped_copies>,
     runtime::OptionSource::kRuntime},
    {"platform", runtime::kForTheCompiler},
    {"shim_library_path", runtime::kForTheCompiler},
    {"triton_kernel_mode", runtime::kForTheCompiler},
    {"low_memory_mode", runtime::kForTheCompiler},
    {"emulate_precision_casts", runtime::kForTheCompiler},
    {"max_autotune", runtime::kForTheCompiler},
    {"autotune_at_compile_time", runtime::kForTheCompiler},
    {"autotune_pointwise", runtime::kForTheCompiler},
};

inline constexpr runtime::OptionTable<CudaOptions> kCudaTable{"CudaBackend", kCudaOptions};

}  // namespace executorch::backends::cuda
