// SPDX-License-Identifier: BSD-3-Clause
// Sizes of inputs against what the program says of each dimension.
#include <executorch/runtime/executor/input_sizes.h>

#include <cinttypes>

#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;
using executorch::aten::ArrayRef;
using executorch::aten::SizesType;

// The n of size = scale * n + offset; false if there is none.
bool solve(const InputDimension& row, int64_t size, int64_t* n) {
  const int64_t rest = size - row.offset;
  *n = rest / row.scale;
  return rest % row.scale == 0;
}

}  // namespace

Error check_input_sizes(const fb::ExecutionPlan& plan, size_t input, const fb::Tensor& tensor,
                        ArrayRef<SizesType> sizes) {
  const Span<const InputDimension> rows = input_dimensions(plan);
  uint32_t varying = rows.empty() ? UINT32_MAX : 0;  // a bit for each dimension
  for (const InputDimension& row : rows) {
    if (row.input != static_cast<int32_t>(input)) {
      continue;
    }
    const auto dimension = static_cast<uint32_t>(row.dimension);
    const SizesType size = sizes[dimension];
    const int32_t upper = tensor.sizes()->Get(dimension);
    int64_t n = 0;
    varying |= 1u << dimension;
    ET_CHECK_OR_RETURN_ERROR(size >= row.min && size <= upper, InvalidArgument,
                             "Input %zu of method %s: expected a size from %d to %d in dimension "
                             "%d, got %d. The range is the one of the export (torch.export.Dim)",
                             input, plan.name()->c_str(), static_cast<int>(row.min),
                             static_cast<int>(upper), static_cast<int>(dimension),
                             static_cast<int>(size));
    ET_CHECK_OR_RETURN_ERROR(solve(row, size, &n), InvalidArgument,
                             "Input %zu of method %s: expected %d * n + %d for a whole number n in "
                             "dimension %d, got %d",
                             input, plan.name()->c_str(), static_cast<int>(row.scale),
                             static_cast<int>(row.offset), static_cast<int>(dimension),
                             static_cast<int>(size));
  }
  for (uint32_t i = 0; i < tensor.sizes()->size(); ++i) {
    const int32_t fixed = tensor.sizes()->Get(i);
    ET_CHECK_OR_RETURN_ERROR(((varying >> i) & 1) != 0 || sizes[i] == fixed, InvalidArgument,
                             "Input %zu of method %s: expected size %d in dimension %d, which the "
                             "export fixed, got %d. Export with dynamic_shapes to let it vary",
                             input, plan.name()->c_str(), static_cast<int>(fixed),
                             static_cast<int>(i), static_cast<int>(sizes[i]));
  }
  return Error::Ok;
}

Error check_related_sizes(const fb::ExecutionPlan& plan, Span<const EValue> values) {
  const Span<const InputDimension> rows = input_dimensions(plan);
  const auto size_of = [&](const InputDimension& row) {
    const int32_t value = plan.inputs()->Get(static_cast<uint32_t>(row.input));
    return static_cast<int64_t>(
        values[static_cast<size_t>(value)].toTensor().sizes()[static_cast<size_t>(row.dimension)]);
  };
  for (const InputDimension& row : rows) {
    if (row.same_n_as < 0) {
      continue;
    }
    const InputDimension& first = rows[static_cast<size_t>(row.same_n_as)];
    int64_t n = 0;
    solve(first, size_of(first), &n);
    const int64_t expected = row.scale * n + row.offset;
    ET_CHECK_OR_RETURN_ERROR(
        size_of(row) == expected, InvalidArgument,
        "Method %s: dimension %d of input %d is %d, so dimension %d of input %d must be %" PRId64
        ", got %d: the export found that they depend on each other",
        plan.name()->c_str(), static_cast<int>(first.dimension), static_cast<int>(first.input),
        static_cast<int>(size_of(first)), static_cast<int>(row.dimension),
        static_cast<int>(row.input), expected, static_cast<int>(size_of(row)));
  }
  return Error::Ok;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
