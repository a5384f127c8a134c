// SPDX-License-Identifier: BSD-3-Clause
// NamedDataMap: data found by a key - weights of a .ptd file, or what a program carries by name.
#pragma once

#include <cstdint>
#include <string_view>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Read-only. All members may be called by several threads at the same time. NotFound for a key
/// that is not there.
class NamedDataMap {
 public:
  virtual ~NamedDataMap() = default;

  /// Type, shape and dim order of the tensor at `key`, without loading its data. The layout refers
  /// to memory of the map.
  ET_NODISCARD virtual Result<const TensorLayout> get_tensor_layout(std::string_view key) const = 0;

  /// The bytes at `key`; they may refer to memory of the map, which must outlive the buffer.
  ET_NODISCARD virtual Result<FreeableBuffer> get_data(std::string_view key) const = 0;

  /// Copies the bytes at `key` into `buffer`, whose `size` must be theirs.
  ET_NODISCARD virtual Error load_data_into(std::string_view key, void* buffer,
                                            size_t size) const = 0;

  ET_NODISCARD virtual Result<uint32_t> get_num_keys() const = 0;

  /// The key at `index`, below get_num_keys(); a string of the map.
  ET_NODISCARD virtual Result<const char*> get_key(uint32_t index) const = 0;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
