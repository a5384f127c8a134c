// SPDX-License-Identifier: BSD-3-Clause
// Positions of extremes, alone or with the extremes.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/reduce/reduce.h>

#include <tuple>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

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
                      InvalidArgument, , "%s: expected outputs of one dim order, found two",
                      call.op);
  int64_t* positions = indices.mutable_data_ptr<int64_t>();
  char* best_values = static_cast<char*>(values.mutable_data_ptr());
  const int64_t size = values.element_size();
  find_best<kMax>(in, reduction, values, [&](int64_t offset, const auto& best) {
    positions[offset] = best.position;
    using C = std::remove_const_t<decltype(best.value)>;
    storer(compute_type_v<C>, values.scalar_type())(&best.value, 1, best_values + offset * size);
  });
}

}  // namespace

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

}  // namespace torch::executor::native
