// SPDX-License-Identifier: BSD-3-Clause
// VGF files for tests, written by Arm's library from parts that a test changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::arm::vgf {

/// Two graphs: x and weights to y, y to z. What runs on no device: the modules are headers of
/// SPIR-V.
struct SampleFile {
  int32_t format = 100;                  // VK_FORMAT_R32_SFLOAT
  int32_t descriptor_type = 1000460000;  // VK_DESCRIPTOR_TYPE_TENSOR_ARM
  std::vector<int64_t> shape{2, 3};
  std::vector<int64_t> strides;
  std::vector<int64_t> constant_shape{4};
  size_t constant_bytes = 16;
  int64_t sparse_dim = -1;
  bool has_constant = true;
  std::string entry_point = "main";
  std::vector<uint32_t> code{0x07230203, 0x00010600, 0, 8, 0, 0};
  uint32_t set = 0;
  uint32_t second_binding = 1;
  bool has_shader = false;
  bool has_segments = true;

  /// Of the file; empty when it could not be written.
  std::string bytes() const;
};

}  // namespace executorch::backends::arm::vgf
