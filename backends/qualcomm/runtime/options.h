// SPDX-License-Identifier: BSD-3-Clause
// What users ask of the backend: when they compile, in the compile spec's flatbuffer
// (serialization/), and where it runs.
#pragma once

#include <executorch/runtime/backend/compile_options.h>

#include <cstdint>
#include <string>

namespace executorch::backends::qualcomm {

struct Options {
  int32_t backend_type = 0;  // of QnnExecuTorchBackendType
  uint32_t soc_model = 0;
  uint32_t htp_arch = 0;
  uint32_t vtcm_mb = 0;
  std::string library_path;
  int32_t log_level = 0;      // 0: off, 1: errors .. 5: all
  int32_t profile_level = 0;  // 0: off, 1: runs, 2: operators, too; 3 is as 2
  int32_t performance_mode = 0;
  bool is_half = false;  // floats are computed in 16 bits
  bool folds_relu = true, uses_conv_hmx = true;
  bool shares_weights = false;
  bool online_prepare = false;
  bool shared_buffer = false;

  /// The library of the backend, such as libQnnHtp.so.
  const char* library_name() const;
  bool is_htp() const;
};

extern const runtime::OptionTable<Options> kOptionTable;

/// The bytes of a compile spec. InvalidProgram for others.
runtime::Error read_compile_spec(runtime::Span<const uint8_t> bytes, Options& out);

}  // namespace executorch::backends::qualcomm
