// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/pybindings/log_capture.h>
#include <executorch/extension/pybindings/tracing.h>

namespace executorch::extension::pybindings {

std::shared_ptr<Tracing> Tracing::create(size_t) {
  throw RuntimeFailure(
      "This build has no event tracer: load without enable_etdump, or build with "
      "EXECUTORCH_ENABLE_EVENT_TRACER");
}

}  // namespace executorch::extension::pybindings
