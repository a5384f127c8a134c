// SPDX-License-Identifier: BSD-3-Clause
// Whether there is a tile file: on x86-64 Linux a process asks the system for it.
#include <executorch/kernels/optimized/gemm/amx_tiles.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace executorch::kernels::optimized {

namespace {

bool is_forbidden = false;

}  // namespace

void forbid_amx(bool forbidden) {
  is_forbidden = forbidden;
}

#if defined(__x86_64__) && defined(__linux__)
namespace {

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
  return has && !is_forbidden;
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
