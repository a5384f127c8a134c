// SPDX-License-Identifier: BSD-3-Clause
// The kernels that a program loads by their names, for several kinds of GPUs in one file.
#include <executorch/backends/cuda/kernels/plain_matmul.h>
#include <executorch/backends/cuda/kernels/random.h>
#include <executorch/backends/cuda/kernels/sort.h>

namespace executorch::backends::cuda {

/// Blocks of kLanes * kColumns threads.
template <typename Format>
__device__ void plain_matmul(const PlainMatmul& a) {
  const int64_t n = static_cast<int64_t>(blockIdx.x) * kColumns + threadIdx.y;
  if (n >= a.n) {
    return;
  }
  const int64_t first = static_cast<int64_t>(blockIdx.y) * kRows;
  for (int64_t m = first; m < a.m && m < first + kRows; ++m) {
    float sum = lane_sum<Format>(a, m, n, static_cast<int>(threadIdx.x));
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x == 0) {
      a.out[m * a.n + n] = bfloat16_of(sum);
    }
  }
}

extern "C" {

#define PLAIN_MATMUL(bits)                                        \
  __global__ void int##bits##_plain_mm(const PlainMatmul arguments) { \
    plain_matmul<Int##bits>(arguments);                           \
  }
PLAIN_MATMUL(4)
PLAIN_MATMUL(5)
PLAIN_MATMUL(6)
PLAIN_MATMUL(8)

#define SORT(name, number, type)                                                                   \
  __global__ void sort_##name(const SortPass arguments) {                                          \
    merge_element<type>(arguments, static_cast<int64_t>(blockIdx.x) * kSortThreads + threadIdx.x); \
  }
CUDA_SORT_TYPES(SORT)

/// Numbers made on this device. It is here, and counted by a kernel, so that each launch of a graph
/// has others.
__device__ uint64_t numbers_made;

#define RANDOM(name, type)                                                                   \
  __global__ void random_##name(const RandomFill arguments) {                                \
    random_element<type>(arguments, numbers_made,                                            \
                         static_cast<int64_t>(blockIdx.x) * kRandomThreads + threadIdx.x);   \
  }
CUDA_RANDOM_TYPES(RANDOM)

__global__ void count_random(const RandomFill arguments) {
  numbers_made += arguments.count;
}

}  // extern "C"

}  // namespace executorch::backends::cuda
