// SPDX-License-Identifier: BSD-3-Clause
// What the backend calls of Arm's driver for Ethos-U (ethosu_driver.h, ethosu_pmu.h of
// ethos-u-core-driver): declarations of its published C interface, so that the backend is compiled
// without the driver's sources. Firmware links the driver, tests link stub_driver.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/compiler.h>

extern "C" {

struct ethosu_driver;

/// Waits until one is free; null when there is none.
struct ethosu_driver* ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver* drv);

/// Runs a command stream and waits. Regions are numbered by `base_addr`. Not 0: it failed.
int ethosu_invoke_v3(struct ethosu_driver* drv, const void* custom_data_ptr,
                     const int custom_data_size, uint64_t* const base_addr,
                     const size_t* base_addr_size, const int num_base_addr, void* user_arg);

// The counters, where firmware links them; those that it does not enable are 0.
ET_WEAK uint64_t ETHOSU_PMU_Get_CCNTR(struct ethosu_driver* drv);
ET_WEAK uint32_t ETHOSU_PMU_Get_EVCNTR(struct ethosu_driver* drv, uint32_t num);

// ---- What a platform may replace; the backend has weak definitions ----

/// Copies an input into the scratch, or an output out of it: by DMA, or with care for caches.
void arm_ethos_io_memcpy(void* dst, const void* src, size_t size);
/// Around each execute().
void EthosUBackend_execute_begin(void);
void EthosUBackend_execute_end(void);
/// Memory of region 2, which Dedicated_Sram uses.
extern uint8_t* ethosu_fast_scratch;
extern size_t ethosu_fast_scratch_size;

}  // extern "C"
