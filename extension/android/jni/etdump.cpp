// SPDX-License-Identifier: BSD-3-Clause
// A build with events: every Module keeps those of its runs.
#include <executorch/extension/android/jni/tracing.h>

#include <cstdio>
#include <cstdlib>

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::jni {

std::unique_ptr<runtime::EventTracer> make_tracer() {
  return std::make_unique<etdump::ETDumpGen>();
}

bool write_etdump(runtime::EventTracer* tracer, const std::string& path) {
  const etdump::ETDumpResult dump = static_cast<etdump::ETDumpGen*>(tracer)->get_etdump_data();
  if (dump.buf == nullptr || dump.size == 0) {
    ET_LOG(Error, "%s is not written: nothing has run", path.c_str());
    return false;
  }
  const std::unique_ptr<void, void (*)(void*)> bytes(dump.buf, std::free);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    ET_LOG(Error, "%s cannot be opened", path.c_str());
    return false;
  }
  const bool is_complete = std::fwrite(dump.buf, 1, dump.size, file) == dump.size;
  return (std::fclose(file) == 0) && is_complete;
}

}  // namespace executorch::extension::jni
