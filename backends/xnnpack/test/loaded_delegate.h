// SPDX-License-Identifier: BSD-3-Clause
// For tests: a delegate that is made and run through the registered backend.
#pragma once

#include <executorch/backends/xnnpack/runtime/xnnpack_backend.h>
#include <executorch/backends/xnnpack/test/sample_payload.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace executorch::backends::xnnpack::testing {

/// A delegate, made and run through the registered backend.
class Loaded {
 public:
  /// The payload lies `offset` bytes behind an aligned address: at 1 of no alignment at all, as a
  /// file may have it.
  explicit Loaded(std::vector<uint8_t> payload,
                  runtime::Span<const runtime::BackendOption> options = {},
                  runtime::MemoryAllocator* allocator = nullptr, size_t offset = 1)
      : payload_(std::move(payload)) {
    runtime::BackendInitContext context(allocator, nullptr, "forward", &data_, options);
    storage_.resize(payload_.size() + offset);
    uint8_t* const begin = storage_.data() + offset;
    std::copy(payload_.begin(), payload_.end(), begin);
    buffer_ = runtime::FreeableBuffer(begin, payload_.size(), nullptr);
    const auto handle = backend().init(context, &buffer_, {});
    error_ = handle.error();
    handle_ = handle.ok() ? handle.get() : nullptr;
  }
  ~Loaded() {
    if (handle_ != nullptr) {
      backend().destroy(handle_);
    }
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  static runtime::BackendInterface& backend() {
    return *runtime::get_backend_class(xnnpack_backend_key);
  }

  runtime::Error error() const { return error_; }
  /// Whether the payload's bytes, not a copy, are in use.
  bool uses_payload() const { return buffer_.data() != nullptr; }

  runtime::Error run(std::vector<extension::TensorPtr> tensors) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    runtime::BackendExecutionContext context;
    return backend().execute(context, handle_, {pointers.data(), pointers.size()});
  }

 private:
  SampleData data_;
  std::vector<uint8_t> payload_;
  std::vector<uint8_t> storage_;
  runtime::FreeableBuffer buffer_;
  runtime::Error error_ = runtime::Error::Ok;
  runtime::DelegateHandle* handle_ = nullptr;
};

/// Of sample_graph().
inline std::vector<extension::TensorPtr> arguments() {
  return {extension::full({1, 6, 6, 2}, 1.0), extension::full({1, 3, 2, 2}, 0.0),
          extension::full({1, 6, 6, 3}, 0.0)};
}

}  // namespace executorch::backends::xnnpack::testing
