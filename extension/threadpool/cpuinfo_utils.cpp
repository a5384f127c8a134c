// SPDX-License-Identifier: BSD-3-Clause
// Counts cores with cpuinfo where it is built in, and never more than the process may be scheduled
// on.
#include <executorch/extension/threadpool/cpuinfo_utils.h>

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#ifdef ET_USE_CPUINFO
#include <cpuinfo.h>
#endif

namespace executorch::extension::cpuinfo {
namespace {

uint32_t schedulable_processors() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return std::max(1, CPU_COUNT(&allowed));
  }
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

#ifdef ET_USE_CPUINFO
// The small in-order kinds, which slow a fork-join loop down more than they help.
bool is_small(cpuinfo_uarch uarch) {
  switch (uarch) {
    case cpuinfo_uarch_cortex_a5:
    case cpuinfo_uarch_cortex_a7:
    case cpuinfo_uarch_cortex_a32:
    case cpuinfo_uarch_cortex_a35:
    case cpuinfo_uarch_cortex_a53:
    case cpuinfo_uarch_cortex_a55:
    case cpuinfo_uarch_cortex_a55r0:
    case cpuinfo_uarch_cortex_a510:
      return true;
    default:
      return false;
  }
}

uint32_t count_cores() {
  if (!cpuinfo_initialize()) {
    return schedulable_processors();
  }
  const uint32_t all = cpuinfo_get_cores_count();
  uint32_t fast = 0;
  for (uint32_t i = 0; i < all; ++i) {
    const struct cpuinfo_core* core = cpuinfo_get_core(i);
    fast += core != nullptr && !is_small(core->uarch);
  }
  // A processor with small cores only uses all of them.
  return std::min(fast > 0 ? fast : std::max(1u, all), schedulable_processors());
}
#else
uint32_t count_cores() {
  return schedulable_processors();
}
#endif  // ET_USE_CPUINFO

}  // namespace

uint32_t get_num_performant_cores() {
  static const uint32_t cores = count_cores();
  return cores;
}

}  // namespace executorch::extension::cpuinfo
