// SPDX-License-Identifier: BSD-3-Clause
// Variances and means of the same elements.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/reduce/reduce.h>

#include <algorithm>
#include <tuple>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Where results go, and how.
struct Outputs {
  char* variances;
  char* means;  // may be null
  StoreRun store;
  int64_t size;
  double divisor;

  void put(int64_t offset, double squares, double mean) const {
    const double result = squares / divisor;
    store(&result, 1, variances + offset * size);
    if (means != nullptr) {
      store(&mean, 1, means + offset * size);
    }
  }
};

// Neighbouring results side by side, row by row (Welford): each element moves the mean, and the
// squares by its distances from the means before and after.
struct VarianceLanes {
  const Outputs& outputs;
  double count = 0;
  double means[kChunk];
  double squares[kChunk];

  void begin(int64_t n) {
    count = 0;
    std::fill_n(means, n, 0.0);
    std::fill_n(squares, n, 0.0);
  }
  void row(const double* values, int64_t n) {
    count += 1;
    const double share = 1.0 / count;
    for (int64_t i = 0; i < n; ++i) {
      const double distance = values[i] - means[i];
      means[i] += distance * share;
      squares[i] += distance * (values[i] - means[i]);
    }
  }
  void end(int64_t offset, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      outputs.put(offset + i * stride, squares[i], means[i]);
    }
  }
};

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
  const Outputs outputs{
      static_cast<char*>(out.mutable_data_ptr()),
      out_mean == nullptr ? nullptr : static_cast<char*>(out_mean->mutable_data_ptr()),
      storer(ComputeType::kDouble, out.scalar_type()), out.element_size(),
      count - correction > 0 ? count - correction : 0};
  if (loops.prefers_lanes() && reduction.count > 0) {
    loops.for_each_lane_block<double>([&] { return VarianceLanes{outputs, 0, {}, {}}; });
    return;
  }
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
    outputs.put(out_offset, count > 0 ? squares : mean_value, mean_value);  // of nothing: NaN
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
