// SPDX-License-Identifier: BSD-3-Clause
// Writes .ptd data files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::flat_tensor {

// FlatTensor.version of the files written.
constexpr uint32_t kSchemaVersion = 0;

// Writes the tensors, in the order of their names, one segment each at a multiple of
// tensor_alignment (a power of two). Data goes to the file without a copy. On an error, and
// if the process or the machine stops meanwhile, the path is left as it was: the file is written
// beside it, synchronized and renamed.
//   InvalidArgument  the alignment, or a tensor without data
//   AccessFailed     the file cannot be written
//   NotSupported     on a big-endian machine
ET_EXPERIMENTAL runtime::Error save_ptd(
    const std::string& path, const std::map<std::string, executorch::aten::Tensor>& tensor_map,
    const size_t tensor_alignment);

// As above, to a stream that is opened for binary output.
ET_EXPERIMENTAL runtime::Error save_ptd(
    std::ostream& out, const std::map<std::string, executorch::aten::Tensor>& tensor_map,
    const size_t tensor_alignment);

}  // namespace executorch::extension::flat_tensor
