// SPDX-License-Identifier: BSD-3-Clause
// Constants and mutable buffers of one method that others use, too: methods that share them, and
// sessions that have buffers of their own.
#pragma once

#include <executorch/backends/aoti/runtime/container.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace executorch::backends::aoti {

/// By its name in the model. The memory is the container's that loaded it.
struct Constant {
  std::shared_ptr<Container> owner;
  std::unique_ptr<SlimTensor> tensor;
};
using Constants = std::map<std::string, std::shared_ptr<const Constant>>;

/// The constants of a container that loaded them.
runtime::Result<Constants> constants_of(const std::shared_ptr<Container>& container, Place place);

/// Has `container` use those of `constants` that it knows, and says how many that were.
runtime::Result<size_t> use(Container& container, const Constants& constants);

/// What methods of the process share: by name and place, as long as one has it. Any thread.
class SharedConstants final {
 public:
  static SharedConstants& instance();

  /// Constants for `container`: those that another method has, others by `load`, which is not
  /// called when there are none. Internal when one of the same name is another: of another dtype,
  /// shape or strides.
  runtime::Result<Constants> share(const std::shared_ptr<Container>& container, Place place,
                                   const std::function<runtime::Error()>& load);

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::weak_ptr<const Constant>> by_name_;
};

/// Buffers of sessions, and the values that they begin with.
class SessionState final {
 public:
  using Buffers = std::map<std::string, std::unique_ptr<SlimTensor>>;

  explicit SessionState(std::vector<std::string> names) : names_(std::move(names)) {}

  /// Notes those of `constants` that are ours, with their values of now, and says whether any is.
  runtime::Result<bool> add(const Constants& constants);
  const std::vector<std::string>& names() const { return names_; }
  /// Of those that no method had.
  std::vector<std::string> missing() const;
  size_t num_bytes() const;

  runtime::Result<int> create();
  /// NotFound for one that is not there.
  runtime::Error destroy(int token);
  /// Null for one that is not there.
  const Buffers* buffers(int token) const;

 private:
  std::vector<std::string> names_;
  Buffers initial_;  // of the host
  std::map<std::string, Place> places_;
  std::map<int, Buffers> sessions_;
  int last_ = 0;
};

/// What the calling thread loads, and runs, for now.
struct SessionScope {
  std::shared_ptr<SessionState> loading, running;
  int token = 0;
};
SessionScope& session_scope();

}  // namespace executorch::backends::aoti
