// SPDX-License-Identifier: BSD-3-Clause
// The driver of systems that load libraries.
#include <executorch/backends/nxp/runtime/driver.h>
#include <executorch/runtime/backend/dynamic_library.h>

namespace executorch::backends::neutron {

using runtime::DynamicLibrary;
using runtime::Error;
using runtime::Result;

Result<Driver> load_driver(const char* name) {
  const auto loaded = ET_UNWRAP(DynamicLibrary::open(
      {name}, "NXP's Neutron driver", "LD_LIBRARY_PATH must have its folder, of an i.MX device"));
  Driver driver;
  auto functions = loaded.functions();
#define NEUTRON_FIND(function) functions.find(#function, driver.function);
  NEUTRON_FUNCTIONS(NEUTRON_FIND)
#undef NEUTRON_FIND
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected NXP's Neutron driver"));
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(driver.neutronInit(), "neutronInit", Error::Internal));
  return driver;
}

Result<const Driver*> find_driver() {
  return runtime::load_once<Driver>([] { return load_driver("libNeutronDriver.so"); });
}

}  // namespace executorch::backends::neutron
