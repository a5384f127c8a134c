// SPDX-License-Identifier: BSD-3-Clause
// The tile file of the processor (x86-64 Linux, where a process asks the system for it), and
// whether there is one. Instructions are written as assembly: no compiler flag, and the memory they
// touch is declared.
#include <executorch/kernels/optimized/gemm/gemm_amx.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace executorch::kernels::optimized {

#if defined(__x86_64__) && defined(__linux__)
namespace {

struct ProcessorTiles {
  static void configure(const AmxConfig& config) { asm volatile("ldtilecfg %0" ::"m"(config)); }

  static void release() { asm volatile("tilerelease" ::: "memory"); }

  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }

  template <int kTile>
  static void load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kTile>
  static void store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kSum, int kLeft, int kRight>
  static void dot_bfloat16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }

  template <int kSum, int kLeft, int kRight>
  static void dot_int8() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }
};

bool processor_has_tiles() {
  constexpr unsigned kXsaveInUse = 1u << 27;                   // leaf 1, ecx
  constexpr unsigned kTiles = 1u << 24 | 1u << 22 | 1u << 25;  // leaf 7, edx: tile, bf16, int8
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kXsaveInUse) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) == kTiles;
}

// Whether the system saves the tiles when it switches threads, and lets this process have them.
bool system_permits_tiles() {
  constexpr unsigned kTileState = 1u << 17 | 1u << 18;
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool has_amx() {
  static const bool has = processor_has_tiles() && system_permits_tiles();
  return has;
}

NarrowKernels amx_kernels() {
  return amx_kernels_over<ProcessorTiles>(narrow_kernels());
}
#else
bool has_amx() {
  return false;
}

NarrowKernels amx_kernels() {
  return narrow_kernels();
}
#endif

}  // namespace executorch::kernels::optimized
