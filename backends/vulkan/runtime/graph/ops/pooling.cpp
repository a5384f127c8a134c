// SPDX-License-Identifier: BSD-3-Clause
// Pooling of planes.
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

enum PoolCode : int32_t { kAverage, kMax, kMaxWithPlaces };

Error read_pair(Call& call, size_t index, int64_t least, int64_t (&out)[2]) {
  const auto found = ET_UNWRAP(call.integers(index));
  if (found.empty()) {
    return Error::Ok;
  }
  constexpr int64_t kMax = 1 << 20;
  const auto [low, high] = std::minmax(found.front(), found.back());
  if (found.size() > 2 || low < least || high > kMax) {
    return call.mismatch("expected one or two numbers");
  }
  out[0] = found.front();
  out[1] = found.back();
  return Error::Ok;
}

Error pool(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const auto outs = ET_UNWRAP(call.outputs());
  const bool is_average = call.code() == kAverage;
  const size_t rank = x.shape.rank;
  int64_t kernel[2] = {1, 1};
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 1, 1, kernel));
  int64_t stride[2] = {kernel[0], kernel[1]};
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 2, 1, stride));
  ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 3, 0, padding));
  if (!is_average) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_pair(call, 4, 1, dilation));
  }
  const bool rounds_up = ET_UNWRAP(call.boolean(is_average ? 4 : 5));
  const bool counts_padding = is_average && ET_UNWRAP(call.boolean(5));
  const int64_t divisor = is_average ? ET_UNWRAP(call.integer_or(6, 0)) : 0;
  if (rank < 2) {
    return call.mismatch("expected an input of planes");
  }
  Shape shape = x.shape;
  for (size_t i = 0; i < 2; ++i) {
    if (padding[i] > kernel[i] / 2) {
      return call.mismatch("expected a padding of at most half the window");
    }
    const int64_t size = x.shape[rank - 2 + i];
    const int64_t room =
        size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1 + (rounds_up ? stride[i] - 1 : 0);
    if (room < 0) {  // the first window of those that are rounded up may be larger than the input
      return call.mismatch("a window that is larger than its input");
    }
    int64_t count = room / stride[i] + 1;
    count -= rounds_up && (count - 1) * stride[i] >= size + padding[i] ? 1 : 0;
    shape[rank - 2 + i] = static_cast<int32_t>(count);
  }
  Tensor& out = *outs[0];
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  const bool has_places = call.code() == kMaxWithPlaces && outs.size() > 1;
  if (has_places) {
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[1], shape));
  }
  return call.dispatch("pool")
      .read(x)
      .write(out)
      .write(has_places ? *outs[1] : out)
      .constant(is_average ? 0 : 1)
      .constant(has_places ? 1 : 0)
      .params(x.shape.at(-2), x.shape.at(-1), out.shape.at(-2), out.shape.at(-1))
      .params(kernel[0], kernel[1], stride[0], stride[1])
      .params(padding[0], padding[1], dilation[0], dilation[1])
      .param(out.numel())
      .param(divisor)
      .param(int64_t{counts_padding})
      .elements(out.numel());
}

constexpr Operator kRows[] = {
    {"aten.avg_pool2d.default", pool, kAverage},
    {"aten.max_pool2d.default", pool, kMax},
    {"aten.max_pool2d_with_indices.default", pool, kMaxWithPlaces},
};

}  // namespace

Operators pooling_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
