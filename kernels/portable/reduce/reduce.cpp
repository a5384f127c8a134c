// SPDX-License-Identifier: BSD-3-Clause
// Reductions that fold elements: sums, products, means, extremes, and whether any is true.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/reduce/reduce.h>

#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

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

// Of all elements, into any dtype that takes them; of none, what the fold starts
// from: the lowest number of the dtype for a maximum, the highest for a minimum.
template <typename Fold>
Tensor& extreme_of_all(const OpCall& call, const Tensor& in, Tensor& out) {
  if (in.numel() > 0 && out.scalar_type() == in.scalar_type()) {
    return extreme<Fold>(call, in, {}, out);
  }
  Reduction reduction;
  if (!check_computable(call, "self", in) || !check_castable(call, in.scalar_type(), out) ||
      !prepare(call, in, {}, out, reduction)) {
    return out;
  }
  if (in.numel() > 0) {
    with_compute_type(compute_type_of(in.scalar_type()),
                      [&](auto zero) { fold<Fold, decltype(zero)>(in, reduction, out); });
    return out;
  }
  ::executorch::runtime::dispatch_real_hb_bf16(out.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    *out.mutable_data_ptr<T>() = Fold::template start<T>();
  });
  return out;
}

bool check_truth_output(const OpCall& call, const Tensor& out) {
  ET_KERNEL_CHECK_MSG(
      call.ctx, out.scalar_type() == ScalarType::Bool || out.scalar_type() == ScalarType::Byte,
      InvalidArgument, false, "%s: expected out to be Bool or Byte, found %s", call.op,
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
  return extreme_of_all<MaxFold>({ctx, "max.unary_out"}, self, out);
}
Tensor& min_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme_of_all<MinFold>({ctx, "min.unary_out"}, self, out);
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

}  // namespace torch::executor::native
