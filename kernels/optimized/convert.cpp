// SPDX-License-Identifier: BSD-3-Clause
// Portable kernels convert with vectors, too, wherever this is linked.
#include <executorch/kernels/optimized/convert.h>

#include <executorch/kernels/optimized/convert_simd.h>
#include <executorch/kernels/portable/loops/element_type.h>

namespace executorch::kernels::optimized {

using executorch::aten::ScalarType;

namespace {

struct Registration {
  Registration() {
    int count = 0;
    const FasterRuns* rows = runs_with_vectors(count);
    prefer_runs(rows, count);
  }
} registration;

}  // namespace

void widen(ScalarType type, const void* in, float* out, int64_t n) {
  widen_values(type == ScalarType::Half, in, out, n);
}

void narrow(ScalarType type, const float* in, void* out, int64_t n) {
  narrow_values(type == ScalarType::Half, in, out, n);
}

}  // namespace executorch::kernels::optimized
