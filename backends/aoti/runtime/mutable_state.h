// SPDX-License-Identifier: BSD-3-Clause
// MutableStateContextOwner: sessions of a loaded program, each with mutable buffers, such as KV
// caches, of its own:
//
//   MutableStateContextOwner owner;
//   owner.register_fqns({"model.k_cache", "model.v_cache"});
//   owner.with_load_scope([&] { return module.load_method("forward"); });
//   const int session = ET_UNWRAP(owner.create_session());
//   owner.with_active_session(session, [&] { return module.forward(tokens); });
#pragma once

#include <executorch/backends/aoti/runtime/constants.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace executorch::backends::aoti {

/// The methods' own buffers are those of calls outside of sessions. One thread at a time for one
/// program.
class MutableStateContextOwner final {
 public:
  /// Names of buffers in the model. InvalidState once a method was loaded with others.
  runtime::Error register_fqns(std::vector<std::string> names);

  /// Methods that `function` loads have sessions; returns what it returns.
  template <typename Function>
  auto with_load_scope(Function function) {
    const Scope scope(state_, nullptr, 0);
    return function();
  }
  /// Methods that `function` runs use the session's buffers; an unknown session is an error of the
  /// method.
  template <typename Function>
  auto with_active_session(int token, Function function) {
    const Scope scope(nullptr, state_, token);
    return function();
  }

  /// Whether a method with one of the buffers was loaded.
  bool available() const { return state_->num_bytes() > 0; }
  size_t bytes_per_session() const { return state_->num_bytes(); }
  /// NotFound, with their names, when no method has some of the buffers.
  runtime::Error validate_coverage() const;

  /// A token; the buffers begin with the values that the file has. NotFound as validate_coverage();
  /// what the device says when memory is short.
  runtime::Result<int> create_session();
  runtime::Error destroy_session(int token);

 private:
  class Scope final {
   public:
    Scope(std::shared_ptr<SessionState> loading, std::shared_ptr<SessionState> running, int token)
        : previous_(session_scope()) {
      session_scope() = {std::move(loading), std::move(running), token};
    }
    ~Scope() { session_scope() = previous_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    SessionScope previous_;
  };

  std::shared_ptr<SessionState> state_ = std::make_shared<SessionState>(std::vector<std::string>());
};

}  // namespace executorch::backends::aoti
