// SPDX-License-Identifier: BSD-3-Clause
// Reductions: sums, products, extremes, their positions, variances, and the running sum.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/binary.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/lines.h>
#include <executorch/kernels/portable/loops/reduction.h>

#include <cmath>
#include <limits>
#include <tuple>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace torch {
namespace executor {
namespace native {

using namespace ::executorch::kernels;
using ::executorch::aten::ArrayRef;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::OptionalArrayRef;
using ::executorch::aten::Scalar;
using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::KernelRuntimeContext;

namespace {

// A folding rule: lanes are folded in C, what they give in Wide, so that long sums of floats keep
// their digits.
template <typename C>
using WideOf =
    std::conditional_t<std::is_integral<C>::value || std::is_same<C, Complex>::value, C, double>;

struct SumFold {
  template <typename C>
  static C start() {
    return C(0);
  }
  template <typename C>
  static C step(C a, C b) {
    return wrap_add(a, b);
  }
};
struct ProdFold {
  template <typename C>
  static C start() {
    return C(1);
  }
  template <typename C>
  static C step(C a, C b) {
    return wrap_mul(a, b);
  }
};
struct MaxFold {
  template <typename C>
  static C start() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <typename C>
  static C step(C a, C b) {
    return Maximum()(a, b);
  }
};
struct MinFold {
  template <typename C>
  static C start() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <typename C>
  static C step(C a, C b) {
    return Minimum()(a, b);
  }
};
struct AnyFold {
  template <typename C>
  static C start() {
    return C(0);
  }
  template <typename C>
  static C step(C a, C b) {
    return a | b;
  }
};

// Stores one folded value, converted to the output's dtype.
template <typename C>
class ResultWriter {
 public:
  ResultWriter(const Tensor& out, double scale)
      : data_(static_cast<char*>(out.mutable_data_ptr())),
        element_size_(out.element_size()),
        store_(storer(compute_type_v<C>, out.scalar_type())),
        scale_(scale) {}

  template <typename Wide>
  void write(int64_t offset, Wide value) const {
    const C result = scale_ == 1.0 ? static_cast<C>(value) : static_cast<C>(value * scale_);
    store_(&result, 1, data_ + offset * element_size_);
  }

 private:
  char* data_;
  int64_t element_size_;
  StoreRun store_;
  double scale_;
};

template <typename Fold, typename C>
WideOf<C> fold_run(WideOf<C> total, const C* values, int64_t n) {
  constexpr int kLanes = 8;
  int64_t i = 0;
  if (n >= 2 * kLanes) {
    C lanes[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      lanes[k] = values[k];
    }
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) {
        lanes[k] = Fold::step(lanes[k], values[i + k]);
      }
    }
    for (int k = 0; k < kLanes; ++k) {
      total = Fold::step(total, static_cast<WideOf<C>>(lanes[k]));
    }
  }
  for (; i < n; ++i) {
    total = Fold::step(total, static_cast<WideOf<C>>(values[i]));
  }
  return total;
}

template <typename Fold, typename C>
struct FoldLanes {
  const ResultWriter<C>& writer;
  WideOf<C> totals[kChunk];

  void begin(int64_t n) { std::fill_n(totals, n, Fold::template start<WideOf<C>>()); }
  void row(const C* values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      totals[i] = Fold::step(totals[i], static_cast<WideOf<C>>(values[i]));
    }
  }
  void end(int64_t offset, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      writer.write(offset + i * stride, totals[i]);
    }
  }
};

// Folds elements read as C; results are multiplied by `scale`.
template <typename Fold, typename C>
void fold(const Tensor& in, const Reduction& reduction, const Tensor& out, double scale = 1.0) {
  const ReductionLoops loops(in, out, reduction, /*ordered=*/false);
  const ResultWriter<C> writer(out, scale);
  if (loops.prefers_lanes()) {
    loops.template for_each_lane_block<C>([&] { return FoldLanes<Fold, C>{writer, {}}; });
    return;
  }
  loops.for_each_result([&](int64_t out_offset, int64_t in_offset) {
    WideOf<C> total = Fold::template start<WideOf<C>>();
    loops.template for_each_run<C>(in_offset, [&](const C* values, int64_t n, int64_t) {
      total = fold_run<Fold, C>(total, values, n);
    });
    writer.write(out_offset, total);
  });
}

