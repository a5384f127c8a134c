// SPDX-License-Identifier: BSD-3-Clause
// NXP's driver as a table of functions: of a library that is found when it is first used, or,
// without an operating system, of what firmware links.
#pragma once

#include <executorch/backends/nxp/runtime/neutron.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::backends::neutron {

// clang-format off: it does not settle on lines here
#define NEUTRON_FUNCTIONS(X) \
  X(neutronInit)             \
  X(neutronModelPrepare)     \
  X(neutronRunBlocking)      \
  X(neutronModelUnprepare)
// clang-format on

struct Driver {
#define NEUTRON_MEMBER(function) decltype(&::function) function = nullptr;
  NEUTRON_FUNCTIONS(NEUTRON_MEMBER)
#undef NEUTRON_MEMBER
};

/// The library `name`, initialized. NotFound, with what was tried in the log, when it does not load
/// or lacks functions.
runtime::Result<Driver> load_driver(const char* name);

/// That of the device, loaded once; after an error it is looked for again. Firmware initializes
/// what it links itself. Threads: any.
runtime::Result<const Driver*> find_driver();

/// Ok, or `error`, with the function's name and the parts of the number in the log.
runtime::Error check_status(NeutronError status, const char* function,
                            runtime::Error error = runtime::Error::InvalidProgram);

}  // namespace executorch::backends::neutron
