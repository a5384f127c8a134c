// SPDX-License-Identifier: BSD-3-Clause
// In the place of NVIDIA's CUDA runtime, for tests: two devices whose memory is the host's, at
// addresses that the host cannot follow. It counts, checks each pointer, and fails when it is told
// to. What is queued is done at once, or, on a stream that is captured, in each launch of the
// graph.
#include <executorch/backends/cuda/runtime/cuda_library.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// Work that was captured; its memory lives as long as the last graph of it.
struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::vector<std::shared_ptr<void>> memory;
  std::set<uintptr_t> blocks;  // not given back yet
  bool is_broken = false;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};

namespace {

// stand_in/compiled.cpp, whose code is "on the device", takes it away.
constexpr uintptr_t kDeviceBit = uintptr_t{1} << 50;
constexpr int kInvalidValue = 1, kDevices = 2, kNotInGraph = 900, kBrokenCapture = 901;

struct Block {
  size_t size;
  int device;
  bool is_queued;
};

std::mutex mutex;
std::map<uintptr_t, Block> blocks;
std::set<cudaStream_t> streams;
std::map<cudaStream_t, std::unique_ptr<CUgraph_st>> captures;
int graphs = 0;
std::map<std::string, int> calls;
std::string failing;
int calls_left = 0, failing_status = 0;
thread_local int current_device = 0;

/// Notes the call; the status that it is told to give. `mutex` is held.
int status_of(const char* function) {
  ++calls[function];
  if (failing != function || --calls_left != 0) {
    return executorch::backends::cuda::kCudaSuccess;
  }
  failing.clear();
  return failing_status;
}

uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

void* host_of(const void* pointer) {
  return reinterpret_cast<void*>(address_of(pointer) & ~kDeviceBit);
}

bool is_device(const void* pointer) {
  return (address_of(pointer) & kDeviceBit) != 0;
}

/// The block with `size` bytes from `pointer` on.
const Block* block_of(const void* pointer, size_t size) {
  auto next = blocks.upper_bound(address_of(pointer));
  if (next == blocks.begin()) {
    return nullptr;
  }
  const auto& [start, block] = *--next;
  return address_of(pointer) + size <= start + block.size ? &block : nullptr;
}

/// That of a stream that is captured. `mutex` is held.
CUgraph_st* capture_of(cudaStream_t stream) {
  const auto found = captures.find(stream);
  return found == captures.end() ? nullptr : found->second.get();
}

/// A call that no graph can have.
int break_capture(CUgraph_st& capture) {
  capture.is_broken = true;
  return kNotInGraph;
}

/// Does it, or has the graph do it. `mutex` is held.
void queue(cudaStream_t stream, std::function<void()> work) {
  if (CUgraph_st* capture = capture_of(stream)) {
    capture->work.push_back(std::move(work));
  } else {
    work();
  }
}

int allocate(const char* function, void** out, size_t size, bool is_queued) {
  const int status = status_of(function);
  if (status == 0) {
    const uintptr_t made = address_of(std::malloc(size)) | kDeviceBit;
    blocks[made] = {size, current_device, is_queued};
    *out = reinterpret_cast<void*>(made);
  }
  return status;
}

int release(const char* function, void* pointer, bool is_queued) {
  const int status = status_of(function);
  const auto found = blocks.find(address_of(pointer));
  if (found == blocks.end() || (is_queued && !found->second.is_queued)) {
    ++calls["wrong"];
    return kInvalidValue;
  }
  // Freed even where it is told to fail, so that what is left is the caller's leak.
  blocks.erase(found);
  std::free(host_of(pointer));
  return status;
}

int allocate_captured(CUgraph_st& capture, const char* function, void** out, size_t size) {
  const int status = status_of(function);
  if (status == 0) {
    capture.memory.emplace_back(std::malloc(size), std::free);
    const uintptr_t made = address_of(capture.memory.back().get()) | kDeviceBit;
    blocks[made] = {size, current_device, true};
    capture.blocks.insert(made);
    *out = reinterpret_cast<void*>(made);
  }
  return status;
}

/// Memory of the capture alone: a graph that keeps some, or takes others', is "wrong" here.
int release_captured(CUgraph_st& capture, const char* function, void* pointer) {
  const int status = status_of(function);
  if (capture.blocks.erase(address_of(pointer)) == 0) {
    ++calls["wrong"];
    return kInvalidValue;
  }
  blocks.erase(address_of(pointer));
  return status;
}

bool is_stream(cudaStream_t stream) {
  return stream == nullptr || streams.count(stream) == 1;
}

}  // namespace

