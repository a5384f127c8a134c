// SPDX-License-Identifier: BSD-3-Clause
// What the backend calls of Samsung's ENN, declared as its public documents have it: of the library
// no header is needed.
#pragma once

#include <stdint.h>

extern "C" {

typedef uint64_t EnnModelId;
typedef int32_t EnnReturn;  // 0: done
typedef struct {
  void* va;
  uint32_t size;
  uint32_t offset;
} EnnBuffer;
typedef EnnBuffer* EnnBufferPtr;
typedef struct {
  uint32_t n_in_buf;
  uint32_t n_out_buf;
} NumberOfBuffersInfo;

EnnReturn EnnInitialize(void);
EnnReturn EnnOpenModelFromMemory(const char* bytes, uint32_t size, EnnModelId* model);
EnnReturn EnnAllocateAllBuffersWithSessionId(EnnModelId model, EnnBufferPtr** buffers,
                                             NumberOfBuffersInfo* counts, int session, bool commit);
EnnReturn EnnExecuteModel(EnnModelId model);
EnnReturn EnnReleaseBuffers(EnnBufferPtr* buffers, int32_t count);
EnnReturn EnnCloseModel(EnnModelId model);
}
