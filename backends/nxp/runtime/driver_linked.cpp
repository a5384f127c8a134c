// SPDX-License-Identifier: BSD-3-Clause
// The driver of firmware, which links NXP's libNeutronDriver.a and calls neutronInit() itself.
#include <executorch/backends/nxp/runtime/driver.h>

namespace executorch::backends::neutron {

runtime::Result<const Driver*> find_driver() {
#define NEUTRON_LINKED(function) &::function,
  static constexpr Driver kDriver = {NEUTRON_FUNCTIONS(NEUTRON_LINKED)};
#undef NEUTRON_LINKED
  return &kDriver;
}

}  // namespace executorch::backends::neutron
