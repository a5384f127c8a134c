// SPDX-License-Identifier: BSD-3-Clause
// Matmuls by weights of 4, 5, 6 and 8 bits, as one thread of a GPU computes its share. The same
// code compiled for the host is what tests run, in loops over blocks and threads.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define CUDA_KERNEL_FN __host__ __device__ inline
#else
#define CUDA_KERNEL_FN inline
#endif

namespace executorch::backends::cuda {

/// out[m, n] = sum over k of x[m, k] * weight(n, k); rows are dense. All of a format is in it, what
/// another has is null.
struct PlainMatmul {
  const uint16_t* x;           // bfloat16 [m, k]
  const uint8_t* low;          // 4 bits [n, k/2], even k in the low half; or int8 [n, k]
  const uint8_t* high;         // further bits: one [n, k/8] or two [n, k/4], small k in low bits
  const uint8_t* scale;        // codes [n, k/group]; bfloat16 of 8 bits
  const uint16_t* scale_step;  // float16 [n, k/256]
  const uint8_t* zero;         // codes [n, k/group]; int8 of 8 bits
  const uint16_t* zero_step;   // float16 [n, k/256]
  uint16_t* out;               // bfloat16 [m, n]
  int64_t m, n, k, group;
};

inline constexpr int kLanes = 32;            // threads that share a sum
inline constexpr int kColumns = 4;           // of out, in a block
inline constexpr int kRows = 8;              // of out, in a block
inline constexpr int64_t kSuperGroup = 256;  // weights of a step

CUDA_KERNEL_FN float float_of_bits(uint32_t bits) {
  union {
    uint32_t bits;
    float value;
  } both = {bits};
  return both.value;
}

CUDA_KERNEL_FN float float_of_bfloat16(uint16_t bits) {
  return float_of_bits(static_cast<uint32_t>(bits) << 16);
}

/// To the nearest, ties to even.
CUDA_KERNEL_FN uint16_t bfloat16_of(float value) {
  union {
    float value;
    uint32_t bits;
  } both = {value};
  if ((both.bits & 0x7fffffff) > 0x7f800000) {
    return 0x7fc0;
  }
  return static_cast<uint16_t>((both.bits + 0x7fff + ((both.bits >> 16) & 1)) >> 16);
}

CUDA_KERNEL_FN float float_of_float16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = (bits >> 10) & 31,
                 fraction = bits & 1023;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 5.9604644775390625e-8f;  // 2^-24
    return sign == 0 ? size : -size;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return float_of_bits(sign | wide << 23 | fraction << 13);
}

/// weight = (code - zero) * scale
struct Affine {
  float scale, zero;
};

CUDA_KERNEL_FN int low_nibble(const PlainMatmul& a, int64_t n, int64_t k) {
  const int64_t at = n * a.k + k;
  return (a.low[at / 2] >> (4 * (at % 2))) & 15;
}

CUDA_KERNEL_FN float step(const uint16_t* steps, const PlainMatmul& a, int64_t n, int64_t g) {
  return float_of_float16(steps[n * (a.k / kSuperGroup) + g * a.group / kSuperGroup]);
}

struct Int4 {
  CUDA_KERNEL_FN static int code(const PlainMatmul& a, int64_t n, int64_t k) {
    return low_nibble(a, n, k);
  }
  CUDA_KERNEL_FN static Affine affine(const PlainMatmul& a, int64_t n, int64_t g) {
    const int64_t at = n * (a.k / a.group) + g;
    return {static_cast<float>(a.scale[at]) * step(a.scale_step, a, n, g),
            static_cast<float>(a.zero[at]) * step(a.zero_step, a, n, g)};
  }
};

struct Int5 {
  CUDA_KERNEL_FN static int code(const PlainMatmul& a, int64_t n, int64_t k) {
    const int64_t at = n * a.k + k;
    return low_nibble(a, n, k) | ((a.high[at / 8] >> (at % 8)) & 1) << 4;
  }
  CUDA_KERNEL_FN static Affine affine(const PlainMatmul& a, int64_t n, int64_t g) {
    return Int4::affine(a, n, g);
  }
};

struct Int6 {
  CUDA_KERNEL_FN static int code(const PlainMatmul& a, int64_t n, int64_t k) {
    const int64_t at = n * a.k + k;
    return low_nibble(a, n, k) | ((a.high[at / 4] >> (2 * (at % 4))) & 3) << 4;
  }
  CUDA_KERNEL_FN static Affine affine(const PlainMatmul& a, int64_t n, int64_t g) {
    const auto scale = static_cast<int8_t>(a.scale[n * (a.k / a.group) + g]);
    return {static_cast<float>(scale) * step(a.scale_step, a, n, g), 32};
  }
};

struct Int8 {
  CUDA_KERNEL_FN static int code(const PlainMatmul& a, int64_t n, int64_t k) {
    return static_cast<int8_t>(a.low[n * a.k + k]);
  }
  CUDA_KERNEL_FN static Affine affine(const PlainMatmul& a, int64_t n, int64_t g) {
    const int64_t at = n * (a.k / a.group) + g;
    const auto bits = static_cast<uint16_t>(a.scale[2 * at] | a.scale[2 * at + 1] << 8);
    return {float_of_bfloat16(bits), static_cast<float>(static_cast<int8_t>(a.zero[at]))};
  }
};

/// A lane's share of out[m, n]: each 32nd group.
template <typename Format>
CUDA_KERNEL_FN float lane_sum(const PlainMatmul& a, int64_t m, int64_t n, int lane) {
  float sum = 0;
  for (int64_t g = lane; g < a.k / a.group; g += kLanes) {
    float dot = 0, total = 0;
    for (int64_t k = g * a.group; k < (g + 1) * a.group; ++k) {
      const float x = float_of_bfloat16(a.x[m * a.k + k]);
      dot += x * static_cast<float>(Format::code(a, n, k));
      total += x;
    }
    const Affine affine = Format::affine(a, n, g);
    sum += affine.scale * (dot - affine.zero * total);
  }
  return sum;
}

}  // namespace executorch::backends::cuda
