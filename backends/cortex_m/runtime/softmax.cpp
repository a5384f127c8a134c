// SPDX-License-Identifier: BSD-3-Clause
// Softmax by integers: exp with 26 bits behind the point, sums with 19, the reciprocal by Newton's
// method.
#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/checks.h>
#include <executorch/backends/cortex_m/runtime/fixed_point.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;
namespace runtime = executorch::runtime;

namespace {

constexpr int32_t kFirstBit = 24;
// exp(-2^(k - 26)) of 31 bits, for k from kFirstBit.
constexpr int32_t kExpOfBits[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
constexpr int32_t kSumBits = 12;  // that sums have fewer behind the point than exps

int32_t exp_of(int32_t x) {
  if (x == 0) {
    return kInt32Max;
  }
  const int32_t part = (x & ((1 << kFirstBit) - 1)) - (1 << kFirstBit);
  const int32_t rest = part - x;
  const int32_t y = shift_left(part, 5) + (1 << 28);
  const int32_t square = high_product(y, y);
  const int32_t cube = high_product(square, y), fourth = high_product(square, square);
  const int32_t series = high_product(divide_by_power_of_two(fourth, 2) + cube, 715827883) + square;
  int32_t result = 1895147668 + high_product(1895147668, y + divide_by_power_of_two(series, 1));
  int32_t bit = kFirstBit;
  for (const int32_t factor : kExpOfBits) {
    if ((rest >> bit++) & 1) {
      result = high_product(result, factor);
    }
  }
  return result;
}

int32_t saturating_shift(int32_t x, int32_t bits) {
  const int32_t limit = (1 << (31 - bits)) - 1;
  return x > limit ? kInt32Max : x < -limit ? kInt32Min : shift_left(x, bits);
}

// 1 / (1 + x) for x from 0 to 1 with 31 bits.
int32_t reciprocal(int32_t x) {
  const int64_t total = static_cast<int64_t>(x) + kInt32Max;
  const auto half = static_cast<int32_t>((total + (total < 0 ? -1 : 1)) / 2);
  int32_t y = 1515870810 + high_product(half, -1010580540);
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t step = high_product(y, (1 << 29) - high_product(half, y));
    y = static_cast<int32_t>(static_cast<uint32_t>(y) +
                             static_cast<uint32_t>(saturating_shift(step, 2)));
  }
  return saturating_shift(y, 1);
}

int32_t leading_zeros(uint32_t x) {
  int32_t zeros = 32;
  for (; x != 0; x >>= 1) {
    --zeros;
  }
  return zeros;
}

struct Row {
  int32_t multiplier, left, least;

  int32_t exp(int32_t apart) const {
    return exp_of(high_product(shift_left(apart, left), multiplier));
  }

  void write(const int8_t* x, int32_t count, int8_t* out) const {
    const int32_t largest = *std::max_element(x, x + count);
    int64_t wide = 0;
    for (int32_t i = 0; i < count; ++i) {
      if (x[i] - largest >= least) {
        wide += divide_by_power_of_two(exp(x[i] - largest), kSumBits);
      }
    }
    const auto sum = static_cast<uint32_t>(std::min<int64_t>(wide, kInt32Max));
    const int32_t zeros = leading_zeros(sum);
    const int32_t inverse = reciprocal(static_cast<int32_t>((sum << zeros) - (uint32_t{1} << 31)));
    for (int32_t i = 0; i < count; ++i) {
      if (x[i] - largest < least) {
        out[i] = -128;
        continue;
      }
      const int32_t share = high_product(inverse, exp(x[i] - largest));
      out[i] = Limits{}(divide_by_power_of_two(share, kSumBits - zeros + 23) - 128);
    }
  }
};

// Whether values along `dim` lie side by side in memory.
bool is_innermost(const Tensor& tensor, int64_t dim) {
  const int64_t rank = tensor.dim();
  const int64_t own = dim < 0 ? dim + rank : dim;
  if (own < 0 || own >= rank) {
    return false;
  }
  return tensor.dim_order()[static_cast<size_t>(rank - 1)] == own ||
         (own == 1 && rank == 4 && is_image(tensor));
}

}  // namespace

Tensor& softmax_out(KernelRuntimeContext& context, const Tensor& input, int64_t dim,
                    int64_t input_zero_point, int64_t output_zero_point, int64_t input_multiplier,
                    int64_t input_shift, int64_t diff_min, Tensor& out) {
  (void)input_zero_point;  // differences have none
  CORTEX_M_CHECK(is_int8(input) && is_int8(out) && output_zero_point == -128,
                 "softmax: expected int8 and a result whose zero point is -128");
  CORTEX_M_CHECK(
      is_innermost(input, dim) && is_shift(input_shift) && diff_min <= 0 && diff_min >= kInt32Min,
      "softmax: expected the dimension whose values lie side by side in memory");
  CORTEX_M_CHECK(runtime::resize_tensor(out, input.sizes()) == runtime::Error::Ok &&
                     have_same_dim_order(input, out),
                 "softmax: expected an output of the input's size and memory order");
  const Row row{static_cast<int32_t>(input_multiplier),
                static_cast<int32_t>(std::max<int64_t>(input_shift, 0)),
                static_cast<int32_t>(diff_min)};
  const auto count = static_cast<int32_t>(input.size(dim < 0 ? dim + input.dim() : dim));
  const int8_t* x = input.const_data_ptr<int8_t>();
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t begin = 0; begin < out.numel(); begin += count) {
    row.write(x + begin, count, to + begin);
  }
  return out;
}

}  // namespace cortex_m::native
