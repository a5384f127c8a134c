// SPDX-License-Identifier: BSD-3-Clause
// Sizes of inputs against what the program says of each dimension.
#include <executorch/runtime/executor/input_sizes.h>

#include <cinttypes>

#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE::internal {
namespace {

namespace fb = executorch_flatbuffer;
using executorch::aten::ArrayRef;
using executorch::aten::SizesType;

const fb::Tensor& tensor_of(const fb::ExecutionPlan& plan, size_t input) {
  const int32_t value = plan.inputs()->Get(static_cast<uint32_t>(input));
  return *plan.values()->Get(static_cast<uint32_t>(value))->val_as_Tensor();
}

// The n of size = scale * n + offset; false if there is none.
bool solve(const fb::InputDimension& dimension, int64_t size, int64_t* n) {
  const int64_t rest = size - dimension.offset();
  *n = rest / dimension.scale();
  return rest % dimension.scale() == 0;
}

Error check_varying(const fb::ExecutionPlan& plan, const fb::InputDimension& range, int32_t upper,
                    SizesType size) {
  ET_CHECK_OR_RETURN_ERROR(
      size >= range.min() && size <= upper, InvalidArgument,
      "Input %" PRIu32 " of method %s: expected a size from %d to %d in dimension %" PRIu32
      ", got %d. The range is the one of the export (torch.export.Dim)",
      static_cast<uint32_t>(range.input()), plan.name()->c_str(), static_cast<int>(range.min()),
      static_cast<int>(upper), static_cast<uint32_t>(range.dimension()), static_cast<int>(size));
  int64_t n = 0;
  ET_CHECK_OR_RETURN_ERROR(solve(range, size, &n), InvalidArgument,
                           "Input %" PRIu32
                           " of method %s: expected %d * n + %d for a whole "
                           "number n in dimension %" PRIu32 ", got %d",
                           static_cast<uint32_t>(range.input()), plan.name()->c_str(),
                           static_cast<int>(range.scale()), static_cast<int>(range.offset()),
                           static_cast<uint32_t>(range.dimension()), static_cast<int>(size));
  return Error::Ok;
}

}  // namespace

Error check_input_sizes(const fb::ExecutionPlan& plan, size_t input, ArrayRef<SizesType> sizes) {
  const auto* ranges = plan.input_dimensions();
  if (ranges == nullptr || ranges->size() == 0) {
    return Error::Ok;
  }
  const auto& bounds = *tensor_of(plan, input).sizes();
  uint32_t varying = 0;  // a bit for each dimension
  for (uint32_t i = 0; i < ranges->size(); ++i) {
    const fb::InputDimension& range = *ranges->Get(i);
    if (range.input() == input) {
      const uint32_t dimension = range.dimension();
      varying |= 1u << dimension;
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_varying(plan, range, bounds.Get(dimension), sizes[dimension]));
    }
  }
  for (uint32_t i = 0; i < bounds.size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(
        ((varying >> i) & 1) != 0 || sizes[i] == bounds.Get(i), InvalidArgument,
        "Input %zu of method %s: expected size %d in dimension %" PRIu32
        ", which the export fixed, got %d. Export with dynamic_shapes to let it vary",
        input, plan.name()->c_str(), static_cast<int>(bounds.Get(i)), static_cast<uint32_t>(i),
        static_cast<int>(sizes[i]));
  }
  return Error::Ok;
}

Error check_related_sizes(const fb::ExecutionPlan& plan, Span<const EValue> values) {
  const auto* ranges = plan.input_dimensions();
  if (ranges == nullptr || ranges->size() == 0) {
    return Error::Ok;
  }
  const auto size_of = [&](const fb::InputDimension& range) {
    const int32_t value = plan.inputs()->Get(range.input());
    return values[static_cast<size_t>(value)].toTensor().size(range.dimension());
  };
  for (uint32_t i = 0; i < ranges->size(); ++i) {
    const fb::InputDimension& range = *ranges->Get(i);
    if (range.same_n_as() < 0) {
      continue;
    }
    const fb::InputDimension& first = *ranges->Get(static_cast<uint32_t>(range.same_n_as()));
    int64_t n = 0;
    int64_t first_n = 0;
    ET_CHECK_OR_RETURN_ERROR(
        solve(first, size_of(first), &first_n) && solve(range, size_of(range), &n) && n == first_n,
        InvalidArgument,
        "Method %s: dimension %" PRIu32 " of input %" PRIu32 " is %d, so dimension %" PRIu32
        " of input %" PRIu32 " must be %" PRId64
        ", got %d: the export found that they depend on "
        "each other",
        plan.name()->c_str(), static_cast<uint32_t>(first.dimension()),
        static_cast<uint32_t>(first.input()), static_cast<int>(size_of(first)),
        static_cast<uint32_t>(range.dimension()), static_cast<uint32_t>(range.input()),
        range.scale() * first_n + range.offset(), static_cast<int>(size_of(range)));
  }
  return Error::Ok;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
