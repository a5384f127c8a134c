// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/cuda/runtime/cuda_graph.h>

#include <algorithm>
#include <utility>

namespace executorch::backends::cuda {

using aoti::SlimTensor;
using runtime::Error;
using runtime::Result;
using Tensors = aoti::Container::Tensors;

namespace {

Result<Tensors> empty_like(const Tensors& tensors) {
  Tensors made;
  for (const auto& each : tensors) {
    made.push_back(ET_UNWRAP(
        SlimTensor::empty({each->sizes(), each->strides(), 0, each->dtype()}, each->place())));
  }
  return made;
}

/// Other handles on the same memory.
Tensors handles_of(const Tensors& tensors) {
  Tensors made;
  for (const auto& each : tensors) {
    made.push_back(std::make_unique<SlimTensor>(*each));
  }
  return made;
}

bool is_alike(const SlimTensor& a, const SlimTensor& b) {
  const auto same = [](SlimTensor::Numbers left, SlimTensor::Numbers right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  };
  return a.dtype() == b.dtype() && same(a.sizes(), b.sizes()) && same(a.strides(), b.strides());
}

Error copy_all(const Tensors& from, const Tensors& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(i < to.size() && from[i] != nullptr && is_alike(*from[i], *to[i]),
                             InvalidArgument,
                             "CudaBackend: expected tensor %zu to have the shape and strides that "
                             "it had when the graph was recorded: leave methods whose shapes "
                             "change out of enable_cuda_graph_for_method",
                             i);
    ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(*from[i], *to[i]));
  }
  return Error::Ok;
}

}  // namespace

GraphRunner::~GraphRunner() {
  if (recorded_ != nullptr) {
    (void)check_cuda(api_, api_.cudaGraphExecDestroy(recorded_), "cudaGraphExecDestroy");
  }
}

Result<Tensors> GraphRunner::run(aoti::Container& container, Tensors inputs) {
  if (calls_ < kWarmUpCalls) {
    return warm_up(container, std::move(inputs));
  }
  if (recorded_ == nullptr) {
    inputs_ = ET_UNWRAP(empty_like(inputs));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(copy_all(inputs, inputs_));
  if (recorded_ == nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(record(container));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_cuda(api_, api_.cudaGraphLaunch(recorded_, stream_->handle()), "cudaGraphLaunch"));
  return handles_of(outputs_);
}

Result<Tensors> GraphRunner::warm_up(aoti::Container& container, Tensors inputs) {
  auto outputs = ET_UNWRAP(container.run(std::move(inputs), stream_->handle()));
  if (++calls_ == kWarmUpCalls) {
    outputs_ = ET_UNWRAP(empty_like(outputs));
  }
  return outputs;
}

Error GraphRunner::record(aoti::Container& container) {
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_cuda(api_, api_.cudaStreamBeginCapture(stream_->handle(), kCudaCaptureRelaxed),
                 "cudaStreamBeginCapture"));
  const Error queued = queue_and_copy(container);
  cudaGraph_t graph = nullptr;
  // A capture that failed has to be ended, too.
  const Error ended = check_cuda(api_, api_.cudaStreamEndCapture(stream_->handle(), &graph),
                                 "cudaStreamEndCapture");
  Error error = queued == Error::Ok ? ended : queued;
  if (error == Error::Ok) {
    error = check_cuda(api_, api_.cudaGraphInstantiateWithFlags(&recorded_, graph, 0),
                       "cudaGraphInstantiateWithFlags");
  }
  if (graph != nullptr) {
    (void)check_cuda(api_, api_.cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
  return error;
}

/// What the method allocates is given back before the capture ends: such memory is the graph's.
Error GraphRunner::queue_and_copy(aoti::Container& container) {
  const auto outputs = ET_UNWRAP(container.run(handles_of(inputs_), stream_->handle()));
  return copy_all(outputs, outputs_);
}

}  // namespace executorch::backends::cuda
