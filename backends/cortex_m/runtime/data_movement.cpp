// SPDX-License-Identifier: BSD-3-Clause
// transpose and pad.
#include <algorithm>

#include <executorch/backends/cortex_m/CustomOpsNativeFunctions.h>
#include <executorch/backends/cortex_m/runtime/checks.h>

namespace cortex_m::native {

using namespace executorch::backends::cortex_m;
namespace runtime = executorch::runtime;

namespace {

constexpr ssize_t kMaxRank = 4;
using Sizes = executorch::aten::SizesType;

bool is_permutation(executorch::aten::ArrayRef<int64_t> perm, ssize_t rank) {
  uint32_t seen = 0;
  for (const int64_t dim : perm) {
    if (dim < 0 || dim >= rank || (seen >> dim & 1) != 0) {
      return false;
    }
    seen |= uint32_t{1} << dim;
  }
  return perm.size() == static_cast<size_t>(rank);
}

// The sizes of a tensor as they lie in memory, with ones in front.
struct Box {
  int64_t sizes[kMaxRank] = {1, 1, 1, 1};

  explicit Box(const Tensor& tensor) {
    const ssize_t front = kMaxRank - tensor.dim();
    for (ssize_t i = 0; i < tensor.dim(); ++i) {
      const auto dim = static_cast<ssize_t>(tensor.dim_order()[static_cast<size_t>(i)]);
      sizes[front + i] = tensor.size(dim);
    }
  }
};

}  // namespace

Tensor& transpose_out(KernelRuntimeContext& context, const Tensor& input,
                      executorch::aten::ArrayRef<int64_t> perm, Tensor& out) {
  const ssize_t rank = input.dim();
  CORTEX_M_CHECK(is_int8(input) && is_int8(out) && rank >= 1 && rank <= kMaxRank,
                 "transpose: expected int8 of one to four dimensions");
  CORTEX_M_CHECK(
      is_permutation(perm, rank) && is_contiguous(input) && out.dim() == rank && is_contiguous(out),
      "transpose: expected contiguous tensors and each dimension once");
  Sizes sizes[kMaxRank];
  ssize_t from_strides[kMaxRank], index[kMaxRank] = {};
  for (ssize_t i = 0; i < rank; ++i) {
    const auto from = static_cast<ssize_t>(perm[static_cast<size_t>(i)]);
    sizes[i] = static_cast<Sizes>(input.size(from));
    from_strides[i] = static_cast<ssize_t>(input.strides()[static_cast<size_t>(from)]);
  }
  CORTEX_M_CHECK(
      runtime::resize_tensor(out, {sizes, static_cast<size_t>(rank)}) == runtime::Error::Ok,
      "transpose: expected an output of the permuted size");
  const int8_t* from = input.const_data_ptr<int8_t>();
  int8_t* to = out.mutable_data_ptr<int8_t>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    *to++ = *from;
    for (ssize_t dim = rank - 1; dim >= 0; --dim) {
      from += from_strides[dim];
      if (++index[dim] < sizes[dim]) {
        break;
      }
      from -= from_strides[dim] * sizes[dim];
      index[dim] = 0;
    }
  }
  return out;
}

// pre_pad and post_pad: four numbers each, for the dimensions as they lie in memory, the innermost
// last.
Tensor& pad_out(KernelRuntimeContext& context, const Tensor& input,
                executorch::aten::ArrayRef<int64_t> pre_pad,
                executorch::aten::ArrayRef<int64_t> post_pad, int64_t pad_value, Tensor& out) {
  const ssize_t rank = input.dim();
  const auto is_amount = [](int64_t amount) { return amount >= 0 && amount < (int64_t{1} << 30); };
  CORTEX_M_CHECK(is_int8(input) && is_int8(out) && rank >= 1 && rank <= kMaxRank &&
                     out.dim() == rank && runtime::tensors_have_same_dim_order(input, out),
                 "pad: expected int8 of one to four dimensions in one memory order");
  CORTEX_M_CHECK(pre_pad.size() == 4 && post_pad.size() == 4 &&
                     std::all_of(pre_pad.begin(), pre_pad.end(), is_amount) &&
                     std::all_of(post_pad.begin(), post_pad.end(), is_amount) &&
                     -128 <= pad_value && pad_value <= 127,
                 "pad: expected four amounts each before and behind, and a value of int8");
  const Box from(input);
  Sizes sizes[kMaxRank];
  for (ssize_t i = 0; i < rank; ++i) {
    const ssize_t place = kMaxRank - rank + i;
    const auto dim = static_cast<ssize_t>(input.dim_order()[static_cast<size_t>(i)]);
    const auto at = static_cast<size_t>(place);
    sizes[dim] = static_cast<Sizes>(from.sizes[place] + pre_pad[at] + post_pad[at]);
  }
  CORTEX_M_CHECK(
      runtime::resize_tensor(out, {sizes, static_cast<size_t>(rank)}) == runtime::Error::Ok,
      "pad: expected an output of the padded size");
  int8_t* to = out.mutable_data_ptr<int8_t>();
  std::fill_n(to, out.numel(), static_cast<int8_t>(pad_value));
  const Box box(out);
  const int8_t* row = input.const_data_ptr<int8_t>();
  for (int64_t i = 0; i < from.sizes[0]; ++i) {
    for (int64_t j = 0; j < from.sizes[1]; ++j) {
      for (int64_t k = 0; k < from.sizes[2]; ++k, row += from.sizes[3]) {
        const int64_t outer = (i + pre_pad[0]) * box.sizes[1] + j + pre_pad[1];
        const int64_t line = outer * box.sizes[2] + k + pre_pad[2];
        std::copy_n(row, from.sizes[3], to + line * box.sizes[3] + pre_pad[3]);
      }
    }
  }
  return out;
}

}  // namespace cortex_m::native
