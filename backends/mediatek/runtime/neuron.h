// SPDX-License-Identifier: BSD-3-Clause
// MediaTek's header, or our declarations where a build has none.
#pragma once

#ifdef EXECUTORCH_NEURON_STAND_IN
#include <executorch/backends/mediatek/stand_in/neuron.h>
namespace executorch::backends::neuron {
inline constexpr bool kIsStandIn = true;
}
#else
#include <api/NeuronAdapter.h>
namespace executorch::backends::neuron {
inline constexpr bool kIsStandIn = false;
}
#endif
