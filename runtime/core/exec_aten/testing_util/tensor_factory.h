// SPDX-License-Identifier: BSD-3-Clause
// Tensors for tests: a TensorFactory<ScalarType::Float> makes them, keeps their memory and frees it
// at its end.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch {
namespace runtime {
namespace testing {

namespace internal {

/// The type in which tests write data: the element's own, except for types that std::vector or
/// literals do not serve.
template <executorch::aten::ScalarType DTYPE>
struct ScalarTypeToCppTypeWrapper {
  using ctype = typename ScalarTypeToCppType<DTYPE>::type;
};
#define SPECIALIZE_ScalarTypeToCppTypeWrapper(CTYPE, DTYPE)                \
  template <>                                                              \
  struct ScalarTypeToCppTypeWrapper<executorch::aten::ScalarType::DTYPE> { \
    using ctype = CTYPE;                                                   \
  }
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Bool);
SPECIALIZE_ScalarTypeToCppTypeWrapper(int8_t, QInt8);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, QUInt8);
SPECIALIZE_ScalarTypeToCppTypeWrapper(int32_t, QInt32);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, QUInt4x2);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, QUInt2x4);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Bits1x8);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Bits2x4);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Bits4x2);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Bits8);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint16_t, Bits16);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Float8_e5m2);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Float8_e4m3fn);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Float8_e5m2fnuz);
SPECIALIZE_ScalarTypeToCppTypeWrapper(uint8_t, Float8_e4m3fnuz);
#undef SPECIALIZE_ScalarTypeToCppTypeWrapper

inline size_t numel_of(const std::vector<int32_t>& sizes) {
  size_t numel = 1;
  for (const int32_t size : sizes) {
    numel *= static_cast<size_t>(size);
  }
  return numel;
}

inline std::vector<uint8_t> contiguous_dim_order(size_t dims) {
  std::vector<uint8_t> dim_order(dims);
  std::iota(dim_order.begin(), dim_order.end(), uint8_t(0));
  return dim_order;
}

inline std::vector<uint8_t> channels_last_dim_order(size_t dims) {
  ET_CHECK_MSG(dims == 4 || dims == 5, "channels last needs 4 or 5 dimensions, not %zu", dims);
  std::vector<uint8_t> dim_order = contiguous_dim_order(dims);
  dim_order.erase(dim_order.begin() + 1);
  dim_order.push_back(1);
  return dim_order;
}

/// Dense strides; aborts unless the dim order is one of the sizes.
inline std::vector<executorch::aten::StridesType> strides_from_dim_order(
    const std::vector<int32_t>& sizes, const std::vector<uint8_t>& dim_order) {
  std::vector<executorch::aten::StridesType> strides(sizes.size());
  ET_CHECK_MSG(sizes.size() == dim_order.size(), "%zu sizes, dim order of %zu", sizes.size(),
               dim_order.size());
  const Error error =
      dim_order_to_stride(sizes.data(), dim_order.data(), sizes.size(), strides.data());
  ET_CHECK_MSG(error == Error::Ok, "the dim order is not valid");
  return strides;
}

}  // namespace internal

/// Data is given in the order of memory: a channels-last tensor's from (0, 0, 0, 0) over channels
/// first.
template <executorch::aten::ScalarType DTYPE>
class TensorFactory {
 public:
  using ctype = typename internal::ScalarTypeToCppTypeWrapper<DTYPE>::ctype;
  using true_ctype = typename ScalarTypeToCppType<DTYPE>::type;
  static_assert(sizeof(ctype) == sizeof(true_ctype));

  TensorFactory() = default;

  /// A tensor of `data`; the strides, contiguous when empty, must be those of some dim order.
  executorch::aten::Tensor make(const std::vector<int32_t>& sizes, const std::vector<ctype>& data,
                                const std::vector<executorch::aten::StridesType> strides = {},
                                TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    std::vector<uint8_t> dim_order = internal::contiguous_dim_order(sizes.size());
    if (!strides.empty()) {
      ET_CHECK_MSG(strides.size() == sizes.size(), "%zu strides, %zu sizes", strides.size(),
                   sizes.size());
      const Error error = stride_to_dim_order(strides.data(), strides.size(), dim_order.data());
      ET_CHECK_MSG(error == Error::Ok, "the strides are of no dim order");
    }
    executorch::aten::Tensor tensor = make_with_dimorder(sizes, data, dim_order, dynamism);
    for (size_t i = 0; i < strides.size(); ++i) {
      ET_CHECK_MSG(tensor.strides()[i] == strides[i] || sizes[i] <= 1, "stride %zu is not dense",
                   i);
    }
    return tensor;
  }

  /// A tensor of `data` with this dim order, contiguous when empty.
  executorch::aten::Tensor make_with_dimorder(
      const std::vector<int32_t>& sizes, const std::vector<ctype>& data,
      const std::vector<uint8_t> dim_order = {},
      TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    ET_CHECK_MSG(internal::numel_of(sizes) == data.size(), "%zu values for a tensor of %zu",
                 data.size(), internal::numel_of(sizes));
    memories_.push_back(std::make_unique<TensorMemory>(
        sizes, data, dim_order.empty() ? internal::contiguous_dim_order(sizes.size()) : dim_order,
        std::vector<executorch::aten::StridesType>(), dynamism));
    return memories_.back()->tensor_.get();
  }

