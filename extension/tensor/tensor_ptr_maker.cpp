// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/tensor/tensor_ptr_maker.h>

#include <algorithm>
#include <random>

#include <executorch/extension/tensor/element_cast.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::TensorShapeDynamism;

namespace {

// Numbers are made and converted in pieces of this many.
constexpr size_t kPiece = 256;

// Writes all elements, taking each number from next().
template <typename Number, typename Next>
TensorPtr generate(TensorPtr tensor, Next&& next) {
  const size_t element_size = executorch::runtime::elementSize(tensor->scalar_type());
  auto* out = static_cast<uint8_t*>(tensor->mutable_data_ptr());
  size_t left = static_cast<size_t>(tensor->numel());
  Number piece[kPiece];
  while (left > 0) {
    const size_t count = std::min(left, kPiece);
    std::generate_n(piece, count, next);
    ET_CHECK_MSG(internal::store_elements(piece, out, tensor->scalar_type(), count),
                 "Elements of type %s cannot be made from numbers",
                 executorch::runtime::toString(tensor->scalar_type()));
    out += count * element_size;
    left -= count;
  }
  return tensor;
}

std::mt19937_64& random_engine() {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return engine;
}

}  // namespace

TensorPtr empty_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                        ScalarType type, TensorShapeDynamism dynamism) {
  const auto count = executorch::aten::safe_numel(sizes.data(), static_cast<ssize_t>(sizes.size()));
  ET_CHECK_MSG(count.ok(), "The sizes are negative or their product does not fit");
  // Freed as it was made, wherever the tensor's data pointer has gone.
  const std::shared_ptr<uint8_t[]> data(
      new uint8_t[static_cast<size_t>(count.get()) * executorch::runtime::elementSize(type) + 1]);
  return make_tensor_ptr(std::move(sizes), data.get(), {}, std::move(strides), type, dynamism,
                         [data](void*) {});
}

TensorPtr full_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                       Scalar fill_value, ScalarType type, TensorShapeDynamism dynamism) {
  ET_CHECK_MSG(internal::can_hold(type, fill_value), "Elements of type %s cannot hold the value",
               executorch::runtime::toString(type));
  TensorPtr tensor = empty_strided(std::move(sizes), std::move(strides), type, dynamism);
  if (fill_value.isFloatingPoint()) {
    return generate<double>(tensor, [&] { return fill_value.to<double>(); });
  }
  return generate<int64_t>(tensor, [&] { return fill_value.to<int64_t>(); });
}

TensorPtr rand_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                       ScalarType type, TensorShapeDynamism dynamism) {
  // 24 bits are a float exactly; the narrower types could still round up to 1.
  const int bits = type == ScalarType::BFloat16 ? 8 : type == ScalarType::Half ? 11 : 24;
  const double scale = 1.0 / static_cast<double>(1 << bits);
  return generate<double>(empty_strided(std::move(sizes), std::move(strides), type, dynamism), [=] {
    return static_cast<double>(random_engine()() >> (64 - bits)) * scale;
  });
}

TensorPtr randn_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                        ScalarType type, TensorShapeDynamism dynamism) {
  std::normal_distribution<double> normal;
  return generate<double>(empty_strided(std::move(sizes), std::move(strides), type, dynamism),
                          [&] { return normal(random_engine()); });
}

TensorPtr randint_strided(int64_t low, int64_t high, std::vector<SizesType> sizes,
                          std::vector<StridesType> strides, ScalarType type,
                          TensorShapeDynamism dynamism) {
  ET_CHECK_MSG(low < high, "Expected low < high, got an empty range of integers");
  std::uniform_int_distribution<int64_t> uniform(low, high - 1);
  return generate<int64_t>(empty_strided(std::move(sizes), std::move(strides), type, dynamism),
                           [&] { return uniform(random_engine()); });
}

}  // namespace executorch::extension
