// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/tracing.h>

namespace executorch::extension {

using runtime::Error;

struct Tracing::State {};

Tracing::Tracing() = default;

Tracing::~Tracing() = default;

bool Tracing::is_built() const {
  return false;
}

void Tracing::add_flags(std::vector<Flag>*) {}

Error Tracing::start(runtime::EventTracer** out) {
  *out = nullptr;
  return Error::Ok;
}

Error Tracing::finish() {
  return Error::Ok;
}

}  // namespace executorch::extension
