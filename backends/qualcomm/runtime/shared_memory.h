// SPDX-License-Identifier: BSD-3-Clause
// Memory that the NPU reads where it is: QnnExecuTorchAllocCustomMem() gives it out, tensors are
// put there by their callers.
#pragma once

#include <cstddef>
#include <optional>

namespace executorch::backends::qualcomm {

/// The file descriptor of a block of shared memory that begins at `data`, or that a tensor's
/// address was given for; none where there is no such block, or the system has no memory to share.
/// Threads: any.
std::optional<int> shared_memory_at(const void* data, size_t size);

}  // namespace executorch::backends::qualcomm

extern "C" {

/// `bytes` of memory; null when there is none. It is shared where libcdsprpc.so is, else plain.
void* QnnExecuTorchAllocCustomMem(size_t bytes, size_t alignment);
/// A tensor that a delegate will be run with lies at the beginning of `custom_mem`, under another
/// address.
void QnnExecuTorchAddCustomMemTensorAddr(void* tensor_addr, void* custom_mem);
/// No delegate runs with it any more.
void QnnExecuTorchFreeCustomMem(void* buffer_ptr);
}
