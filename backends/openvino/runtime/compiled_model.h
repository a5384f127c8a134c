// SPDX-License-Identifier: BSD-3-Clause
// From a payload to a model that runs on a device.
#pragma once

#include <executorch/backends/openvino/runtime/OpenvinoApi.h>
#include <executorch/backends/openvino/runtime/payload.h>
#include <executorch/backends/openvino/runtime/settings.h>
#include <executorch/runtime/core/result.h>

namespace executorch::backends::openvino {

/// Whether the library finds a device at all.
bool has_device(const Api& api);

/// The caller frees it, before the payload's bytes, which it reads. Cores, with the
/// devices' libraries, are kept for the process, one for all that is loaded with equal settings.
/// Errors: InvalidArgument, for a property that the device does not have or take;
/// DelegateInvalidCompatibility, for a payload of another version of OpenVINO, or one that the
/// library does not take. Threads: any.
runtime::Result<ov_compiled_model_t*> load_model(const Api& api, const Payload& payload,
                                                 const Settings& settings);

}  // namespace executorch::backends::openvino