struct ReduceArgs {
  OptionalArrayRef<int64_t> dims;
  bool keepdim = false;
  bool complex_too = false;
};

bool prepare(const OpCall& call, const Tensor& in, const ReduceArgs& args, const Tensor& out,
             Reduction& reduction) {
  const bool fits = args.complex_too && is_complex(out.scalar_type())
                        ? check_number(call, "self", in)
                        : check_computable(call, "self", in) && check_computable(call, "out", out);
  return fits && make_reduction(call, in, args.dims, args.keepdim, reduction) &&
         resize_output(call, out, reduction.shape);
}

bool check_out_is(const OpCall& call, std::optional<ScalarType> dtype, const Tensor& out) {
  return !dtype.has_value() || check_dtype(call, "out", out, *dtype);
}

// Sums and products: elements are converted to the output's dtype first.
template <typename Fold>
Tensor& fold_to_out(const OpCall& call, const Tensor& in, ReduceArgs args,
                    std::optional<ScalarType> dtype, Tensor& out) {
  Reduction reduction;
  args.complex_too = true;
  if (!check_out_is(call, dtype, out) || !prepare(call, in, args, out, reduction)) {
    return out;
  }
  if (out.scalar_type() == ScalarType::Bool) {
    using BoolFold = std::conditional_t<std::is_same<Fold, SumFold>::value, AnyFold, Fold>;
    fold<BoolFold, uint8_t>(in, reduction, out);
    return out;
  }
  with_number_type<true>(compute_type_of(out.scalar_type()),
                         [&](auto zero) { fold<Fold, decltype(zero)>(in, reduction, out); });
  return out;
}

Tensor& mean(const OpCall& call, const Tensor& in, ReduceArgs args, std::optional<ScalarType> dtype,
             Tensor& out) {
  Reduction reduction;
  args.complex_too = true;
  if (check_out_is(call, dtype, out) &&
      (is_complex(out.scalar_type()) || check_floating(call, "out", out)) &&
      prepare(call, in, args, out, reduction)) {
    const double scale = 1.0 / static_cast<double>(reduction.count);
    with_float_type<true>(compute_type_of(out.scalar_type()), [&](auto zero) {
      fold<SumFold, decltype(zero)>(in, reduction, out, scale);
    });
  }
  return out;
}

bool check_nonempty(const OpCall& call, const Tensor& in, const Reduction& reduction) {
  ET_KERNEL_CHECK_MSG(call.ctx,
                      reduction.count > 0 || (in.numel() == 0 && reduction.shape.numel() == 0),
                      InvalidArgument, false, "%s: a reduced dimension of self is empty", call.op);
  return true;
}

template <typename Fold>
Tensor& extreme(const OpCall& call, const Tensor& in, const ReduceArgs& args, Tensor& out) {
  Reduction reduction;
  if (check_same_dtype(call, "out", out, "self", in) && prepare(call, in, args, out, reduction) &&
      check_nonempty(call, in, reduction)) {
    with_compute_type(compute_type_of(in.scalar_type()),
                      [&](auto zero) { fold<Fold, decltype(zero)>(in, reduction, out); });
  }
  return out;
}

bool check_truth_output(const OpCall& call, const Tensor& out) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, out.scalar_type() == ScalarType::Bool || out.scalar_type() == ScalarType::Byte,
      InvalidArgument, false, "%s: out is %s, expected Bool or Byte", call.op,
      ::executorch::runtime::toString(out.scalar_type()));
  return true;
}

Tensor& any(const OpCall& call, const Tensor& in, const ReduceArgs& args, Tensor& out) {
  Reduction reduction;
  if (check_truth_output(call, out) && prepare(call, in, args, out, reduction)) {
    fold<AnyFold, uint8_t>(in, reduction, out);
  }
  return out;
}

// One result: the first position of the extreme, NaN counting as more extreme than any number.
template <typename C, bool kMax>
struct Best {
  C value = kMax ? MaxFold::start<C>() : MinFold::start<C>();
  int64_t position = 0;

  void update(const C* values, int64_t n, int64_t first) {
    for (int64_t i = 0; i < n; ++i) {
      const C candidate = values[i];
      const bool better = kMax ? candidate > value : candidate < value;
      const bool first_nan = candidate != candidate && value == value;
      if (better || first_nan) {
        value = candidate;
        position = first + i;
      }
    }
  }
};

