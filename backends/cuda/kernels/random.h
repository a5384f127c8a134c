// SPDX-License-Identifier: BSD-3-Clause
// Random numbers, as one thread of a GPU makes its own: Philox4x32-10 (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", 2011) of how many numbers were made before it.
#pragma once

#include <executorch/backends/cuda/kernels/plain_matmul.h>

namespace executorch::backends::cuda {

/// `count` dense elements. Integers are in [low, low + range); floats in [0, 1).
struct RandomFill {
  void* out;
  int64_t count, low;
  uint64_t range, seed;
};

inline constexpr int kRandomThreads = 256;

struct Words {
  uint32_t word[4];
};

CUDA_KERNEL_FN Words philox(Words counter, uint32_t key0, uint32_t key1) {
  uint32_t* w = counter.word;
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xd2511f53} * w[0], second = uint64_t{0xcd9e8d57} * w[2];
    const uint32_t next[] = {
        static_cast<uint32_t>(second >> 32) ^ w[1] ^ key0, static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ w[3] ^ key1, static_cast<uint32_t>(first)};
    for (int i = 0; i < 4; ++i) {
      w[i] = next[i];
    }
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  return counter;
}

/// What the words become, in as many steps as the dtype has between 0 and 1.
struct RandomF32 {
  using Stored = float;
  CUDA_KERNEL_FN static float of(const Words& words, const RandomFill&) {
    return static_cast<float>(words.word[0] >> 8) / (1 << 24);
  }
};
struct RandomBF16 {
  using Stored = uint16_t;
  CUDA_KERNEL_FN static uint16_t of(const Words& words, const RandomFill&) {
    return bfloat16_of(static_cast<float>(words.word[0] >> 24) / (1 << 8));
  }
};
struct RandomI64 {
  using Stored = int64_t;
  CUDA_KERNEL_FN static int64_t of(const Words& words, const RandomFill& a) {
    const uint64_t bits = words.word[0] | static_cast<uint64_t>(words.word[1]) << 32;
    return static_cast<int64_t>(static_cast<uint64_t>(a.low) + bits % a.range);
  }
};

// clang-format off: it does not settle on lines here
// name in the kernel, type
#define CUDA_RANDOM_TYPES(X) \
  X(f32, RandomF32)          \
  X(bf16, RandomBF16)        \
  X(i64, RandomI64)
// clang-format on

/// Makes the element of thread `index`. `made`: the numbers before this fill.
template <typename Type>
CUDA_KERNEL_FN void random_element(const RandomFill& a, uint64_t made, int64_t index) {
  if (index >= a.count) {
    return;
  }
  const uint64_t place = made + static_cast<uint64_t>(index);
  const Words counter = {{static_cast<uint32_t>(place), static_cast<uint32_t>(place >> 32), 0, 0}};
  static_cast<typename Type::Stored*>(a.out)[index] = Type::of(
      philox(counter, static_cast<uint32_t>(a.seed), static_cast<uint32_t>(a.seed >> 32)), a);
}

}  // namespace executorch::backends::cuda