extern "C" {

/// From now on the `count`-th call of `function` gives `status`, once.
void cudart_stand_in_fail(const char* function, int count, int status) {
  const std::lock_guard<std::mutex> lock(mutex);
  failing = function;
  calls_left = count;
  failing_status = status;
}
/// Calls of a function, or "wrong" ones; 1 for "to fail" while that is to come; "blocks", "bytes"
/// and "streams" and "graphs" that are not given back.
int cudart_stand_in_count(const char* what) {
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string name = what;
  if (name == "blocks" || name == "bytes") {
    size_t sum = 0;
    for (const auto& each : blocks) {
      sum += name == "blocks" ? 1 : each.second.size;
    }
    return static_cast<int>(sum);
  }
  if (name == "to fail") {
    return failing.empty() ? 0 : 1;
  }
  if (name == "graphs") {
    return graphs + static_cast<int>(captures.size());
  }
  return name == "streams" ? static_cast<int>(streams.size()) : calls[name];
}
/// A kernel, which gets a copy of its arguments.
void cudart_stand_in_launch(cudaStream_t stream, void (*kernel)(const void*), const void* arguments,
                            size_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto* bytes = static_cast<const char*>(arguments);
  queue(stream, [kernel, copy = std::vector<char>(bytes, bytes + size)] { kernel(copy.data()); });
}

const char* cudaGetErrorName(int status) {
  switch (status) {
    case kInvalidValue:
      return "cudaErrorInvalidValue";
    case 2:
      return "cudaErrorMemoryAllocation";
    case 35:
      return "cudaErrorInsufficientDriver";
    case 100:
      return "cudaErrorNoDevice";
    case 101:
      return "cudaErrorInvalidDevice";
    case 700:
      return "cudaErrorIllegalAddress";
    case kNotInGraph:
      return "cudaErrorStreamCaptureUnsupported";
    default:
      return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(int) {
  return "as the stand-in was told";
}
int cudaGetLastError() {
  return 0;
}

int cudaGetDeviceCount(int* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  *out = kDevices;
  return status_of(__func__);
}
int cudaGetDevice(int* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  *out = current_device;
  return status_of(__func__);
}
int cudaSetDevice(int device) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = device < 0 || device >= kDevices ? 101 : status_of(__func__);
  current_device = status == 0 ? device : current_device;
  return status;
}

int cudaMalloc(void** out, size_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  return allocate(__func__, out, size, false);
}
int cudaFree(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex);
  return release(__func__, pointer, false);
}
int cudaMallocAsync(void** out, size_t size, cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  CUgraph_st* capture = capture_of(stream);
  return capture == nullptr ? allocate(__func__, out, size, true)
                            : allocate_captured(*capture, __func__, out, size);
}
int cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  CUgraph_st* capture = capture_of(stream);
  return capture == nullptr ? release(__func__, pointer, true)
                            : release_captured(*capture, __func__, pointer);
}

int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  const bool is_to = kind != executorch::backends::cuda::kCudaCopyToHost,
             is_from = kind != executorch::backends::cuda::kCudaCopyToDevice;
  const bool is_right = is_device(to) == is_to && is_device(from) == is_from &&
                        (!is_to || block_of(to, size) != nullptr) &&
                        (!is_from || block_of(from, size) != nullptr) && is_stream(stream);
  calls["wrong"] += is_right ? 0 : 1;
  calls["on the default stream"] += stream == nullptr ? 1 : 0;
  CUgraph_st* capture = capture_of(stream);
  if (capture != nullptr && !(is_to && is_from)) {
    return break_capture(*capture);
  }
  if (status == 0 && is_right) {
    queue(stream, [=] { std::memmove(host_of(to), host_of(from), size); });
  }
  return is_right ? status : kInvalidValue;
}

int cudaStreamCreateWithFlags(cudaStream_t* out, uint32_t) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  if (status == 0) {
    *out = static_cast<cudaStream_t>(std::malloc(1));
    streams.insert(*out);
  }
  return status;
}
int cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  calls["wrong"] += streams.erase(stream) == 1 ? 0 : 1;
  std::free(stream);
  return status_of(__func__);
}
int cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  calls["wrong"] += is_stream(stream) ? 0 : 1;
  CUgraph_st* capture = capture_of(stream);
  return capture == nullptr ? status_of(__func__) : break_capture(*capture);
}

int cudaStreamBeginCapture(cudaStream_t stream, int mode) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  const bool is_right = stream != nullptr && is_stream(stream) && capture_of(stream) == nullptr &&
                        mode == executorch::backends::cuda::kCudaCaptureRelaxed;
  calls["wrong"] += is_right ? 0 : 1;
  if (status == 0 && is_right) {
    captures[stream] = std::make_unique<CUgraph_st>();
  }
  return is_right ? status : kInvalidValue;
}
int cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  if (capture_of(stream) == nullptr) {
    ++calls["wrong"];
    return kInvalidValue;
  }
  std::unique_ptr<CUgraph_st> made = std::move(captures[stream]);
  captures.erase(stream);
  calls["wrong"] += static_cast<int>(made->blocks.size());
  if (made->is_broken || status != 0) {
    return status == 0 ? kBrokenCapture : status;
  }
  *out = made.release();
  ++graphs;
  return 0;
}
int cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, uint64_t) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  if (status == 0) {
    *out = new CUgraphExec_st{*graph};
    ++graphs;
  }
  return status;
}
int cudaGraphLaunch(cudaGraphExec_t recorded, cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  calls["wrong"] += is_stream(stream) ? 0 : 1;
  for (size_t i = 0; status == 0 && i < recorded->graph.work.size(); ++i) {
    recorded->graph.work[i]();
  }
  return status;
}
int cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard<std::mutex> lock(mutex);
  delete graph;
  --graphs;
  return status_of(__func__);
}
int cudaGraphExecDestroy(cudaGraphExec_t recorded) {
  const std::lock_guard<std::mutex> lock(mutex);
  delete recorded;
  --graphs;
  return status_of(__func__);
}

int cudaPointerGetAttributes(executorch::backends::cuda::CudaPointer* out, const void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(__func__);
  const Block* block = block_of(pointer, 0);
  *out = {};
  if (block != nullptr) {
    out->type = executorch::backends::cuda::kCudaMemoryDevice;
    out->device = block->device;
  }
  return status;
}

}  // extern "C"
