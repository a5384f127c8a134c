// SPDX-License-Identifier: BSD-3-Clause
// What a payload says about one value: its type and how it is quantized. Checked here, except for
// scales in constants, which are checked when they are loaded (constants.h).
#pragma once

#include <executorch/backends/xnnpack/runtime/shapes.h>
#include <executorch/backends/xnnpack/serialization/schema_generated.h>
#include <executorch/runtime/core/error.h>

#include <cstddef>
#include <cstdint>

namespace executorch::backends::xnnpack {

struct Value {
  const fb_xnnpack::XNNTensorValue* tensor = nullptr;
  /// Computed as float32, though half precision in the payload.
  bool is_widened = false;
  /// The table of parameters; null for a type that has none. Its kind follows from the type.
  const void* quantization = nullptr;
  /// Of a type that is quantized by tensor.
  float scale = 0;
  int32_t zero_point = 0;
  /// Of one quantized by channel or by groups of a channel.
  size_t channel_dim = 0;
  size_t group_size = 0;
  size_t num_scales = 0;
  /// Of one quantized by token.
  size_t num_nonbatch_dims = 0;

  /// As a constant or an argument has it.
  fb_xnnpack::XNNDatatype declared() const { return tensor->datatype(); }
  /// As nodes read and write it.
  fb_xnnpack::XNNDatatype type() const {
    return is_widened ? fb_xnnpack::XNNDatatype::xnn_datatype_fp32 : declared();
  }
  bool is_constant() const { return tensor->constant_buffer_idx() != 0; }
};

/// Reads a value and its shape. InvalidProgram for parameters that do not fit the type or the
/// shape, NotSupported for a type that this build has no place for.
runtime::Error read_value(const fb_xnnpack::XValue& value, uint32_t id, Value& out, Shape& shape);

/// Bytes of a value of this type; of 4-bit types every row ends with a whole byte.
uint64_t size_of(fb_xnnpack::XNNDatatype type, const Shape& shape);

/// Finite, positive, and not so small that it has lost digits, as XNNPACK wants them.
bool is_scale(float scale);

}  // namespace executorch::backends::xnnpack
