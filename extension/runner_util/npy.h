// SPDX-License-Identifier: BSD-3-Clause
// Files that numpy.save() writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension {

struct NpyHeader {
  executorch::aten::ScalarType type;
  std::vector<executorch::aten::SizesType> sizes;
  size_t data_offset;  // of the elements, one after the other with the last dimension innermost
};

// Reads the beginning of a file; `path` stands in messages. The bytes behind the header are as many
// as the sizes say.
//   InvalidArgument  no such file, or one that is cut
//   NotSupported     elements of a type that tensors lack, of another byte order, or in Fortran's
//                    order
runtime::Result<NpyHeader> parse_npy(std::string_view bytes, const std::string& path);

}  // namespace executorch::extension
