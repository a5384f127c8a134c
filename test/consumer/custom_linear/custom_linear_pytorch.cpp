// SPDX-License-Identifier: BSD-3-Clause
// The same kernel as an operator of PyTorch. The last two show more kinds of parameters, and a
// context that fails.
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <executorch/extension/aten_util/make_aten_functor_from_et_functor.h>

#include "custom_linear.h"

at::Tensor custom_linear(const at::Tensor& weight, const at::Tensor& input,
                         const std::optional<at::Tensor>& bias) {
  at::Tensor out = at::empty({input.size(0), weight.size(1)});
  WRAP_TO_ATEN(custom_linear_out, 3)(weight, input, bias, out);
  return out;
}

using executorch::runtime::KernelRuntimeContext;

// The first `count` elements of the memory of all tensors, times a factor; asks for at most 4.
Tensor& gather_out(KernelRuntimeContext& context, executorch::aten::ArrayRef<Tensor> tensors,
                   const executorch::aten::Scalar& factor,
                   executorch::aten::ArrayRef<int64_t> counts, std::optional<int64_t> limit,
                   bool twice, std::string_view, Tensor& out) {
  ET_KERNEL_CHECK_MSG(context, !limit.has_value() || *limit <= 4, InvalidArgument, out,
                      "expected a limit of at most 4, found %d", static_cast<int>(*limit));
  const float by = factor.to<float>() * (twice ? 2 : 1);
  const auto total = static_cast<executorch::aten::SizesType>(counts[0] + counts[1]);
  ET_KERNEL_CHECK(
      context,
      executorch::runtime::resize_tensor(out, {&total, 1}) == executorch::runtime::Error::Ok,
      InvalidArgument, out);
  float* to = out.mutable_data_ptr<float>();
  for (size_t t = 0; t < tensors.size(); ++t) {
    for (int64_t i = 0; i < counts[t]; ++i) {
      *to++ = by * tensors[t].const_data_ptr<float>()[i];
    }
  }
  return out;
}

TORCH_LIBRARY(myop, m) {
  m.def("custom_linear(Tensor weight, Tensor input, Tensor? bias) -> Tensor", custom_linear);
  m.def(
      "custom_linear.out(Tensor weight, Tensor input, Tensor? bias, *, Tensor(a!) out) -> "
      "Tensor(a!)",
      WRAP_TO_ATEN(custom_linear_out, 3));
  m.def(
      "gather.out(Tensor[] tensors, Scalar factor, int[] counts, int? limit, bool twice, str note, "
      "*, "
      "Tensor(a!) out) -> Tensor(a!)",
      WRAP_TO_ATEN(gather_out));
}
