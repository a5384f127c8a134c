// SPDX-License-Identifier: BSD-3-Clause
// How fast the NPU runs: a vote that is in force while a graph is loaded or runs.
#pragma once

#include <executorch/backends/qualcomm/runtime/session.h>

#include <memory>

namespace executorch::backends::qualcomm {

/// One vote of a delegate. Without effect for mode kHtpDefault, and where the NPU is none of
/// Hexagon's.
class PowerVote final {
 public:
  /// Internal when the device has nothing to vote with.
  static runtime::Result<std::unique_ptr<PowerVote>> create(std::shared_ptr<Session> session,
                                                            const Options& options);
  ~PowerVote();
  PowerVote(const PowerVote&) = delete;
  PowerVote& operator=(const PowerVote&) = delete;

  /// Asked for until released.
  runtime::Error raise() const;
  runtime::Error release() const;

 private:
  PowerVote(std::shared_ptr<Session> session, int32_t mode)
      : session_(std::move(session)), mode_(mode) {}
  runtime::Error set(int32_t mode) const;

  std::shared_ptr<Session> session_;
  int32_t mode_;
  uint32_t id_ = 0;
  bool has_id_ = false;
  QnnHtpDevice_PerfInfrastructure_t infrastructure_{};
};

}  // namespace executorch::backends::qualcomm
