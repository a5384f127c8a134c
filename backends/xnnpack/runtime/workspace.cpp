// SPDX-License-Identifier: BSD-3-Clause
// Finds the workspaces that are shared.
#include <executorch/backends/xnnpack/runtime/memory.h>
#include <executorch/backends/xnnpack/runtime/preparation/definitions.h>
#include <executorch/backends/xnnpack/runtime/workspace.h>

#include <map>

#ifdef EXECUTORCH_XNNPACK_LIBRARY
extern "C" void* xnn_get_workspace_data(
    xnn_workspace_t workspace);  // patches/xnnpack/inspection.patch
#endif

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::Result;

namespace {

Result<std::shared_ptr<Workspace>> make_workspace() {
  xnn_workspace_t workspace = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(xnn_create_workspace(&workspace), "a workspace"));
  return std::make_shared<Workspace>(workspace);
}

struct Shared {
  std::mutex mutex;
  std::map<const void*, std::weak_ptr<Workspace>> workspaces;  // null: that of all models
};

}  // namespace

Result<std::shared_ptr<Workspace>> Workspace::get(WorkspaceSharingMode mode, const void* model) {
  const bool is_global = mode == WorkspaceSharingMode::Global;
  if (mode == WorkspaceSharingMode::Disabled || (model == nullptr && !is_global)) {
    return make_workspace();
  }
  static Shared shared;
  const std::lock_guard<std::mutex> lock(shared.mutex);
  for (auto each = shared.workspaces.begin(); each != shared.workspaces.end();) {
    each = each->second.expired() ? shared.workspaces.erase(each) : std::next(each);
  }
  std::weak_ptr<Workspace>& known = shared.workspaces[is_global ? nullptr : model];
  if (auto found = known.lock(); found != nullptr) {
    return found;
  }
  auto made = make_workspace();
  if (made.ok()) {
    known = made.get();
  }
  return made;
}

Workspace::~Workspace() {
  free_block(between_);
  xnn_release_workspace(workspace_);
}

void* Workspace::between_segments(size_t bytes) {
  if (bytes > between_bytes_) {
    free_block(between_);
    between_ = allocate_block(bytes);
    between_bytes_ = between_ == nullptr ? 0 : bytes;
  }
  return between_;
}

void Workspace::end_first_run() {
  if (--first_runs_ > 0) {
    return;
  }
  scratch_.clear();
  forget_block(between_);
#ifdef EXECUTORCH_XNNPACK_LIBRARY
  forget_block(xnn_get_workspace_data(workspace_));
#endif
}

}  // namespace executorch::backends::xnnpack
