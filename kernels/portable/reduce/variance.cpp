// SPDX-License-Identifier: BSD-3-Clause
// Variances and means of the same elements.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/reduce/reduce.h>

#include <tuple>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// The variance and, when asked for, the mean.
void variance(const OpCall& call, const Tensor& in, const ReduceArgs& args, double correction,
              Tensor& out, Tensor* out_mean) {
  Reduction reduction;
  if (!check_floating(call, "self", in) || !check_floating(call, "out", out) ||
      !prepare(call, in, args, out, reduction) ||
      (out_mean != nullptr && (!check_same_dtype(call, "out1", *out_mean, "out0", out) ||
                               !resize_output(call, *out_mean, reduction.shape)))) {
    return;
  }
  const ReductionLoops loops(in, out, reduction, /*ordered=*/false);
  const double count = static_cast<double>(reduction.count);
  const double divisor = count - correction > 0 ? count - correction : 0;
  const StoreRun store = storer(ComputeType::kDouble, out.scalar_type());
  const int64_t size = out.element_size();
  char* variances = static_cast<char*>(out.mutable_data_ptr());
  char* means = out_mean == nullptr ? nullptr : static_cast<char*>(out_mean->mutable_data_ptr());
  loops.for_each_result([&](int64_t out_offset, int64_t in_offset) {
    double sum = 0;
    loops.for_each_run<double>(in_offset, [&](const double* values, int64_t n, int64_t) {
      sum = fold_run<SumFold, double>(sum, values, n);
    });
    const double mean_value = sum / count;
    double squares = 0;
    loops.for_each_run<double>(in_offset, [&](const double* values, int64_t n, int64_t) {
      for (int64_t i = 0; i < n; ++i) {
        squares += (values[i] - mean_value) * (values[i] - mean_value);
      }
    });
    const double result = count > 0 ? squares / divisor : mean_value;  // of nothing: NaN
    store(&result, 1, variances + out_offset * size);
    if (means != nullptr) {
      store(&mean_value, 1, means + out_offset * size);
    }
  });
}

}  // namespace

Tensor& var_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalArrayRef<int64_t> dim,
                bool unbiased, bool keepdim, Tensor& out) {
  variance({ctx, "var.out"}, self, {dim, keepdim}, unbiased ? 1.0 : 0.0, out, nullptr);
  return out;
}
Tensor& var_correction_out(KernelRuntimeContext& ctx, const Tensor& self,
                           OptionalArrayRef<int64_t> dim, const std::optional<Scalar>& correction,
                           bool keepdim, Tensor& out) {
  const double by = correction.has_value() ? scalar_to<double>(*correction) : 1.0;
  variance({ctx, "var.correction_out"}, self, {dim, keepdim}, by, out, nullptr);
  return out;
}
std::tuple<Tensor&, Tensor&> var_mean_correction_out(KernelRuntimeContext& ctx, const Tensor& self,
                                                     OptionalArrayRef<int64_t> dim,
                                                     const std::optional<Scalar>& correction,
                                                     bool keepdim, Tensor& out0, Tensor& out1) {
  const double by = correction.has_value() ? scalar_to<double>(*correction) : 1.0;
  variance({ctx, "var_mean.correction_out"}, self, {dim, keepdim}, by, out0, &out1);
  return {out0, out1};
}

}  // namespace torch::executor::native
