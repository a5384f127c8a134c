// SPDX-License-Identifier: BSD-3-Clause
// In the place of NVIDIA's driver, for tests: runs the kernels' own code in loops over blocks and
// threads. Memory is that of stand_in/cudart.cpp, or the host's.
#include <executorch/backends/cuda/kernels/plain_matmul.h>
#include <executorch/backends/cuda/kernels/random.h>
#include <executorch/backends/cuda/kernels/sort.h>

#include <map>
#include <string>

namespace {

using namespace executorch::backends::cuda;

template <typename T>
void see(T*& pointer) {
  pointer = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) & ~(uintptr_t{1} << 50));
}

/// A warp's sum, in the order of its shuffles.
template <typename Format>
float sum_of(const PlainMatmul& a, int64_t m, int64_t n) {
  float lanes[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes[lane] = lane_sum<Format>(a, m, n, lane);
  }
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    for (int lane = 0; lane < distance; ++lane) {
      lanes[lane] += lanes[lane + distance];
    }
  }
  return lanes[0];
}

template <typename Format>
void matmul(const void* argument, uint32_t grid_x, uint32_t grid_y) {
  PlainMatmul a = *static_cast<const PlainMatmul*>(argument);
  see(a.x), see(a.low), see(a.high), see(a.scale), see(a.scale_step), see(a.zero), see(a.zero_step),
      see(a.out);
  for (uint32_t x = 0; x < grid_x * kColumns; ++x) {
    for (uint32_t y = 0; y < grid_y * kRows; ++y) {
      if (x < a.n && y < a.m) {
        a.out[y * a.n + x] = bfloat16_of(sum_of<Format>(a, y, x));
      }
    }
  }
}

template <typename Type>
void sort(const void* argument, uint32_t grid_x, uint32_t) {
  SortPass a = *static_cast<const SortPass*>(argument);
  see(a.in_values), see(a.in_places), see(a.out_values), see(a.out_places);
  for (int64_t i = 0; i < static_cast<int64_t>(grid_x) * kSortThreads; ++i) {
    merge_element<Type>(a, i);
  }
}

uint64_t numbers_made = 0;

template <typename Type>
void random(const void* argument, uint32_t grid_x, uint32_t) {
  RandomFill a = *static_cast<const RandomFill*>(argument);
  see(a.out);
  for (int64_t i = 0; i < static_cast<int64_t>(grid_x) * kRandomThreads; ++i) {
    random_element<Type>(a, numbers_made, i);
  }
}

void count_random(const void* argument, uint32_t, uint32_t) {
  numbers_made += static_cast<uint64_t>(static_cast<const RandomFill*>(argument)->count);
}

using Kernel = void (*)(const void* argument, uint32_t grid_x, uint32_t grid_y);
const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> all = {
      {"int4_plain_mm", matmul<Int4>},
      {"int5_plain_mm", matmul<Int5>},
      {"int6_plain_mm", matmul<Int6>},
      {"int8_plain_mm", matmul<Int8>},
#define SORT_KERNEL(name, number, type) {"sort_" #name, sort<type>},
      CUDA_SORT_TYPES(SORT_KERNEL)
#undef SORT_KERNEL
#define RANDOM_KERNEL(name, type) {"random_" #name, random<type>},
          CUDA_RANDOM_TYPES(RANDOM_KERNEL)
#undef RANDOM_KERNEL
              {"count_random", count_random},
  };
  return all;
}

std::string failing;

int status_of(const char* function) {
  const bool fails = failing == function;
  failing = fails ? "" : failing;
  return fails ? 999 : 0;
}

}  // namespace

extern "C" {

/// The next call of `function` fails.
void cuda_driver_stand_in_fail(const char* function) {
  failing = function;
}

int cuModuleLoadData(void** out, const void*) {
  *out = &failing;
  return status_of(__func__);
}
int cuModuleGetFunction(const Kernel** out, void*, const char* name) {
  const auto found = kernels().find(name);
  *out = found == kernels().end() ? nullptr : &found->second;
  return *out == nullptr ? 500 : status_of(__func__);
}
int cuLaunchKernel(const Kernel* function, uint32_t x, uint32_t y, uint32_t, uint32_t, uint32_t,
                   uint32_t, uint32_t, void*, void** arguments, void**) {
  const int status = status_of(__func__);
  if (status == 0) {
    (*function)(arguments[0], x, y);
  }
  return status;
}
int cuGetErrorName(int status, const char** out) {
  *out = status == 500 ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_UNKNOWN";
  return 0;
}

}  // extern "C"
