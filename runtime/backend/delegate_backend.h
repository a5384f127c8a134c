// SPDX-License-Identifier: BSD-3-Clause
// A backend whose handles are objects that its init() makes and releases:
//
//   class MyBackend final : public DelegateBackend<Delegate> {
//     bool is_available() const override;
//     Result<DelegateHandle*> init(...) const override { return handle_of(Delegate::create(...)); }
//   };
#pragma once

#include <executorch/runtime/backend/interface.h>

#include <memory>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Delegates have execute(Span<EValue*>), or execute(Span<EValue*>, EventTracer*).
template <typename Delegate>
class DelegateBackend : public BackendInterface {
 public:
  Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                Span<EValue*> args) const final {
    return execute_on(*static_cast<Delegate*>(handle), context, args, 0);
  }
  void destroy(DelegateHandle* handle) const final { delete static_cast<Delegate*>(handle); }

 protected:
  static Result<DelegateHandle*> handle_of(Result<std::unique_ptr<Delegate>> made) {
    ET_CHECK_OK_OR_RETURN_ERROR(made.error());
    return static_cast<DelegateHandle*>(made->release());
  }

 private:
  /// The first where it compiles.
  template <typename Each>
  static auto execute_on(Each& delegate, BackendExecutionContext& context, Span<EValue*> args, int)
      -> decltype(delegate.execute(args, context.event_tracer())) {
    return delegate.execute(args, context.event_tracer());
  }
  template <typename Each>
  static Error execute_on(Each& delegate, BackendExecutionContext&, Span<EValue*> args, ...) {
    return delegate.execute(args);
  }
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
