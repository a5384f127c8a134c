// SPDX-License-Identifier: BSD-3-Clause
// Codes are made bytes once for each block of 8 rows and then multiplied with all rows of
// activations: 4 multiply-adds a lane and instruction where the processor has them. Sums over a
// group are exact.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/torchao/low_bits_simd.cpp"
#define EXECUTORCH_SIMD_DOT_PRODUCTS
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/torchao/low_bits.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::torchao {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = const uint8_t* HWY_RESTRICT;
using Codes = uint8_t* HWY_RESTRICT;

uint8_t field(uint8_t byte, int shift, int width) {
  return static_cast<uint8_t>(byte >> shift & ((1 << width) - 1));
}

// Blocks whose values lie kStride apart; the names are the numbers of bits.
template <int kStride>
void unpack_two(Bytes in, Codes out) {
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < kStride; ++i) {
      out[j * kStride + i] = field(in[i], 6 - 2 * j, 2);
    }
  }
}

template <int kStride>
void unpack_three(Bytes in, Codes out) {
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < kStride; ++i) {
      out[2 * j * kStride + i] = field(in[j * kStride + i], 3, 3);
      out[(2 * j + 1) * kStride + i] = field(in[j * kStride + i], 0, 3);
    }
  }
  for (int i = 0; i < kStride; ++i) {
    const uint8_t high = in[2 * kStride + i];
    out[6 * kStride + i] = static_cast<uint8_t>(in[i] >> 6 | field(high, 7, 1) << 2);
    out[7 * kStride + i] = static_cast<uint8_t>(in[kStride + i] >> 6 | field(high, 6, 1) << 2);
  }
}

void unpack_four(Bytes in, int count, Codes out) {
  for (int part = 0; part < count / 32; ++part) {
    for (int i = 0; i < 16; ++i) {
      out[32 * part + i] = in[16 * part + i] & 15;
      out[32 * part + 16 + i] = in[16 * part + i] >> 4;
    }
  }
}

void unpack_five_128(Bytes in, Codes out) {
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 16; ++i) {
      out[32 * j + i] = in[16 * j + i] & 31;
      out[32 * j + 16 + i] =
          static_cast<uint8_t>(in[16 * j + i] >> 5 | field(in[64 + i], 2 * j, 2) << 3);
    }
  }
}

void unpack_five_64(Bytes in, Codes out) {
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 16; ++i) {
      const uint8_t high = field(in[32 + i % 8], 4 * j + 2 * (i / 8), 2);
      out[32 * j + i] = in[16 * j + i] & 31;
      out[32 * j + 16 + i] = static_cast<uint8_t>(in[16 * j + i] >> 5 | high << 3);
    }
  }
}

void unpack_five_8(Bytes in, Codes out) {
  for (int j = 0; j < 4; ++j) {
    out[2 * j] = in[j] & 31;
    out[2 * j + 1] = static_cast<uint8_t>(in[j] >> 5 | field(in[4], 2 * j, 2) << 3);
  }
}

template <int kStride>
void unpack_six(Bytes in, Codes out) {
  for (int i = 0; i < 3 * kStride; ++i) {
    out[i] = in[i] & 63;
  }
  for (int i = 0; i < kStride; ++i) {
    out[3 * kStride + i] = static_cast<uint8_t>(in[i] >> 6 | in[kStride + i] >> 6 << 2 |
                                                in[2 * kStride + i] >> 6 << 4);
  }
}

template <int kStride>
void unpack_seven(Bytes in, Codes out) {
  for (int i = 0; i < 7 * kStride; ++i) {
    out[i] = in[i] & 127;
  }
  for (int i = 0; i < kStride; ++i) {
    uint8_t last = 0;
    for (int j = 0; j < 7; ++j) {
      last = static_cast<uint8_t>(last | in[j * kStride + i] >> 7 << j);
    }
    out[7 * kStride + i] = last;
  }
}

void unpack_eight(Bytes in, int count, Codes out) {
  for (int i = 0; i < count; ++i) {
    out[i] = in[i] ^ 0x80;
  }
}

