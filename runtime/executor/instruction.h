// SPDX-License-Identifier: BSD-3-Clause
// The form in which a Method keeps its instructions and delegates. Internal to the executor.
#pragma once

#include <cstdint>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch_flatbuffer {
struct Chain;
}  // namespace executorch_flatbuffer

namespace executorch::ET_RUNTIME_NAMESPACE {

// An initialized delegate. `data` may have been freed by the backend; what is left is freed with
// the Method.
struct LoadedDelegate {
  const BackendInterface* backend;
  DelegateHandle* handle;
  FreeableBuffer data;
};

// One instruction with its operands resolved to pointers.
struct LoadedInstruction {
  enum class Kind : uint8_t { kKernel, kDelegate, kMove, kJumpFalse, kFree };

  Kind kind;
  // Whether the data of the arguments must not be null. Not so for operators on symbols and for
  // views, which check for themselves.
  bool reads_data;
  // The argument that says what a kernel writes.
  bool writes_first;
  // Kernel, delegate.
  uint32_t num_args;
  union {
    EValue** args;  // kernel, delegate
    EValue* value;  // move: destination; jump: condition; free: tensor
  };
  union {
    OpFunction kernel;
    LoadedDelegate* delegate;
    const EValue* source;  // move
    size_t target;         // jump
  };
};

// A list of tensors that count their references, to be destroyed with the Method; there is none of
// portable tensors.
struct HeldList {
  void (*destroy)(void* list);
  void* list;
  HeldList* next;
};

struct LoadedChain {
  const executorch_flatbuffer::Chain* source;
  Span<LoadedInstruction> instructions;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE
