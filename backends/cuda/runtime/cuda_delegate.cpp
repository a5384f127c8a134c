// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_allocator.h>
#include <executorch/backends/cuda/runtime/cuda_delegate.h>
#include <executorch/backends/cuda/runtime/cuda_shims.h>

#include <new>
#include <string>

namespace executorch::backends::cuda {

using runtime::Error;
using runtime::Result;

namespace {

/// Of "cuda:1" and "cuda".
Result<int> index_of(const std::string& target) {
  const std::string start = "cuda", number = target.substr(std::min(target.size(), start.size()));
  const bool is_right =
      target.compare(0, start.size(), start) == 0 &&
      (number.empty() || (number.size() >= 2 && number.size() <= 3 && number[0] == ':' &&
                          number.find_first_not_of("0123456789", 1) == std::string::npos));
  ET_CHECK_OR_RETURN_ERROR(is_right, InvalidProgram,
                           "CudaBackend: expected a target_device such as cuda:0, found %s",
                           target.c_str());
  return number.empty() ? 0 : std::stoi(number.substr(1));
}

aoti::DeviceRow row_of(int device) {
  return {"CudaBackend",
          "aoti_cuda_blob.ptd",
          {aoti::tensor_shims(), cuda_shims(), kernel_shims()},
          {aoti::DeviceType::CUDA, static_cast<aoti::DeviceIndex>(device)}};
}

}  // namespace

Result<std::unique_ptr<CudaDelegate>> CudaDelegate::create(runtime::Span<const uint8_t> payload,
                                                           const runtime::NamedDataMap* named_data,
                                                           const CudaOptions& options) {
  const int device = ET_UNWRAP(index_of(options.target_device));
  const CudaApi& api = *ET_UNWRAP(cuda_library());
  auto stream =
      ET_UNWRAP(options.shares_stream ? Stream::shared(api, device) : Stream::create(api, device));
  std::unique_ptr<CudaDelegate> made(new (std::nothrow)
                                         CudaDelegate(api, device, std::move(stream)));
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  const DeviceScope on_device = ET_UNWRAP(DeviceScope::enter(api, device));
  const StreamScope on_stream(made->stream_->handle());
  made->delegate_ =
      ET_UNWRAP(aoti::Delegate::create(row_of(device), payload, named_data, options.common));
  if (options.runs_as_graph()) {
    made->graph_ = std::make_unique<GraphRunner>(api, made->stream_);
  }
  // Methods that share constants have streams of their own.
  ET_CHECK_OK_OR_RETURN_ERROR(made->stream_->wait());
  return made;
}

CudaDelegate::~CudaDelegate() {
  const auto on_device = DeviceScope::enter(api_, device_);
  const StreamScope on_stream(stream_->handle());
  (void)stream_->wait();
  graph_.reset();
  delegate_.reset();
}

Error CudaDelegate::execute(runtime::Span<runtime::EValue*> args) {
  const DeviceScope on_device = ET_UNWRAP(DeviceScope::enter(api_, device_));
  const auto of_caller = extension::cuda::getCallerStream();
  const cudaStream_t stream = of_caller.value_or(stream_->handle());
  const StreamScope on_stream(stream);
  ET_CHECK_OR_RETURN_ERROR(graph_ == nullptr || !of_caller.has_value(), NotSupported,
                           "CudaBackend: a method that runs as a graph has a stream of its own: "
                           "call it without CallerStreamGuard, or leave it out of "
                           "enable_cuda_graph_for_method");
  const Error error = delegate_->execute(args, stream, graph_.get());
  if (of_caller.has_value()) {
    return error;
  }
  const Error waited = stream_->wait();
  return error == Error::Ok ? waited : error;
}

}  // namespace executorch::backends::cuda
