// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/events.h>

namespace executorch::extension::c {

runtime::Result<std::unique_ptr<Events>> Events::create(size_t) {
  ET_LOG(Error, "events: this library was built without EXECUTORCH_ENABLE_EVENT_TRACER");
  return runtime::Error::NotSupported;
}

}  // namespace executorch::extension::c
