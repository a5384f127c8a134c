// SPDX-License-Identifier: BSD-3-Clause
// All tensors of a data file, as copies.
#pragma once

#include <map>
#include <string>

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::training {

// The tensors own their data and do not change their sizes. NotFound if a key names no tensor;
// otherwise errors of the map.
ET_EXPERIMENTAL runtime::Result<std::map<std::string, TensorPtr>> load_state_dict(
    const runtime::NamedDataMap& data);

}  // namespace executorch::extension::training
