// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of a training run: tensors in a data file (.ptd) that says when it is corrupted.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension::training {

// The tensor beside those saved: the CRC-32 (zlib's) of their names, types, sizes and bytes, as a
// Long of sizes [1].
constexpr const char* kChecksumName = "__et_checkpoint_crc32";

// Writes parameters and `state` (an optimizer's state_dict(), and what else the run needs) to one
// file, which is also a data file for programs whose weights are external. However this ends, the
// path has all of the new file or all of what was there. InvalidArgument if a name stands in both
// maps; errors of flat_tensor::save_ptd.
[[nodiscard]] runtime::Error save_checkpoint(
    const std::string& path, const std::map<std::string_view, executorch::aten::Tensor>& parameters,
    const std::map<std::string, executorch::aten::Tensor>& state = {});

// Writes what was saved into the memory of the given tensors: to all of them, or on an error to
// none. Other tensors of the file are left alone. The whole file is in memory meanwhile.
//   InvalidExternalData  no checkpoint, or a corrupted one
//   NotFound             the file has no tensor of a name
//   InvalidArgument      a tensor of the file has another type, other sizes or another order of
//                        dimensions, or a given one has no memory
//   AccessFailed         the file cannot be read
[[nodiscard]] runtime::Error load_checkpoint(
    const std::string& path, const std::map<std::string_view, executorch::aten::Tensor>& parameters,
    const std::map<std::string, executorch::aten::Tensor>& state = {});

}  // namespace executorch::extension::training
