// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/runtime/shared_memory.h>
#include <executorch/runtime/backend/dynamic_library.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

namespace executorch::backends::qualcomm {

using runtime::Error;
using runtime::Result;

namespace {

/// Of libcdsprpc.so, which phones have.
struct RpcMemory {
  void* (*alloc)(int heap, uint32_t flags, int size) = nullptr;
  void (*free)(void* data) = nullptr;
  int (*to_fd)(void* data) = nullptr;
};
constexpr int kSystemHeap = 25;
constexpr uint32_t kDefaultFlags = 1;

Result<RpcMemory> load_rpc_memory() {
  const auto library = ET_UNWRAP(
      runtime::DynamicLibrary::open({"libcdsprpc.so"}, "Memory that is shared with the NPU",
                                    "phones of Qualcomm have it; tensors are copied without"));
  RpcMemory found;
  auto functions = library.functions();
  functions.find("rpcmem_alloc", found.alloc);
  functions.find("rpcmem_free", found.free);
  functions.find("rpcmem_to_fd", found.to_fd);
  ET_CHECK_OK_OR_RETURN_ERROR(functions.check(Error::NotFound, "expected FastRPC's library"));
  return found;
}

struct Block {
  size_t size;
  int fd;         // below 0: plain memory
  void* to_free;  // null: an address of another block
};

class Blocks {
 public:
  void add(void* data, const Block& block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    by_address_[data] = block;
  }
  std::optional<Block> at(const void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_address_.find(data);
    return found == by_address_.end() ? std::nullopt : std::optional(found->second);
  }
  /// With the addresses that stand for it.
  std::optional<Block> take(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_address_.find(data);
    if (found == by_address_.end() || found->second.to_free == nullptr) {
      return std::nullopt;
    }
    const Block block = found->second;
    for (auto each = by_address_.begin(); each != by_address_.end();) {
      const bool is_gone = each->first == data || (block.fd >= 0 && each->second.fd == block.fd);
      each = is_gone ? by_address_.erase(each) : std::next(each);
    }
    return block;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, Block> by_address_;
};

Blocks& blocks() {
  static Blocks all;
  return all;
}

}  // namespace

std::optional<int> shared_memory_at(const void* data, size_t size) {
  const std::optional<Block> found = blocks().at(data);
  return found && found->fd >= 0 && found->size >= size ? std::optional(found->fd) : std::nullopt;
}

}  // namespace executorch::backends::qualcomm

using executorch::backends::qualcomm::blocks;
using executorch::backends::qualcomm::load_rpc_memory;

extern "C" {

void* QnnExecuTorchAllocCustomMem(size_t bytes, size_t alignment) {
  const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (bytes == 0 || bytes > INT_MAX || !is_power) {
    return nullptr;
  }
  const auto rpc = executorch::runtime::load_once(load_rpc_memory);
  if (rpc.ok()) {  // aligned to pages
    void* data =
        (*rpc)->alloc(executorch::backends::qualcomm::kSystemHeap,
                      executorch::backends::qualcomm::kDefaultFlags, static_cast<int>(bytes));
    if (data != nullptr) {
      blocks().add(data, {bytes, (*rpc)->to_fd(data), data});
    }
    return data;
  }
  void* data = nullptr;
  if (posix_memalign(&data, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) != 0) {
    return nullptr;
  }
  blocks().add(data, {bytes, -1, data});
  return data;
}

void QnnExecuTorchAddCustomMemTensorAddr(void* tensor_addr, void* custom_mem) {
  if (const auto found = blocks().at(custom_mem); found && tensor_addr != custom_mem) {
    blocks().add(tensor_addr, {found->size, found->fd, nullptr});
  }
}

void QnnExecuTorchFreeCustomMem(void* buffer_ptr) {
  const auto block = blocks().take(buffer_ptr);
  if (!block) {
    return;
  }
  const auto rpc = executorch::runtime::load_once(load_rpc_memory);
  if (block->fd >= 0 && rpc.ok()) {
    (*rpc)->free(buffer_ptr);
  } else {
    std::free(buffer_ptr);
  }
}
}
