// SPDX-License-Identifier: BSD-3-Clause
// The blob of BackendWithCompilerDemo: text, read once into a list of operators.
//
//   2#op:demo::aten.mm.default, numel:4, dtype:torch.float32<debug_handle>4#
//     op:demo::aten.add.Tensor, numel:4, dtype:torch.float32<debug_handle>5<args>2,1<out>0#
//
// (on one line). "version:0#" may follow the count. Without <args>, an operator takes the result of
// the one before it, then the inputs nobody has taken yet. Values count from the first input on,
// then results. Without any <out>, the last operator gives the only output.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::backends::demo {

enum class OpKind : uint8_t { kAdd, kMul, kMm, kSin };

/// Operands of an operator.
inline constexpr size_t num_operands(OpKind kind) {
  return kind == OpKind::kSin ? 1 : 2;
}

struct DemoOp {
  OpKind kind;
  uint32_t numel;         // of the result
  uint32_t debug_handle;  // of the node it was made from
  uint64_t outputs;       // bit i: the result is output i of the delegate
  bool wired;             // `operands` says what it takes
  uint32_t operands[2];   // values, see above
};

struct CompiledText {
  runtime::Span<DemoOp> ops;
  size_t num_outputs;
};

/// Reads untrusted text into memory of `allocator`, which lives as long as the result. Errors:
/// DelegateInvalidCompatibility for text that is not of this form, or of another version;
/// NotSupported for an operator or dtype it does not know; MemoryAllocationFailed.
runtime::Result<CompiledText> read_compiled_text(const char* text, size_t size,
                                                 runtime::MemoryAllocator& allocator);

}  // namespace executorch::backends::demo
