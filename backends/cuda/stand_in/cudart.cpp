// SPDX-License-Identifier: BSD-3-Clause
// In the place of NVIDIA's CUDA runtime, for tests: two devices whose memory is the host's, at
// addresses that the host cannot follow. It counts, checks each pointer, and fails when it is told
// to.
#include <executorch/backends/cuda/runtime/cuda_library.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

// stand_in/compiled.cpp, whose code is "on the device", takes it away.
constexpr uintptr_t kDeviceBit = uintptr_t{1} << 50;
constexpr int kInvalidValue = 1, kDevices = 2;

struct Block {
  size_t size;
  int device;
  bool is_queued;
};

std::mutex mutex;
std::map<uintptr_t, Block> blocks;
std::set<cudaStream_t> streams;
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

int allocate(const char* function, void** out, size_t size, bool is_queued) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int status = status_of(function);
  if (status == 0) {
    const uintptr_t made = address_of(std::malloc(size)) | kDeviceBit;
    blocks[made] = {size, current_device, is_queued};
    *out = reinterpret_cast<void*>(made);
  }
  return status;
}

int release(const char* function, void* pointer, bool is_queued) {
  const std::lock_guard<std::mutex> lock(mutex);
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
/// and "streams" that are not given back.
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
  return name == "streams" ? static_cast<int>(streams.size()) : calls[name];
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
  return allocate(__func__, out, size, false);
}
int cudaFree(void* pointer) {
  return release(__func__, pointer, false);
}
int cudaMallocAsync(void** out, size_t size, cudaStream_t) {
  return allocate(__func__, out, size, true);
}
int cudaFreeAsync(void* pointer, cudaStream_t) {
  return release(__func__, pointer, true);
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
  if (status == 0 && is_right) {
    std::memmove(host_of(to), host_of(from), size);
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
