// SPDX-License-Identifier: BSD-3-Clause
// The SDK's libraries: found and loaded when they are first used, and kept.
#pragma once

#include <executorch/backends/qualcomm/runtime/qnn.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <string>

namespace executorch::backends::qualcomm {

/// One that compiles and runs graphs, such as libQnnHtp.so.
struct Library {
  std::string name;      // the file that was loaded
  std::string build_id;  // of the SDK, such as v2.37.0.250724
  Functions functions{};
};

/// One that reads context binaries, libQnnSystem.so.
struct SystemLibrary {
  std::string name;
  SystemFunctions functions{};
};

/// The file at `path`, or without one what the system finds as `name`. NotFound when there is none,
/// or it is not QNN's; NotSupported for another version than this build's headers, and for a
/// stand-in where this build is none, or the other way round. It is looked for again after an
/// error. Threads: any.
runtime::Result<const Library*> find_library(const std::string& name, const std::string& path = "");

/// libQnnSystem.so, beside the library where that was a path.
runtime::Result<const SystemLibrary*> find_system_library(const Library& library);

}  // namespace executorch::backends::qualcomm