template <bool kMax, typename Write>
void find_best(const Tensor& in, const Reduction& reduction, const Tensor& out,
               const Write& write) {
  const ReductionLoops loops(in, out, reduction, /*ordered=*/true);
  with_compute_type(compute_type_of(in.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    loops.for_each_result([&](int64_t out_offset, int64_t in_offset) {
      Best<C, kMax> best;
      loops.template for_each_run<C>(in_offset, [&](const C* values, int64_t n, int64_t first) {
        best.update(values, n, first);
      });
      write(out_offset, best);
    });
  });
}

template <bool kMax>
Tensor& arg_best(const OpCall& call, const Tensor& in, std::optional<int64_t> dim, bool keepdim,
                 Tensor& out) {
  ReduceArgs args{std::nullopt, keepdim};
  if (dim.has_value()) {
    args.dims = ArrayRef<int64_t>(&*dim, 1);
  }
  Reduction reduction;
  if (check_dtype(call, "out", out, ScalarType::Long) && prepare(call, in, args, out, reduction) &&
      check_nonempty(call, in, reduction)) {
    int64_t* positions = out.mutable_data_ptr<int64_t>();
    find_best<kMax>(in, reduction, out, [positions](int64_t offset, const auto& best) {
      positions[offset] = best.position;
    });
  }
  return out;
}

template <bool kMax>
void best_in_dim(const OpCall& call, const Tensor& in, int64_t dim, bool keepdim, Tensor& values,
                 Tensor& indices) {
  Reduction reduction;
  const ReduceArgs args{ArrayRef<int64_t>(&dim, 1), keepdim};
  if (!check_same_dtype(call, "values", values, "self", in) ||
      !check_dtype(call, "indices", indices, ScalarType::Long) ||
      !prepare(call, in, args, values, reduction) ||
      !resize_output(call, indices, reduction.shape) || !check_nonempty(call, in, reduction)) {
    return;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, ::executorch::runtime::tensors_have_same_dim_order(values, indices),
                      InvalidArgument, , "%s: outputs differ in dim order", call.op);
  int64_t* positions = indices.mutable_data_ptr<int64_t>();
  char* best_values = static_cast<char*>(values.mutable_data_ptr());
  const int64_t size = values.element_size();
  find_best<kMax>(in, reduction, values, [&](int64_t offset, const auto& best) {
    positions[offset] = best.position;
    using C = std::remove_const_t<decltype(best.value)>;
    storer(compute_type_v<C>, values.scalar_type())(&best.value, 1, best_values + offset * size);
  });
}

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
    const double result = squares / divisor;
    store(&result, 1, variances + out_offset * size);
    if (means != nullptr) {
      store(&mean_value, 1, means + out_offset * size);
    }
  });
}

}  // namespace

Tensor& sum_dim_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalArrayRef<int64_t> dim,
                    bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  return fold_to_out<SumFold>({ctx, "sum.IntList_out"}, self, {dim, keepdim}, dtype, out);
}

Tensor& prod_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<ScalarType> dtype,
                 Tensor& out) {
  return fold_to_out<ProdFold>({ctx, "prod.out"}, self, {}, dtype, out);
}

Tensor& prod_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool keepdim,
                     std::optional<ScalarType> dtype, Tensor& out) {
  return fold_to_out<ProdFold>({ctx, "prod.int_out"}, self, {ArrayRef<int64_t>(&dim, 1), keepdim},
                               dtype, out);
}

Tensor& mean_dim_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalArrayRef<int64_t> dim,
                     bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  return mean({ctx, "mean.out"}, self, {dim, keepdim}, dtype, out);
}

Tensor& mean_dtype_out(KernelRuntimeContext& ctx, const Tensor& self,
                       std::optional<ScalarType> dtype, Tensor& out) {
  return mean({ctx, "mean.dtype_out"}, self, {}, dtype, out);
}

Tensor& amax_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                 Tensor& out) {
  return extreme<MaxFold>({ctx, "amax.out"}, self, {dim, keepdim}, out);
}
Tensor& amin_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                 Tensor& out) {
  return extreme<MinFold>({ctx, "amin.out"}, self, {dim, keepdim}, out);
}
Tensor& max_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme<MaxFold>({ctx, "max.unary_out"}, self, {}, out);
}
Tensor& min_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme<MinFold>({ctx, "min.unary_out"}, self, {}, out);
}

