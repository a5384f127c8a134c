// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/aoti_backend.h>
#include <executorch/backends/aoti/runtime/aoti_cpu_backend.h>
#include <executorch/backends/aoti/runtime/delegate.h>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;

namespace {

Result<std::unique_ptr<Delegate>> create(runtime::Span<const uint8_t> payload,
                                         const runtime::NamedDataMap* named_data,
                                         const AotiOptions& options) {
  static const DeviceRow row{"AotiCpuBackend", "aoti_cpu_blob.ptd", {tensor_shims(), cpu_shims()}};
  return Delegate::create(row, payload, named_data, options);
}

}  // namespace

Error register_aoti_cpu_backend() {
  static AotiBackend<Delegate, AotiOptions> backend({kAotiTable, create});
  return backend.register_once();
}

}  // namespace executorch::backends::aoti

// What links the library asks for this name, and so for this file.
extern "C" {
executorch::runtime::Error executorch_aoti_cpu_backend =
    executorch::backends::aoti::register_aoti_cpu_backend();
}
