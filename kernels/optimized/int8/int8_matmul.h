// SPDX-License-Identifier: BSD-3-Clause
// Matmuls of rows of int8 by weights of int8 that are packed once. Sums are int32, modulo 2^32, and
// go to the caller a tile at a time, while they are in a core's own cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/kernels/optimized/gemm/matmul_result.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace executorch::kernels::optimized {

// True when the processor multiplies bytes and adds the products in one instruction: VNNI, AMX,
// SDOT, SMMLA. Elsewhere what is below is right, and slow.
bool has_int8_dots();

// [n][k], packed for this process: the order is that of the processor's instructions.
struct Int8Weights {
  int64_t n = 0, k = 0;
  bool for_tiles = false;  // of AMX
  const uint8_t* packed = nullptr;

  // Of each column, the sum of its weights; of those from n on, 0.
  const int32_t* sums() const { return reinterpret_cast<const int32_t*>(packed); }
  int64_t num_sums() const { return (n + 63) / 64 * 64; }
};

// Whether weights for up to `rows` rows are packed for AMX.
bool suits_int8_tiles(int64_t rows, int64_t n, int64_t k);
size_t int8_packed_bytes(const Int8Weights& weights);
// `from` has n rows of k values. Threaded.
void pack_int8(const Int8Weights& weights, const int8_t* from, uint8_t* to);

using Int8Result = MatmulResult<int32_t>;

// Where rows of the left operand come from that are not in memory one behind the other.
class Int8Unfolding {
 public:
  virtual ~Int8Unfolding() = default;
  // Writes k values of each row of [row, row + rows), `stride` apart; from several threads.
  virtual void unfold(int64_t problem, int64_t row, int64_t rows, int8_t* to,
                      int64_t stride) const = 0;
};

struct Int8Matmul {
  int64_t rows = 0;
  const int8_t* left = nullptr;  // rows of k values, `stride` apart; not read with `unfolding`
  int64_t stride = 0;
  const Int8Unfolding* unfolding = nullptr;  // or null
  Int8Weights weights;
  const int32_t* starts = nullptr;  // of sums, by column, as many as weights.sums(); or null
};

// `count` problems that differ in `left`, `weights.packed` and `starts` alone; `problem(i)` may be
// called from any thread, several times. Scratch memory of at most 520 KB a thread, more for rows
// of more than 16 KB, comes from `ctx`: MemoryAllocationFailed without it, before anything is
// written.
[[nodiscard]] runtime::Error int8_matmul(runtime::KernelRuntimeContext& ctx, int64_t count,
                                         runtime::FunctionRef<Int8Matmul(int64_t)> problem,
                                         const Int8Result& result);

}  // namespace executorch::kernels::optimized
