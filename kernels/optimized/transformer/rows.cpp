// SPDX-License-Identifier: BSD-3-Clause
// What layers do with rows between matmuls, each of which programs otherwise spell as 3 to 9
// operators: all tensors Float and row-major.

#include <executorch/kernels/optimized/transformer/rows.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <cinttypes>

namespace torch::executor::native {

using ::executorch::aten::Tensor;

namespace {

using namespace ::executorch::kernels;
using ::executorch::aten::ScalarType;
using ::executorch::extension::parallel_for;
using optimized::Turn;

constexpr int64_t kGrain = int64_t{1} << 13;  // numbers that are worth a thread

bool check_floats(const OpCall& call, const char* name, const Tensor& tensor) {
  if (!check_dtype(call, name, tensor, ScalarType::Float)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(tensor), InvalidArgument, false,
                      "%s: expected row-major %s, found another order", call.op, name);
  return true;
}

// x with rows, and an `out` like it.
bool prepare(const OpCall& call, const Tensor& x, int64_t least_rank, const Tensor& out) {
  if (!check_floats(call, "x", x)) {
    return false;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, x.dim() >= least_rank, InvalidArgument, false,
                      "%s: expected x of at least %" PRId64 " dims, found %s", call.op, least_rank,
                      ShapeText(x).text);
  return resize_output(call, out, Shape(x)) && check_floats(call, "out", out);
}

// run(i) for the rows of `out`, which have `columns` numbers.
template <class Run>
void for_rows(const Tensor& out, int64_t columns, const Run& run) {
  if (out.numel() == 0) {
    return;
  }
  const int64_t rows = static_cast<int64_t>(out.numel()) / columns;
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / columns), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      run(i);
    }
  });
}

}  // namespace

// x / sqrt(mean(x^2) + eps) * weight, by rows: x [.., n], weight [n].
Tensor& rms_norm_out(RuntimeContext& ctx, const Tensor& x, const Tensor& weight, double eps,
                     Tensor& out) {
  const OpCall call{ctx, "rms_norm.out"};
  if (!prepare(call, x, 1, out) || !check_floats(call, "weight", weight)) {
    return out;
  }
  const int64_t n = x.size(x.dim() - 1);
  ET_KERNEL_CHECK_MSG(
      ctx, weight.dim() == 1 && weight.size(0) == n && eps >= 0, InvalidArgument, out,
      "%s: expected a weight of %" PRId64 " numbers and eps of 0 or more, found %s and %g", call.op,
      n, ShapeText(weight).text, eps);
  const auto* from = x.const_data_ptr<float>();
  const auto* by = weight.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_rows(out, n, [&](int64_t i) {
    optimized::norm_row(from + i * n, by, n, static_cast<float>(eps), to + i * n);
  });
  return out;
}

// x [.., tokens, heads, width] turned by each token's angles: cos and sin [tokens, width / 2] with
// pairs of neighbors, [tokens, width] with pairs of `halves`.
Tensor& rotate_out(RuntimeContext& ctx, const Tensor& x, const Tensor& cos, const Tensor& sin,
                   bool halves, Tensor& out) {
  const OpCall call{ctx, "rotate.out"};
  if (!prepare(call, x, 3, out) || !check_floats(call, "cos", cos) ||
      !check_floats(call, "sin", sin)) {
    return out;
  }
  const int64_t width = x.size(x.dim() - 1), heads = x.size(x.dim() - 2),
                tokens = x.size(x.dim() - 3), columns = halves ? width : width / 2;
  for (const Tensor* table : {&cos, &sin}) {
    ET_KERNEL_CHECK_MSG(ctx,
                        width % 2 == 0 && table->dim() == 2 && table->size(0) == tokens &&
                            table->size(1) == columns,
                        InvalidArgument, out,
                        "%s: expected x of an even width, and cos and sin of %" PRId64
                        " rows and %" PRId64 " columns, found x %s and %s",
                        call.op, tokens, columns, ShapeText(x).text, ShapeText(*table).text);
  }
  const auto* from = x.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_rows(out, width, [&](int64_t i) {
    const int64_t at = i / heads % tokens * columns;
    const Turn turn{width / 2, cos.const_data_ptr<float>() + at, sin.const_data_ptr<float>() + at};
    (halves ? optimized::turn_halves : optimized::turn_neighbors)(from + i * width, turn,
                                                                  to + i * width);
  });
  return out;
}

// x * sigmoid(x) * by, of one shape.
Tensor& silu_gate_out(RuntimeContext& ctx, const Tensor& x, const Tensor& by, Tensor& out) {
  const OpCall call{ctx, "silu_gate.out"};
  if (!prepare(call, x, 0, out) || !check_floats(call, "by", by)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, x.sizes() == by.sizes(), InvalidArgument, out,
                      "%s: expected x and by of one shape, found %s and %s", call.op,
                      ShapeText(x).text, ShapeText(by).text);
  const auto* from = x.const_data_ptr<float>();
  const auto* other = by.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  parallel_for(0, static_cast<int64_t>(x.numel()), kGrain / 2, [&](int64_t first, int64_t last) {
    optimized::gate_row(from + first, other + first, last - first, to + first);
  });
  return out;
}

}  // namespace torch::executor::native
