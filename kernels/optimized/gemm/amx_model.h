// SPDX-License-Identifier: BSD-3-Clause
// For tests: the AMX tile registers of one thread in plain C++, as the processor's manual describes
// them. What the processor would refuse is counted in `faults`.
#pragma once

#include <executorch/kernels/optimized/gemm/gemm_amx.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

namespace executorch::kernels::optimized {

struct ModelTiles {
  struct Registers {
    bool configured = false;
    AmxConfig config;
    uint8_t bytes[8][kAmxRows][kAmxRowBytes] = {};
  };

  static Registers& own() {
    static thread_local Registers registers;
    return registers;
  }

  static inline std::atomic<int> faults{0};

  static void expect(bool allowed) {
    if (!allowed) {
      ++faults;
    }
  }

  static void configure(const AmxConfig& config) {
    expect(reinterpret_cast<uintptr_t>(&config) % alignof(AmxConfig) == 0 && config.palette == 1);
    for (int t = 0; t < 8; ++t) {
      expect(config.rows[t] >= 1 && config.rows[t] <= kAmxRows);
      expect(config.row_bytes[t] >= 4 && config.row_bytes[t] <= kAmxRowBytes &&
             config.row_bytes[t] % 4 == 0);
    }
    own() = {true, config, {}};
  }

  static void release() { own() = {}; }

  template <int kTile>
  static void zero() {
    expect(own().configured);
    std::memset(own().bytes[kTile], 0, sizeof(own().bytes[kTile]));
  }

  template <int kTile>
  static void load(const void* from, int64_t stride) {
    zero<kTile>();
    for (int64_t i = 0; i < own().config.rows[kTile]; ++i) {
      std::memcpy(own().bytes[kTile][i], static_cast<const uint8_t*>(from) + i * stride,
                  own().config.row_bytes[kTile]);
    }
  }

  template <int kTile>
  static void store(void* to, int64_t stride) {
    expect(own().configured);
    for (int64_t i = 0; i < own().config.rows[kTile]; ++i) {
      std::memcpy(static_cast<uint8_t*>(to) + i * stride, own().bytes[kTile][i],
                  own().config.row_bytes[kTile]);
    }
  }

  // Subnormals are 0 wherever they come up; the sign stays.
  static float flushed(float value) {
    return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value)
                                                                : value;
  }

  static float as_float(const uint8_t* bfloat16) {
    uint32_t bits = 0;
    std::memcpy(reinterpret_cast<uint8_t*>(&bits) + 2, bfloat16, 2);
    float value = 0;
    std::memcpy(&value, &bits, 4);
    return flushed(value);
  }

  // step(i, j, sum): what multiplying 16-bit or 8-bit words leaves for row i, column j.
  template <int kSum, int kLeft, int kRight, typename Sum, typename Step>
  static void dot(const Step& step) {
    const AmxConfig& config = own().config;
    expect(own().configured && kSum != kLeft && kSum != kRight && kLeft != kRight);
    expect(config.rows[kSum] == config.rows[kLeft]);
    expect(config.row_bytes[kSum] == config.row_bytes[kRight]);
    expect(config.row_bytes[kLeft] / 4 == config.rows[kRight]);
    for (int i = 0; i < config.rows[kSum]; ++i) {
      for (int j = 0; j < config.row_bytes[kSum] / 4; ++j) {
        Sum sum;
        std::memcpy(&sum, &own().bytes[kSum][i][4 * j], 4);
        sum = step(i, j, config.rows[kRight], sum);
        std::memcpy(&own().bytes[kSum][i][4 * j], &sum, 4);
      }
    }
  }

  // The even and the odd values of the words are summed apart with fused steps, then added to each
  // other, then to what was there.
  template <int kSum, int kLeft, int kRight>
  static void dot_bfloat16() {
    dot<kSum, kLeft, kRight, float>([](int i, int j, int words, float sum) {
      float part[2] = {0.0f, 0.0f};
      for (int k = 0; k < words; ++k) {
        for (int half = 0; half < 2; ++half) {
          part[half] =
              flushed(std::fma(as_float(&own().bytes[kLeft][i][4 * k + 2 * half]),
                               as_float(&own().bytes[kRight][k][4 * j + 2 * half]), part[half]));
        }
      }
      return flushed(flushed(sum) + flushed(part[0] + part[1]));
    });
  }

  template <int kSum, int kLeft, int kRight>
  static void dot_int8() {
    dot<kSum, kLeft, kRight, uint32_t>([](int i, int j, int words, uint32_t sum) {
      for (int k = 0; k < words; ++k) {
        for (int byte = 0; byte < 4; ++byte) {
          const auto a = static_cast<int8_t>(own().bytes[kLeft][i][4 * k + byte]);
          const auto b = static_cast<int8_t>(own().bytes[kRight][k][4 * j + byte]);
          sum += static_cast<uint32_t>(a * b);
        }
      }
      return sum;
    });
  }
};

}  // namespace executorch::kernels::optimized