void unpack_128(int bits, Bytes in, Codes out) {
  switch (bits) {
    case 1:
      for (int j = 0; j < 8; ++j) {
        for (int i = 0; i < 16; ++i) {
          out[16 * j + i] = field(in[i], 7 - j, 1);
        }
      }
      return;
    case 2:
      unpack_two<16>(in, out);
      return unpack_two<16>(in + 16, out + 64);
    case 3:
      return unpack_three<16>(in, out);
    case 4:
      return unpack_four(in, 128, out);
    case 5:
      return unpack_five_128(in, out);
    case 6:
      unpack_six<16>(in, out);
      return unpack_six<16>(in + 48, out + 64);
    case 7:
      return unpack_seven<16>(in, out);
    default:
      return unpack_eight(in, 128, out);
  }
}

void unpack_64(int bits, Bytes in, Codes out) {
  switch (bits) {
    case 1:
      for (int i = 0; i < 64; ++i) {
        out[i] = field(in[i % 8], 4 * (i % 16 / 8) + 3 - i / 16, 1);
      }
      return;
    case 2:
      return unpack_two<16>(in, out);
    case 3:
      return unpack_three<8>(in, out);
    case 4:
      return unpack_four(in, 64, out);
    case 5:
      return unpack_five_64(in, out);
    case 6:
      return unpack_six<16>(in, out);
    case 7:
      return unpack_seven<8>(in, out);
    default:
      return unpack_eight(in, 64, out);
  }
}

void unpack_32(int bits, Bytes in, Codes out) {
  switch (bits) {
    case 1:
      for (int i = 0; i < 32; ++i) {
        out[i] = field(in[i / 8], 7 - i % 8, 1);
      }
      return;
    case 2:
      return unpack_two<8>(in, out);
    case 4:
      return unpack_four(in, 32, out);
    case 6:
      return unpack_six<8>(in, out);
    case 8:
      return unpack_eight(in, 32, out);
    default:
      break;
  }
  for (int part = 0; part < 4; ++part) {
    Bytes from = in + part * bits;
    Codes to = out + part * 8;
    if (bits == 3) {
      unpack_three<1>(from, to);
    } else if (bits == 5) {
      unpack_five_8(from, to);
    } else {
      unpack_seven<1>(from, to);
    }
  }
}

void unpack_codes_simd(int bits, const uint8_t* packed, int64_t count, uint8_t* codes) {
  for (; count >= 128; count -= 128, packed += 16 * bits, codes += 128) {
    unpack_128(bits, packed, codes);
  }
  if (count >= 64) {
    unpack_64(bits, packed, codes);
    count -= 64;
    packed += 8 * bits;
    codes += 64;
  }
  if (count >= 32) {
    unpack_32(bits, packed, codes);
  }
}

using DF = hn::CappedTag<float, 16>;

QuantizedRow quantize_row_simd(const float* x, int64_t k, int64_t group_size, int8_t* codes,
                               int32_t* sums) {
  const DF d;
  const hn::RebindToSigned<DF> d32;
  const hn::Rebind<int8_t, DF> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto low = hn::Zero(d), high = hn::Zero(d);
  for (int64_t i = 0; i < k; i += lanes) {  // k is a multiple of 16
    const auto v = hn::LoadU(d, x + i);
    low = hn::Min(low, v);
    high = hn::Max(high, v);
  }
  const float lowest = hn::ReduceMin(d, low);
  float scale = (hn::ReduceMax(d, high) - lowest) / 255.0f;
  scale = scale == 0.0f ? 1.0f : scale;
  const float zero = -128.0f + std::floor(0.5f - lowest / scale);
  const auto by = hn::Set(d, scale), shift = hn::Set(d, zero);
  const auto least = hn::Set(d, -128.0f), most = hn::Set(d, 127.0f);
  for (int64_t i = 0; i < k; i += lanes) {
    auto v = hn::Add(hn::Round(hn::Div(hn::LoadU(d, x + i), by)), shift);
    v = hn::Min(hn::Max(v, least), most);
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, v)), d8, codes + i);
  }
  for (int64_t group = 0; group < k / group_size; ++group) {
    int32_t sum = 0;
    for (int64_t i = 0; i < group_size; ++i) {
      sum += codes[group * group_size + i];
    }
    sums[group] = sum;
  }
  return {scale, zero};
}

