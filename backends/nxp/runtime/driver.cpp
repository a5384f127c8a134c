// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/nxp/runtime/driver.h>

#include <cinttypes>
#include <cstddef>

namespace executorch::backends::neutron {

using runtime::Error;

Error check_status(NeutronError status, const char* function, Error error) {
  if (status == 0) {
    return Error::Ok;
  }
  static constexpr const char* kComponents[] = {"?", "library", "firmware", "driver"};
  static constexpr const char* kCategories[] = {
      "generic",       "unsupported", "microcode",      "invalid",
      "bad handle",    "no memory",   "internal fault", "unknown architecture",
      "trace not run", "timeout"};
  const auto bits = static_cast<uint32_t>(status);
  const uint32_t component = bits & 7, category = bits >> 3 & 31;
  constexpr size_t kNumComponents = sizeof(kComponents) / sizeof(*kComponents);
  constexpr size_t kNumCategories = sizeof(kCategories) / sizeof(*kCategories);
  ET_LOG(Error, "NeutronBackend: %s failed with error 0x%" PRIx32 " (%s: %s, code %" PRIu32 ")",
         function, bits, component < kNumComponents ? kComponents[component] : "?",
         category < kNumCategories ? kCategories[category] : "?", bits >> 8);
  return error;
}

}  // namespace executorch::backends::neutron
