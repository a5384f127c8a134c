// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/examples/portable/executor_runner/tracing.h>

using executorch::runtime::Error;

struct Tracing::State {};

Tracing::Tracing() = default;

Tracing::~Tracing() = default;

void Tracing::add_flags(std::vector<executorch::extension::Flag>*) {}

Error Tracing::start(executorch::runtime::EventTracer** out) {
  *out = nullptr;
  return Error::Ok;
}

Error Tracing::finish() {
  return Error::Ok;
}
