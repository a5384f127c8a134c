// SPDX-License-Identifier: BSD-3-Clause
// Runs matmuls of blocks and of int8 by every kind of dot products that the processor has, each
// between two marks for an emulator that counts instructions (int8_dots.py), and prints a line for
// each: kind, what, rows, multiply-adds, and a sum over the bits of what came out.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/kernels/optimized/blocks/blocks.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/int8_dots/arm_dots.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

namespace {

using namespace executorch::kernels::optimized;

constexpr int64_t kColumns = 512, kDepth = 1024;
constexpr const char* kKinds[] = {"plain", "dot", "matrix"};

void mark() {
#if defined(__aarch64__)
  asm volatile("hint #77" ::: "memory");  // which does nothing
#endif
}

template <typename T>
std::vector<T> random_values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> made(static_cast<size_t>(count));
  for (T& value : made) {
    value = static_cast<T>(static_cast<int32_t>(random() % 255) - 127);
  }
  return made;
}

template <typename T>
uint32_t bits_of(const std::vector<T>& values) {
  uint32_t sum = 0;
  for (T value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    sum = sum * 31 + bits;
  }
  return sum;
}

// The second run counts: the first one finds what the processor has.
template <typename T, class Run>
void count(const char* kind, const char* name, int64_t rows, const std::vector<T>& out,
           const Run& run) {
  run();
  mark();
  run();
  mark();
  std::printf("%s\t%s\t%lld\t%lld\t%08x\n", kind, name, static_cast<long long>(rows),
              static_cast<long long>(static_cast<int64_t>(out.size()) * kDepth), bits_of(out));
}

void count_blocks(const char* kind, int format, int64_t rows) {
  BlockMatrix matrix{format, kColumns, kDepth, nullptr};
  const BlockFormat& f = matrix.facts();
  auto bytes = random_values<uint8_t>(matrix.num_panels() * matrix.panel_bytes(), 1);
  const int64_t halves = f.byte_scales ? factor_bytes(f) : scale_bytes(f) + minima_bytes(f);
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(matrix.block_bytes())) {
    for (int64_t i = 1; i < halves; i += 2) {
      bytes[at + static_cast<size_t>(i)] = 0x38;  // f16 of 0.5 to 1
    }
  }
  matrix.panels = bytes.data();
  const auto x = random_values<float>(rows * kDepth, 2);
  std::vector<float> out(static_cast<size_t>(rows * kColumns));
  std::vector<uint8_t> scratch(static_cast<size_t>(block_matmul_bytes(kDepth, rows, false)) + 64);
  uint8_t* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  count(kind, f.name, rows, out, [&] {
    const BlockMatmul product{matrix, nullptr, out.data(), kColumns};
    multiply_blocks(&product, 1, x.data(), rows, false, aligned);
  });
}

void count_int8(const char* kind, int64_t rows, bool in_columns) {
  constexpr int64_t kOwnColumns = 256;
  const auto a = random_values<int8_t>(rows * kDepth, 3);
  const auto b = random_values<int8_t>(kOwnColumns * kDepth, 4);
  std::vector<int32_t> out(static_cast<size_t>(rows * kOwnColumns));
  NarrowGemm g;
  g.type = NarrowType::kInt8;
  g.m = rows;
  g.n = kOwnColumns;
  g.k = g.lda = kDepth;
  g.a = a.data();
  g.b = b.data();
  g.b_in_columns = in_columns;
  g.ldb = in_columns ? kDepth : kOwnColumns;
  g.c = out.data();
  g.ldc = kOwnColumns;
  std::vector<uint8_t> scratch(size_t{1} << 20);
  count(kind, in_columns ? "int8_columns" : "int8_rows", rows, out, [&] {
    executorch::runtime::MemoryAllocator allocator(static_cast<uint32_t>(scratch.size()),
                                                   scratch.data());
    executorch::runtime::KernelRuntimeContext context(nullptr, &allocator);
    if (gemm_narrow(context, 1, [&](int64_t) { return g; }) != executorch::runtime::Error::Ok) {
      std::abort();
    }
  });
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  const executorch::extension::threadpool::NoThreadPoolGuard one_thread;
  const ArmDots best = arm_dots();
  for (ArmDots dots : kAllArmDots) {
    if (dots > best) {
      break;
    }
    limit_arm_dots(dots);
    const char* kind = kKinds[static_cast<int>(dots)];
    for (int64_t rows : {1, 4, 16}) {
      for (int format = 0; format < kNumBlockFormats; ++format) {
        count_blocks(kind, format, rows);
      }
    }
    for (int64_t rows : {1, 4, 64}) {
      count_int8(kind, rows, false);
      count_int8(kind, rows, true);
    }
  }
  return 0;
}
