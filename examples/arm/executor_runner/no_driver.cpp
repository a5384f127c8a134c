// SPDX-License-Identifier: BSD-3-Clause
// Firmware without the NPU's driver: a program with its delegates ends with an error that says so.
#include <executorch/backends/arm/runtime/ethosu_driver_api.h>

extern "C" {
struct ethosu_driver* ethosu_reserve_driver(void) {
  return nullptr;
}
void ethosu_release_driver(struct ethosu_driver*) {}
int ethosu_invoke_v3(struct ethosu_driver*, const void*, const int, uint64_t* const, const size_t*,
                     const int, void*) {
  return -1;
}
}
