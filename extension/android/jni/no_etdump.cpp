// SPDX-License-Identifier: BSD-3-Clause
// A build without events.
#include <executorch/extension/android/jni/tracing.h>

#include <executorch/runtime/platform/log.h>

namespace executorch::extension::jni {

std::unique_ptr<runtime::EventTracer> make_tracer() {
  return nullptr;
}

bool write_etdump(runtime::EventTracer*, const std::string& path) {
  ET_LOG(
      Error,
      "%s is not written: this library is built without events (EXECUTORCH_ANDROID_PROFILING=ON)",
      path.c_str());
  return false;
}

}  // namespace executorch::extension::jni