  /// The dim order is channels last, whatever is given.
  executorch::aten::Tensor make_channels_last(
      const std::vector<int32_t>& sizes, const std::vector<ctype>& data,
      ET_UNUSED const std::vector<uint8_t> dim_order = {},
      TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return make_with_dimorder(sizes, data, internal::channels_last_dim_order(sizes.size()),
                              dynamism);
  }

  /// A channels-last tensor with the elements of a contiguous one of 4 dimensions.
  executorch::aten::Tensor channels_last_like(
      const executorch::aten::Tensor& input,
      TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    ET_CHECK_MSG(input.scalar_type() == DTYPE, "the input has another type");
    ET_CHECK_MSG(input.dim() == 4 && tensor_is_contiguous(input),
                 "channels_last_like needs a contiguous tensor of 4 dimensions");
    const std::vector<int32_t> sizes(input.sizes().begin(), input.sizes().end());
    executorch::aten::Tensor output =
        make_channels_last(sizes, std::vector<ctype>(internal::numel_of(sizes)), {}, dynamism);
    const ctype* const from = static_cast<const ctype*>(input.const_data_ptr());
    ctype* const to = static_cast<ctype*>(output.mutable_data_ptr());
    std::vector<size_t> coordinate(sizes.size());
    for (size_t i = 0; i < internal::numel_of(sizes); ++i) {
      indexToCoordinate(input, i, coordinate.data());
      size_t source = 0;
      size_t target = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        source += coordinate[d] * static_cast<size_t>(input.strides()[d]);
        target += coordinate[d] * static_cast<size_t>(output.strides()[d]);
      }
      to[target] = from[source];
    }
    return output;
  }

  executorch::aten::Tensor full(const std::vector<int32_t>& sizes, ctype value,
                                TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return make(sizes, std::vector<ctype>(internal::numel_of(sizes), value), {}, dynamism);
  }
  executorch::aten::Tensor full_channels_last(
      const std::vector<int32_t>& sizes, ctype value,
      TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return make_channels_last(sizes, std::vector<ctype>(internal::numel_of(sizes), value), {},
                              dynamism);
  }
  executorch::aten::Tensor zeros(const std::vector<int32_t>& sizes,
                                 TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return full(sizes, ctype(0), dynamism);
  }
  executorch::aten::Tensor zeros_channels_last(
      const std::vector<int32_t>& sizes,
      TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return full_channels_last(sizes, ctype(0), dynamism);
  }
  executorch::aten::Tensor ones(const std::vector<int32_t>& sizes,
                                TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return full(sizes, ctype(1), dynamism);
  }

  /// Of the input's shape and dim order, not of its type.
  executorch::aten::Tensor zeros_like(const executorch::aten::Tensor& input,
                                      TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return full_like(input, ctype(0), dynamism);
  }
  executorch::aten::Tensor ones_like(const executorch::aten::Tensor& input,
                                     TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    return full_like(input, ctype(1), dynamism);
  }
  executorch::aten::Tensor full_like(const executorch::aten::Tensor& input, ctype value,
                                     TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC) {
    runtime::internal::DimOrderRoom room;
    const auto dim_order = runtime::internal::dim_order_of(input, room);
    return make_with_dimorder({input.sizes().begin(), input.sizes().end()},
                              std::vector<ctype>(static_cast<size_t>(input.numel()), value),
                              {dim_order.begin(), dim_order.end()}, dynamism);
  }

 private:
  /// All that a tensor refers to.
  struct TensorMemory {
    TensorMemory(const std::vector<int32_t>& sizes, const std::vector<ctype>& data,
                 const std::vector<uint8_t>& dim_order,
                 const std::vector<executorch::aten::StridesType>& strides,
                 TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC)
        : sizes_(sizes.begin(), sizes.end()),
          data_(data),
          dim_order_(dim_order),
          strides_(strides.empty() ? internal::strides_from_dim_order(sizes, dim_order) : strides),
          tensor_(DTYPE, sizes_.size(), sizes_.data(), data_.data(), dim_order_.data(),
                  strides_.data(), dynamism) {}

    std::vector<executorch::aten::SizesType> sizes_;
    std::vector<ctype> data_;
    std::vector<uint8_t> dim_order_;
    std::vector<executorch::aten::StridesType> strides_;
    runtime::internal::BorrowedTensor tensor_;
  };

  std::vector<std::unique_ptr<TensorMemory>> memories_;
};

/// Makes lists of tensors and keeps their memory.
template <executorch::aten::ScalarType DTYPE>
class TensorListFactory final {
 public:
  TensorListFactory() = default;
  ~TensorListFactory() = default;

  /// Zeros of the shapes of `templates`.
  executorch::aten::TensorList zeros_like(const std::vector<executorch::aten::Tensor>& templates) {
    auto list = std::make_unique<std::vector<executorch::aten::Tensor>>();
    for (const executorch::aten::Tensor& tensor : templates) {
      list->push_back(factory_.zeros_like(tensor));
    }
    lists_.push_back(std::move(list));
    return {lists_.back()->data(), lists_.back()->size()};
  }

 private:
  TensorFactory<DTYPE> factory_;
  std::vector<std::unique_ptr<std::vector<executorch::aten::Tensor>>> lists_;
};

}  // namespace testing
}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor::testing {
using ::executorch::runtime::testing::TensorFactory;
using ::executorch::runtime::testing::TensorListFactory;
}  // namespace torch::executor::testing
