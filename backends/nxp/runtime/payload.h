// SPDX-License-Identifier: BSD-3-Clause
// What the converter made of one delegated part: a header of ports, then microcode, weights and
// kernels, each from a multiple of 16 bytes. Written by aot/payload.py.
#pragma once

#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstddef>
#include <cstdint>

namespace executorch::backends::neutron {

constexpr char kBackend[] = "NeutronBackend";
constexpr size_t kAlignment = 16;

/// Inputs, or outputs, in the NPU's order. `flags`: 1 where the NPU has channels last; `map`:
/// places among the delegate's arguments of this kind.
struct Ports {
  runtime::Span<const uint8_t> flags, map;
  size_t size() const { return flags.size(); }
};

/// Views of the payload, which must outlive it. Sizes are in bytes.
struct Payload {
  /// InvalidProgram, with what was expected in the log, for what is not whole or contradicts
  /// itself.
  static runtime::Result<Payload> read(runtime::Span<const uint8_t> bytes);

  Ports inputs, outputs;
  size_t num_input_arguments = 0;
  const uint8_t *microcode = nullptr, *weights = nullptr, *kernels = nullptr;
  size_t scratch_size = 0, weights_scratch_size = 0, profile_size = 0, debug_size = 0;
};

}  // namespace executorch::backends::neutron
