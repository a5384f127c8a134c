// SPDX-License-Identifier: BSD-3-Clause
// How many cores are worth a thread.
#pragma once

#include <cstdint>

namespace executorch::extension::cpuinfo {

// Physical cores of the fast kinds that this process may run on: hyperthreads of one core count
// once, and the small cores of a big.LITTLE processor do not count. At least 1. Any thread may call
// it; the answer never changes.
uint32_t get_num_performant_cores();

}  // namespace executorch::extension::cpuinfo

// The historic spelling.
namespace torch::executorch::cpuinfo {
using ::executorch::extension::cpuinfo::get_num_performant_cores;
}  // namespace torch::executorch::cpuinfo
