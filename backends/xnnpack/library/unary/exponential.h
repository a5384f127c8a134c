// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace executorch::backends::xnnpack {

/// exp() of each, within 2 units in the last place, for AVX-512. Infinities, results that are
/// denormal and NaN are those of the C library. `input` may be `output`.
/// S. Moshier's Cephes, expf: exp(x) = 2^n exp(r), |r| <= ln(2) / 2, by a polynomial of degree 7.
void exponential_avx512(size_t count, const float* input, float* output);

}  // namespace executorch::backends::xnnpack
