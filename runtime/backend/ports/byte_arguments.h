// SPDX-License-Identifier: BSD-3-Clause
// Inputs and outputs of a library that says no more of them than how many bytes they have:
//
//   BytePort port;
//   port.num_bytes = size_of_input(0);                                        // when it is loaded
//   const auto bytes = ET_UNWRAP(port.to_read({"MyBackend", "input", 0}, value));   // at each run
//
// The library has the tensor's memory where that has as many bytes, else a copy that is filled up
// with zeros, as libraries pad. InvalidArgument for what is no dense row-major tensor, or too
// large. For backends of computers and phones: it allocates. Threads: one at a time.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <vector>

#include <executorch/runtime/backend/tensor_arguments.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// The bytes of a tensor of any dtype, at most so many.
inline Result<Span<uint8_t>> bytes_of(const ArgumentName& name, const EValue& value, size_t most) {
  TensorRule rule{executorch::aten::ScalarType::Float};
  if (value.isTensor()) {
    rule.dtype = value.toTensor().scalar_type();
  }
  const TensorView view = ET_UNWRAP(TensorView::of(name, value, rule));
  ET_CHECK_OK_OR_RETURN_ERROR(view.check_memory());
  ET_CHECK_OR_RETURN_ERROR(view.nbytes() <= most, InvalidArgument,
                           "%s: expected at most %zu bytes, found %zu", name.text().data(), most,
                           view.nbytes());
  return Span<uint8_t>(view.mutable_data<uint8_t>(), view.nbytes());
}

struct BytePort {
  size_t num_bytes = 0;
  std::vector<uint8_t> copy{};

  /// Valid as long as the tensor, and until the next call for this port.
  Result<Span<uint8_t>> to_read(const ArgumentName& name, const EValue& value) {
    const Span<uint8_t> found = ET_UNWRAP(bytes_of(name, value, num_bytes));
    if (found.size() == num_bytes) {
      return found;
    }
    copy.assign(num_bytes, 0);
    if (!found.empty()) {
      std::memcpy(copy.data(), found.data(), found.size());
    }
    return Span<uint8_t>(copy.data(), copy.size());
  }

  /// The same, of an output; store() has the tensor's bytes in place afterwards.
  Result<Span<uint8_t>> to_write(const ArgumentName& name, const EValue& value) {
    const Span<uint8_t> found = ET_UNWRAP(bytes_of(name, value, num_bytes));
    if (found.size() == num_bytes) {
      return found;
    }
    copy.resize(num_bytes);
    return Span<uint8_t>(copy.data(), copy.size());
  }

  /// Of a tensor that to_write() took.
  void store(const EValue& value) const {
    const auto& tensor = value.toTensor();
    if (tensor.nbytes() < num_bytes && tensor.nbytes() > 0) {
      std::memcpy(tensor.mutable_data_ptr(), copy.data(), tensor.nbytes());
    }
  }
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
