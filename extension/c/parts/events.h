// SPDX-License-Identifier: BSD-3-Clause
// What a module does, as an ETDump. Builds without events refuse (no_events.cpp).
#pragma once

#include <cstddef>
#include <memory>

#include <executorch/c/executorch.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::c {

class Events {
 public:
  // value_buffer_size: bytes for the values of intermediate tensors; 0: none are kept.
  static runtime::Result<std::unique_ptr<Events>> create(size_t value_buffer_size);
  virtual ~Events() = default;

  // For the one module, which owns it and goes before this.
  virtual std::unique_ptr<runtime::EventTracer> make_tracer() = 0;
  // All since the last call; valid until the next.
  virtual runtime::Error take(ExecuTorchMemory* events, ExecuTorchMemory* values) = 0;
};

}  // namespace executorch::extension::c