Tensor& any_all_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return any({ctx, "any.all_out"}, self, {}, out);
}
Tensor& any_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool keepdim,
                Tensor& out) {
  return any({ctx, "any.out"}, self, {ArrayRef<int64_t>(&dim, 1), keepdim}, out);
}
Tensor& any_dims_out(KernelRuntimeContext& ctx, const Tensor& self, OptionalArrayRef<int64_t> dim,
                     bool keepdim, Tensor& out) {
  const OpCall call{ctx, "any.dims_out"};
  if (!dim.has_value() || !dim->empty()) {
    return any(call, self, {dim, keepdim}, out);
  }
  // No dimension is reduced: every element by itself.
  if (check_computable(call, "self", self) && check_truth_output(call, out) &&
      resize_output(call, out, Shape(self))) {
    map_elements<uint8_t, uint8_t>([](uint8_t x) { return x; }, out,
                                   {RangeReader(self, out, ComputeType::kBool)});
  }
  return out;
}

Tensor& argmax_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<int64_t> dim,
                   bool keepdim, Tensor& out) {
  return arg_best<true>({ctx, "argmax.out"}, self, dim, keepdim, out);
}
Tensor& argmin_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<int64_t> dim,
                   bool keepdim, Tensor& out) {
  return arg_best<false>({ctx, "argmin.out"}, self, dim, keepdim, out);
}

std::tuple<Tensor&, Tensor&> max_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                                     bool keepdim, Tensor& max, Tensor& max_values) {
  best_in_dim<true>({ctx, "max.dim_max"}, self, dim, keepdim, max, max_values);
  return {max, max_values};
}
std::tuple<Tensor&, Tensor&> min_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                                     bool keepdim, Tensor& min, Tensor& min_indices) {
  best_in_dim<false>({ctx, "min.dim_min"}, self, dim, keepdim, min, min_indices);
  return {min, min_indices};
}

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

Tensor& cumsum_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                   std::optional<ScalarType> dtype, Tensor& out) {
  const OpCall call{ctx, "cumsum.out"};
  if (!check_out_is(call, dtype, out) || !check_computable(call, "self", self) ||
      !check_computable(call, "out", out) || !normalize_dim(call, "dim", self.dim(), dim) ||
      !resize_output(call, out, Shape(self))) {
    return out;
  }
  if (self.dim() == 0) {
    copy_converted(call, self, out);
    return out;
  }
  if (out.numel() == 0) {
    return out;
  }
  const StridedView from = StridedView::of(self);
  const StridedView to = StridedView::of(out);
  const StridedView from_lines = from.selected(static_cast<int>(dim), 0);
  const StridedView lines = to.selected(static_cast<int>(dim), 0);
  const int64_t length = to.sizes[dim];
  with_compute_type(compute_type_of(out.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> reader(self);
    const LineWriter<C> writer(out);
    const int64_t grain = std::max<int64_t>(1, (1 << 13) / length);
    ::executorch::extension::parallel_for(
        0, lines.numel(), grain, [&](int64_t first, int64_t last) {
          Odometer<2> odometer(lines.ndim, lines.sizes);
          odometer.set_strides(0, from_lines.strides);
          odometer.set_strides(1, lines.strides);
          odometer.seek(first);
          C buffer[kChunk];
          C sums[kChunk];
          for (int64_t line = first; line < last; ++line, odometer.next()) {
            WideOf<C> total = 0;
            for (int64_t begin = 0; begin < length; begin += kChunk) {
              const int64_t n = std::min(kChunk, length - begin);
              const C* x = reader.read(odometer.offset(0) + begin * from.strides[dim],
                                       from.strides[dim], n, buffer);
              for (int64_t i = 0; i < n; ++i) {
                total = wrap_add(total, static_cast<WideOf<C>>(x[i]));
                sums[i] = static_cast<C>(total);
              }
              writer.write(odometer.offset(1) + begin * to.strides[dim], to.strides[dim], n, sums);
            }
          }
        });
  });
  return out;
}

}  // namespace native
}  // namespace executor
}  // namespace torch