// A block of weights as the multiplications need it. Numbers that belong to a row of weights stand
// in the two lanes where its results are summed, or in the first of them.
struct Prepared {
  uint8_t* codes;     // k x 8: 8 columns of the 8 rows, then the next 8 columns
  float* scales;      // groups x 16, in both lanes
  float* zeros;       // groups x 16: scale * zero point, in the first lane
  float rest[kRows];  // sum over groups of scale * sum of values
};

constexpr int64_t kLanes = 2 * kRows;

Prepared prepare(const LinearWeight& w, int64_t block, uint8_t* scratch) {
  Prepared p;
  const int64_t groups = w.groups();
  p.codes = scratch;
  p.scales = reinterpret_cast<float*>(scratch + w.k * kRows);
  p.zeros = p.scales + groups * kLanes;
  std::fill_n(p.rest, kRows, 0.0f);
  for (int64_t g = 0; g < groups; ++g) {
    unpack_codes_simd(w.bits, w.codes(block, g), w.group_size * kRows,
                      p.codes + g * w.group_size * kRows);
    for (int64_t row = 0; row < kRows; ++row) {
      const float scale = w.number<float>(block, g, 0, row);
      p.scales[g * kLanes + 2 * row] = p.scales[g * kLanes + 2 * row + 1] = scale;
      p.rest[row] += scale * static_cast<float>(w.number<int32_t>(block, g, 1, row));
      if (w.has_zeros) {
        const auto zero = static_cast<float>(w.number<int32_t>(block, g, 2, row));
        p.zeros[g * kLanes + 2 * row] = scale * zero;
        p.zeros[g * kLanes + 2 * row + 1] = 0.0f;
      }
    }
  }
  return p;
}

#if HWY_TARGET == HWY_SCALAR

// Vectors of one lane have no bytes to multiply side by side.
template <int kX>
void multiply_rows(const LinearWeight& w, int64_t block, const Prepared& p, const Activations& x,
                   int64_t first, int64_t valid, float* out, int64_t out_stride) {
  const int64_t groups = w.groups();
  for (int64_t i = first; i < first + kX; ++i) {
    const QuantizedRow& row = x.parameters[i];
    for (int64_t j = 0; j < valid; ++j) {
      float sum = -row.zero * p.rest[j];
      for (int64_t g = 0; g < groups; ++g) {
        const int32_t codes_sum = x.sums[i * groups + g];
        int32_t dot = -w.offset() * codes_sum;
        for (int64_t c = 0; c < w.group_size; ++c) {
          const int64_t at = g * w.group_size + c;
          dot += p.codes[at / 8 * 64 + j * 8 + at % 8] * x.codes[i * w.k + at];
        }
        sum += static_cast<float>(dot) * p.scales[g * kLanes + 2 * j];
        if (w.has_zeros) {
          const float moved =
              static_cast<float>(codes_sum) - static_cast<float>(w.group_size) * row.zero;
          sum -= p.zeros[g * kLanes + 2 * j] * moved;
        }
      }
      out[i * out_stride + j] = row.scale * sum + (w.has_bias ? w.bias(block, j) : 0.0f);
    }
  }
}

#else

using D8 = hn::CappedTag<uint8_t, 64>;
using DI8 = hn::RebindToSigned<D8>;
using D32 = hn::Repartition<int32_t, D8>;
using D64 = hn::Repartition<uint64_t, D8>;
using DF32 = hn::RebindToFloat<D32>;
constexpr int kVectors = 64 / static_cast<int>(hn::MaxLanes(D8()));  // 8 columns of 8 rows

