// SPDX-License-Identifier: BSD-3-Clause
// Memory for the intermediate values of delegates, of one or of several that take turns.
#pragma once

#include <executorch/backends/xnnpack/runtime/XNNPACKBackend.h>
#include <executorch/backends/xnnpack/runtime/plan/scratch.h>
#include <executorch/runtime/core/result.h>

#include <xnnpack.h>

#include <memory>
#include <mutex>

namespace executorch::backends::xnnpack {

/// Grows to what the largest user needs. Whoever creates, runs or deletes an XNNPACK runtime on it
/// holds `mutex`.
class Workspace final {
 public:
  /// One for delegates of this mode: a new one, or that of others that are alive. `model` stands
  /// for the method (null: unknown, not shared).
  static runtime::Result<std::shared_ptr<Workspace>> get(WorkspaceSharingMode mode,
                                                         const void* model);

  explicit Workspace(xnn_workspace_t workspace) : workspace_(workspace) {}
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  xnn_workspace_t handle() { return workspace_; }
  /// Of kernels of ours; needs `mutex`.
  Scratch& scratch() { return scratch_; }
  /// For what lies between the segments of a delegate while it runs: `bytes` or more, where others
  /// have had theirs; it may move when somebody asks for more. Null without memory. Needs `mutex`.
  void* between_segments(size_t bytes);

  /// A first run is to come, and is over or will never be. After the last one memory goes back to
  /// the system until somebody runs again, which takes as much of it as that run needs; not with
  /// an installed copy of XNNPACK. Need `mutex`.
  void expect_first_run() { ++first_runs_; }
  void end_first_run();
  size_t num_first_runs() const { return first_runs_; }

  std::mutex mutex;

 private:
  xnn_workspace_t workspace_;
  Scratch scratch_;
  void* between_ = nullptr;
  size_t between_bytes_ = 0;
  size_t first_runs_ = 0;
};

}  // namespace executorch::backends::xnnpack
