// SPDX-License-Identifier: BSD-3-Clause
// add, mul, minimum, maximum, and functions by a table of 256 results.
#include <algorithm>

#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/checks.h>
#include <executorch/backends/cortex_m/runtime/fixed_point.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;
namespace runtime = executorch::runtime;

namespace {

constexpr int32_t kLeftShift = 20;  // of the operands of a sum

// Size of a dimension of `shape`, of which `of` is read as if it had ones in front.
ssize_t size_within(const Tensor& of, const Tensor& shape, ssize_t dim) {
  const ssize_t own = dim - (shape.dim() - of.dim());
  return own < 0 ? 1 : of.size(own);
}

// Whether `small`, again and again, lies along `large` in memory: the same values, a number, or one
// value for each channel or column.
bool repeats_along(const Tensor& small, const Tensor& large) {
  if (small.dim() > large.dim()) {
    return false;
  }
  bool is_inside = true;  // as long as sizes are equal, from the innermost out
  ssize_t wide = 0;       // dimensions of small that are no ones
  for (ssize_t i = large.dim() - 1; i >= 0; --i) {
    const auto dim = static_cast<ssize_t>(large.dim_order()[static_cast<size_t>(i)]);
    const ssize_t size = size_within(small, large, dim);
    if (size != large.size(dim)) {
      is_inside = false;
    }
    if (size != 1 && !is_inside) {
      return false;
    }
    wide += size != 1;
  }
  const bool has_same_order = small.dim() == large.dim()
                                  ? have_same_dim_order(small, large)
                                  : is_contiguous(small) && is_contiguous(large);
  return wide <= 1 || has_same_order;
}

// What checks and loops of add and mul have in common: the larger operand first.
struct Operands {
  const Tensor& large;
  const Tensor& small;
  bool is_swapped;

  Operands(const Tensor& a, const Tensor& b) : Operands(a, b, is_smaller(a, b)) {}

  bool fit(Tensor& out) const {
    return is_int8(large) && is_int8(small) && is_int8(out) && repeats_along(small, large) &&
           runtime::resize_tensor(out, large.sizes()) == runtime::Error::Ok &&
           have_same_dim_order(large, out);
  }

  // `combine` of each value of large and what lies beside it.
  template <typename Combine>
  void write(Tensor& out, Combine combine) const {
    const int8_t* left = large.const_data_ptr<int8_t>();
    const int8_t* right = small.const_data_ptr<int8_t>();
    int8_t* to = out.mutable_data_ptr<int8_t>();
    const ssize_t period = small.numel();
    for (ssize_t begin = 0; begin < out.numel(); begin += period) {
      for (ssize_t i = 0; i < period; ++i) {
        to[begin + i] = combine(left[begin + i], right[i]);
      }
    }
  }

 private:
  // By values, then by dimensions.
  static bool is_smaller(const Tensor& a, const Tensor& b) {
    return a.numel() < b.numel() || (a.numel() == b.numel() && a.dim() < b.dim());
  }

  Operands(const Tensor& a, const Tensor& b, bool is_swapped)
      : large(is_swapped ? b : a), small(is_swapped ? a : b), is_swapped(is_swapped) {}
};

constexpr ssize_t kMaxRank = 16;

// Distance in memory between neighbours along each dimension of `shape`, 0 where `tensor` repeats.
void strides_within(const Tensor& tensor, const Tensor& shape, ssize_t* strides) {
  for (ssize_t dim = 0; dim < shape.dim(); ++dim) {
    const ssize_t own = dim - (shape.dim() - tensor.dim());
    const bool repeats = own < 0 || tensor.size(own) == 1;
    strides[dim] = repeats ? 0 : static_cast<ssize_t>(tensor.strides()[static_cast<size_t>(own)]);
  }
}

// `choose` of each pair of values that broadcasting brings together.
template <typename Choose>
void write_broadcast(const Tensor& a, const Tensor& b, Tensor& out, Choose choose) {
  ssize_t of_a[kMaxRank], of_b[kMaxRank], of_out[kMaxRank], index[kMaxRank] = {};
  strides_within(a, out, of_a);
  strides_within(b, out, of_b);
  strides_within(out, out, of_out);
  const int8_t* left = a.const_data_ptr<int8_t>();
  const int8_t* right = b.const_data_ptr<int8_t>();
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    *to = choose(*left, *right);
    for (ssize_t dim = out.dim() - 1; dim >= 0; --dim) {
      if (++index[dim] < out.size(dim)) {
        left += of_a[dim];
        right += of_b[dim];
        to += of_out[dim];
        break;
      }
      left -= of_a[dim] * (index[dim] - 1);
      right -= of_b[dim] * (index[dim] - 1);
      to -= of_out[dim] * (index[dim] - 1);
      index[dim] = 0;
    }
  }
}

