// SPDX-License-Identifier: BSD-3-Clause
// The shaders in the library, which gen_vulkan_spv.py writes.
#pragma once

#include <executorch/runtime/core/span.h>

#include <cstddef>
#include <cstdint>

namespace executorch::backends::vulkan {

/// SPIR-V.
struct ShaderCode {
  const uint32_t* words;
  size_t num_bytes;
};

struct Shader {
  /// That of its file, without .glsl.
  const char* name;
  /// For devices whose buffers have elements of 8 and 16 bits, too.
  ShaderCode code;
  /// For others: all elements have 32 bits.
  ShaderCode wide_code;
};

/// Sorted by name.
runtime::Span<const Shader> shaders();

}  // namespace executorch::backends::vulkan
