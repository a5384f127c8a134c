// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/samsung/runtime/delegate.h>
#include <executorch/runtime/backend/ports/byte_arguments.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace executorch::backends::enn {

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

constexpr char kBackend[] = "EnnBackend";

#define CALL(function, ...) \
  ET_CHECK_OK_OR_RETURN_ERROR(check_status(api_, api_.function(__VA_ARGS__), #function))

/// Empty ones may have no memory.
void copy(void* to, const void* from, size_t size) {
  if (size > 0) {
    std::memcpy(to, from, size);
  }
}

}  // namespace

Result<std::unique_ptr<Delegate>> Delegate::create(const Api& api, Span<const uint8_t> payload) {
  ET_CHECK_OR_RETURN_ERROR(!payload.empty() && payload.size() <= UINT32_MAX, InvalidProgram,
                           "%s payload: expected a binary of the NPU, found %zu bytes", kBackend,
                           payload.size());
  std::unique_ptr<Delegate> made(new (std::nothrow) Delegate(api));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  ET_CHECK_OK_OR_RETURN_ERROR(made->load(payload));
  return made;
}

Error Delegate::load(Span<const uint8_t> payload) {
  CALL(EnnInitialize);
  CALL(EnnOpenModelFromMemory, reinterpret_cast<const char*>(payload.data()),
       static_cast<uint32_t>(payload.size()), &model_);
  is_open_ = true;
  CALL(EnnAllocateAllBuffersWithSessionId, model_, &buffers_, &counts_, 0, true);
  return Error::Ok;
}

Delegate::~Delegate() {
  if (buffers_ != nullptr) {
    api_.EnnReleaseBuffers(buffers_, static_cast<int32_t>(counts_.n_in_buf + counts_.n_out_buf));
  }
  if (is_open_) {
    api_.EnnCloseModel(model_);
  }
}

Error Delegate::execute(Span<EValue*> args) {
  const size_t num_inputs = counts_.n_in_buf, num_outputs = counts_.n_out_buf;
  ET_CHECK_OK_OR_RETURN_ERROR(
      runtime::TensorArguments::of(kBackend, args, num_inputs, num_outputs).error());
  for (size_t i = 0; i < num_inputs + num_outputs; ++i) {
    const bool is_input = i < num_inputs;
    const runtime::ArgumentName name{kBackend, is_input ? "input" : "output",
                                     is_input ? i : i - num_inputs};
    const auto bytes = ET_UNWRAP(runtime::bytes_of(name, *args[i], buffers_[i]->size));
    if (is_input) {
      copy(buffers_[i]->va, bytes.data(), bytes.size());
    }
  }
  CALL(EnnExecuteModel, model_);
  for (size_t i = num_inputs; i < num_inputs + num_outputs; ++i) {
    const auto& tensor = args[i]->toTensor();
    copy(tensor.mutable_data_ptr(), buffers_[i]->va, tensor.nbytes());
  }
  return Error::Ok;
}

}  // namespace executorch::backends::enn
