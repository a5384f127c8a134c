// SPDX-License-Identifier: BSD-3-Clause
// DataSinkBase: where the bytes of recorded tensors go.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/result.h>

namespace executorch::etdump {

/// Used by one thread at a time.
class DataSinkBase {
 public:
  virtual ~DataSinkBase() = default;

  /// Stores `length` bytes and returns where they begin, counted from the sink's first byte. On an
  /// Error nothing is stored.
  virtual runtime::Result<size_t> write(const void* ptr, size_t length) = 0;

  /// Bytes that hold data or lie between them.
  virtual size_t get_used_bytes() const = 0;
};

}  // namespace executorch::etdump
