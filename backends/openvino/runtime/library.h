// SPDX-License-Identifier: BSD-3-Clause
// OpenVINO's C library: found and loaded when it is first used.
#pragma once

#include <executorch/backends/openvino/runtime/OpenvinoApi.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <string>

namespace executorch::backends::openvino {

/// The functions of the library, which is never unloaded. It is the file that OPENVINO_LIB_PATH
/// names, or else what the system finds as libopenvino_c. NotFound when there is none, or one that
/// lacks functions; it is looked for again at the next call. Threads: any.
runtime::Result<const Api*> library();

/// Such as "2026.4.1".
std::string version_of(const Api& api);

/// Ok when `status` is; else `error`, with what the library says in the log. `what` failed.
runtime::Error check_status(const Api& api, ov_status_e status, runtime::Error error,
                            const char* what);

}  // namespace executorch::backends::openvino