// Gives `out` the size of both together.
bool resize_to_both(const Tensor& a, const Tensor& b, Tensor& out) {
  const Tensor& shape = a.dim() >= b.dim() ? a : b;
  const Tensor& other = a.dim() >= b.dim() ? b : a;
  executorch::aten::SizesType sizes[kMaxRank];
  for (ssize_t dim = 0; dim < shape.dim(); ++dim) {
    const ssize_t one = shape.size(dim), two = size_within(other, shape, dim);
    if (one != two && one != 1 && two != 1) {
      return false;
    }
    sizes[dim] = static_cast<executorch::aten::SizesType>(one == 1 ? two : one);
  }
  return runtime::resize_tensor(out, {sizes, static_cast<size_t>(shape.dim())}) ==
         runtime::Error::Ok;
}

template <typename Choose>
Tensor& choose_out(KernelRuntimeContext& context, const char* name, const Tensor& self,
                   const Tensor& other, Tensor& out, Choose choose) {
  (void)name;  // read where errors have texts
  CORTEX_M_CHECK(is_int8(self) && is_int8(other) && is_int8(out), "%s: expected int8", name);
  CORTEX_M_CHECK(
      self.dim() <= kMaxRank && other.dim() <= kMaxRank && resize_to_both(self, other, out),
      "%s: expected sizes that broadcast to the output's", name);
  write_broadcast(self, other, out, choose);
  return out;
}

}  // namespace

Tensor& quantized_add_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, int64_t self_multiplier, int64_t self_shift,
                          const Tensor& other, int64_t other_zero_point, int64_t other_multiplier,
                          int64_t other_shift, int64_t output_zero_point, int64_t output_multiplier,
                          int64_t output_shift, int64_t activation_min, int64_t activation_max,
                          Tensor& out) {
  const Operands operands(self, other);
  CORTEX_M_CHECK(
      operands.fit(out),
      "quantized_add: expected int8 of one size, or one operand with a value per channel");
  CORTEX_M_CHECK(is_shift(self_shift) && is_shift(other_shift) && is_shift(output_shift) &&
                     are_limits(activation_min, activation_max),
                 "quantized_add: expected shifts from -31 to 31 and limits within int8");
  const Scale own(self_multiplier, self_shift), others(other_multiplier, other_shift);
  const Scale to_out(output_multiplier, output_shift);
  const Scale& left = operands.is_swapped ? others : own;
  const Scale& right = operands.is_swapped ? own : others;
  const auto left_zero =
      static_cast<int32_t>(operands.is_swapped ? other_zero_point : self_zero_point);
  const auto right_zero =
      static_cast<int32_t>(operands.is_swapped ? self_zero_point : other_zero_point);
  const auto zero_point = static_cast<int32_t>(output_zero_point);
  const Limits limits{static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max)};
  operands.write(out, [&](int32_t a, int32_t b) {
    const int32_t sum =
        left(shift_left(a - left_zero, kLeftShift)) + right(shift_left(b - right_zero, kLeftShift));
    return limits(to_out(sum) + zero_point);
  });
  return out;
}

Tensor& quantized_mul_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, const Tensor& other, int64_t other_zero_point,
                          int64_t output_zero_point, int64_t output_multiplier,
                          int64_t output_shift, Tensor& out) {
  const Operands operands(self, other);
  CORTEX_M_CHECK(
      operands.fit(out),
      "quantized_mul: expected int8 of one size, or one operand with a value per channel");
  CORTEX_M_CHECK(is_shift(output_shift), "quantized_mul: expected a shift from -31 to 31");
  const Scale to_out(output_multiplier, output_shift);
  const auto left = static_cast<int32_t>(operands.is_swapped ? other_zero_point : self_zero_point);
  const auto right = static_cast<int32_t>(operands.is_swapped ? self_zero_point : other_zero_point);
  const auto zero_point = static_cast<int32_t>(output_zero_point);
  operands.write(out, [&](int32_t a, int32_t b) {
    return Limits{}(to_out((a - left) * (b - right)) + zero_point);
  });
  return out;
}

Tensor& minimum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return choose_out(context, "minimum", self, other, out,
                    [](int8_t a, int8_t b) { return std::min(a, b); });
}

Tensor& maximum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return choose_out(context, "maximum", self, other, out,
                    [](int8_t a, int8_t b) { return std::max(a, b); });
}

Tensor& quantized_activation_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& lut, Tensor& out) {
  CORTEX_M_CHECK(is_int8(input) && is_int8(out) && is_int8(lut) && lut.numel() == 256,
                 "quantized_activation: expected int8 and a table of 256 results");
  CORTEX_M_CHECK(runtime::resize_tensor(out, input.sizes()) == runtime::Error::Ok &&
                     have_same_dim_order(input, out),
                 "quantized_activation: expected an output of the input's size and memory order");
  const int8_t* from = input.const_data_ptr<int8_t>();
  const int8_t* table = lut.const_data_ptr<int8_t>() + 128;
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    to[i] = table[from[i]];
  }
  return out;
}

}  // namespace cortex_m::native
