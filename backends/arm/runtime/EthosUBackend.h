// SPDX-License-Identifier: BSD-3-Clause
// Registration of EthosUBackend, and what its events carry.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::arm {

/// Registers "EthosUBackend"; linking the library does it from a static constructor. Calling it
/// again has no effect.
ET_NODISCARD runtime::Error register_ethosu_backend();

/// As many as an Ethos-U85 has; of others the last are 0.
constexpr size_t kNumPmuCounters = 8;

/// The metadata of the event "+EthosUBackend::execute()NPU": the counters behind the run, where
/// firmware enables them (ETHOSU_PMU_Enable in its ethosu_inference_begin).
struct PmuCounters {
  uint64_t cycles = 0;
  uint32_t events[kNumPmuCounters] = {};
};

}  // namespace executorch::backends::arm