// kX rows of activations from `first` on.
template <int kX>
void multiply_rows(const LinearWeight& w, int64_t block, const Prepared& p, const Activations& x,
                   int64_t first, int64_t valid, float* out, int64_t out_stride) {
  const D8 d8;
  const D32 d32;
  const D64 d64;
  const DF32 df;
  const size_t lanes8 = hn::Lanes(d8), lanes = hn::Lanes(df);
  const int64_t groups = w.groups();
  // The first lane of each pair.
  const auto first_lanes = hn::BitCast(d32, hn::Set(d64, 0xFFFFFFFFu));
  hn::Vec<DF32> sums[kX][kVectors];
  for (int i = 0; i < kX; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = hn::Zero(df);
    }
  }
  for (int64_t g = 0; g < groups; ++g) {
    hn::Vec<D32> dots[kX][kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      // Codes are `offset` more than values.
      const int32_t more = w.offset() * x.sums[(first + i) * groups + g];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        dots[i][v] = hn::And(hn::Set(d32, -more), first_lanes);
      }
    }
    const uint8_t* codes = p.codes + g * w.group_size * kRows;
    const int8_t* activations = x.codes + first * w.k + g * w.group_size;
    for (int64_t c = 0; c < w.group_size; c += 8, codes += 64) {
      hn::Vec<D8> weights[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        weights[v] = hn::LoadU(d8, codes + v * lanes8);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kX; ++i) {
        const auto eight = LinearWeight::load<uint64_t>(activations + i * w.k + c);
        const auto a = hn::BitCast(DI8(), hn::Set(d64, eight));
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          dots[i][v] = hn::SumOfMulQuadAccumulate(d32, weights[v], a, dots[i][v]);
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kX; ++i) {
      const QuantizedRow& row = x.parameters[first + i];
      const float moved = static_cast<float>(x.sums[(first + i) * groups + g]) -
                          static_cast<float>(w.group_size) * row.zero;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const auto scale = hn::LoadU(df, p.scales + g * kLanes + v * lanes);
        sums[i][v] = hn::MulAdd(hn::ConvertTo(df, dots[i][v]), scale, sums[i][v]);
        if (w.has_zeros) {
          const auto zeros = hn::LoadU(df, p.zeros + g * kLanes + v * lanes);
          sums[i][v] = hn::NegMulAdd(zeros, hn::Set(df, moved), sums[i][v]);
        }
      }
    }
  }
  for (int i = 0; i < kX; ++i) {
    float each[kLanes];
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[i][v], df, each + v * lanes);
    }
    const QuantizedRow& row = x.parameters[first + i];
    for (int64_t j = 0; j < valid; ++j) {
      const float sum = each[2 * j] + each[2 * j + 1] - row.zero * p.rest[j];
      out[(first + i) * out_stride + j] = row.scale * sum + (w.has_bias ? w.bias(block, j) : 0.0f);
    }
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

void multiply_block_simd(const LinearWeight& w, int64_t block, const Activations& x, int64_t valid,
                         uint8_t* scratch, float* out, int64_t out_stride) {
  const Prepared p = prepare(w, block, scratch);
  int64_t i = 0;
  for (; i + 4 <= x.rows; i += 4) {
    multiply_rows<4>(w, block, p, x, i, valid, out, out_stride);
  }
  for (; i < x.rows; ++i) {
    multiply_rows<1>(w, block, p, x, i, valid, out, out_stride);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::torchao
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace executorch::kernels::torchao {

HWY_EXPORT(unpack_codes_simd);
HWY_EXPORT(quantize_row_simd);
HWY_EXPORT(multiply_block_simd);

void unpack_codes(int bits, const uint8_t* packed, int64_t count, uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_codes_simd)(bits, packed, count, codes);
}

QuantizedRow quantize_row(const float* x, int64_t k, int64_t group_size, int8_t* codes,
                          int32_t* sums) {
  return HWY_DYNAMIC_DISPATCH(quantize_row_simd)(x, k, group_size, codes, sums);
}

int64_t block_scratch_bytes(const LinearWeight& weight) {
  return weight.k * kRows + weight.groups() * 2 * kRows * 2 * static_cast<int64_t>(sizeof(float));
}

void multiply_block(const LinearWeight& weight, int64_t block, const Activations& x, int64_t valid,
                    uint8_t* scratch, float* out, int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(multiply_block_simd)(weight, block, x, valid, scratch, out, out_stride);
}

}  // namespace executorch::kernels::torchao
#endif  // HWY_ONCE
