// SPDX-License-Identifier: BSD-3-Clause
// Registration of NeutronBackend. Linking the library registers it from a static constructor.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::backends::neutron {

/// Registers "NeutronBackend". Calling it again has no effect.
ET_NODISCARD runtime::Error register_neutron_backend();

}  // namespace executorch::backends::neutron
