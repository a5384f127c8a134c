// SPDX-License-Identifier: BSD-3-Clause
// One delegated part of a method: a model that the driver has prepared.
#pragma once

#include <executorch/backends/nxp/runtime/driver.h>
#include <executorch/backends/nxp/runtime/payload.h>
#include <executorch/runtime/backend/backend_execution_context.h>
#include <executorch/runtime/core/evalue.h>

namespace executorch::backends::neutron {

/// It lives where the method's memory is, refers to the payload, and uses no heap. Any thread may
/// run it, one at a time.
class Delegate final {
 public:
  Delegate(const Driver& driver, const Payload& payload) : driver_(driver), payload_(payload) {}
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  /// Once, before execute(). InvalidProgram where the driver refuses the model.
  runtime::Error prepare();

  /// `args`: inputs, then outputs. What has channels last inside is copied, unless it has them last
  /// in memory; copies and scratch are temporary memory. InvalidArgument for arguments of another
  /// count or kind, InvalidProgram for memory in an order that the NPU does not have, and where it
  /// fails.
  runtime::Error execute(runtime::BackendExecutionContext& context,
                         runtime::Span<runtime::EValue*> args) const;

 private:
  const Driver& driver_;
  const Payload payload_;
  NeutronModelHandle model_ = nullptr;
};

}  // namespace executorch::backends::neutron
