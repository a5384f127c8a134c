// SPDX-License-Identifier: BSD-3-Clause
// What EthosUBackend runs: views into a payload that was verified once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::backends::arm {

/// An input or output: where its bytes lie in the scratch. All of it is within the scratch.
struct Port {
  size_t offset;
  /// Of one element: 1, 2 or 4.
  size_t element_size;
  /// Elements that lie behind each other: of the last dimension.
  size_t row;
  size_t num_rows;

  size_t numel() const { return row * num_rows; }
  size_t nbytes() const { return numel() * element_size; }
};

struct Payload {
  runtime::Span<const uint8_t> commands;
  runtime::Span<const uint8_t> weights;
  size_t scratch_size;
  runtime::Span<const Port> inputs;
  runtime::Span<const Port> outputs;
};

/// `bytes` must outlive it. Ports are in memory of `allocator`. Errors: InvalidProgram for bytes
/// that are no payload, MemoryAllocationFailed.
runtime::Result<Payload> open_payload(runtime::Span<const uint8_t> bytes,
                                      runtime::MemoryAllocator& allocator);

}  // namespace executorch::backends::arm
