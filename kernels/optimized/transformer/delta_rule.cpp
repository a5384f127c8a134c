// SPDX-License-Identifier: BSD-3-Clause
// channelwise_gated_delta_rule, as extension/llm/custom_ops/op_sdpa.h says.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/transformer/delta_rule.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <cinttypes>
#include <tuple>

namespace torch::executor::native {

using ::executorch::aten::Tensor;

namespace {

using ::executorch::aten::ScalarType;
using ::executorch::kernels::is_row_major;
using ::executorch::kernels::OpCall;
using ::executorch::kernels::Shape;
using ::executorch::kernels::ShapeText;
using ::executorch::kernels::optimized::DeltaRule;

struct Sizes {
  int64_t batch, heads, steps, depth, width;
};

bool check_input(const OpCall& call, const char* name, const Tensor& tensor, const Sizes& sizes,
                 std::initializer_list<int64_t> rest) {
  if (!check_dtype(call, name, tensor, ScalarType::Float)) {
    return false;
  }
  bool fits = tensor.dim() == 2 + static_cast<int64_t>(rest.size()) &&
              tensor.size(0) == sizes.batch && tensor.size(1) == sizes.heads;
  int d = 2;
  for (int64_t size : rest) {
    fits = fits && tensor.size(d++) == size;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, fits && is_row_major(tensor), InvalidArgument, false,
                      "%s: expected row-major %s of batch %" PRId64 ", heads %" PRId64
                      ", steps %" PRId64 ", depth %" PRId64 ", width %" PRId64 ", found %s",
                      call.op, name, sizes.batch, sizes.heads, sizes.steps, sizes.depth,
                      sizes.width, ShapeText(tensor).text);
  return true;
}

bool overlaps(const Tensor& a, const Tensor& b) {
  const auto* first = static_cast<const uint8_t*>(a.const_data_ptr());
  const auto* second = static_cast<const uint8_t*>(b.const_data_ptr());
  return first < second + b.nbytes() && second < first + a.nbytes();
}

}  // namespace

std::tuple<Tensor&, Tensor&> channelwise_gated_delta_rule_out(
    RuntimeContext& ctx, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& decay, const Tensor& beta, const Tensor& initial_state, Tensor& out,
    Tensor& final_state_out) {
  const OpCall call{ctx, "channelwise_gated_delta_rule.out"};
  std::tuple<Tensor&, Tensor&> results{out, final_state_out};
  if (!check_rank(call, "query", query, 4) || !check_rank(call, "value", value, 4)) {
    return results;
  }
  const Sizes s{query.size(0), query.size(1), query.size(2), query.size(3), value.size(3)};
  if (!check_input(call, "query", query, s, {s.steps, s.depth}) ||
      !check_input(call, "key", key, s, {s.steps, s.depth}) ||
      !check_input(call, "value", value, s, {s.steps, s.width}) ||
      !check_input(call, "decay", decay, s, {s.steps, s.depth}) ||
      !check_input(call, "beta", beta, s, {s.steps}) ||
      !check_input(call, "initial_state", initial_state, s, {s.depth, s.width}) ||
      !check_dtype(call, "out", out, ScalarType::Float) ||
      !check_dtype(call, "final_state_out", final_state_out, ScalarType::Float) ||
      !resize_output(call, out, Shape(value)) ||
      !resize_output(call, final_state_out, Shape(initial_state))) {
    return results;
  }
  ET_KERNEL_CHECK_MSG(ctx,
                      is_row_major(out) && is_row_major(final_state_out) &&
                          !overlaps(initial_state, final_state_out),
                      InvalidArgument, results,
                      "%s: expected row-major out and final_state_out, apart from initial_state, "
                      "found others",
                      call.op);
  const int64_t state_size = s.depth * s.width;
  if (s.batch * s.heads * s.width == 0) {
    return results;
  }
  const int64_t columns = ::executorch::kernels::optimized::delta_rule_columns();
  const int64_t blocks = (s.width + columns - 1) / columns;
  const auto* initial = initial_state.const_data_ptr<float>();
  auto* final_state = final_state_out.mutable_data_ptr<float>();
  std::copy_n(initial, s.batch * s.heads * state_size, final_state);
  ::executorch::extension::parallel_for(
      0, s.batch * s.heads * blocks, 1, [&](int64_t first, int64_t last) {
        for (int64_t task = first; task < last; ++task) {
          const int64_t head = task / blocks, at = task % blocks * columns;
          const int64_t row = head * s.steps;
          const DeltaRule rule{s.steps,
                               s.depth,
                               s.width,
                               query.const_data_ptr<float>() + row * s.depth,
                               key.const_data_ptr<float>() + row * s.depth,
                               decay.const_data_ptr<float>() + row * s.depth,
                               value.const_data_ptr<float>() + row * s.width,
                               beta.const_data_ptr<float>() + row,
                               final_state + head * state_size,
                               out.mutable_data_ptr<float>() + row * s.width};
          ::executorch::kernels::optimized::run_delta_rule(rule, at,
                                                           std::min(at + columns, s.width));
        }
      });
  return results;
}

}  // namespace torch::executor::native
