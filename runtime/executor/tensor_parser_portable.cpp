// SPDX-License-Identifier: BSD-3-Clause
// Portable tensors of a method. tensor_parser_aten.cpp makes PyTorch's.
#include <new>

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE::deserialization {

namespace fb = executorch_flatbuffer;
using executorch::aten::DimOrderType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

// Static shapes stay in the program; dynamic ones need sizes that can change. They and the strides
// follow the TensorImpl.
Result<Tensor> make_tensor(const fb::Tensor* s_tensor, void* data, size_t /*nbytes*/,
                           MemoryAllocator* allocator) {
  const auto dynamism = static_cast<TensorShapeDynamism>(s_tensor->shape_dynamism());
  const bool is_static = dynamism == TensorShapeDynamism::STATIC;
  const uint32_t rank = s_tensor->sizes()->size();
  auto* sizes = const_cast<SizesType*>(s_tensor->sizes()->data());
  auto* dim_order = const_cast<DimOrderType*>(s_tensor->dim_order()->data());
  const size_t num_own = is_static ? rank : 2 * rank;
  void* memory =
      allocator->allocate(sizeof(TensorImpl) + num_own * sizeof(StridesType), alignof(TensorImpl));
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  auto* impl = static_cast<TensorImpl*>(memory);
  auto* strides = reinterpret_cast<StridesType*>(impl + 1);
  static_assert(std::is_same_v<SizesType, StridesType>, "sizes and strides share an allocation");
  if (!is_static) {
    sizes = strides + rank;
    getInitialSizes(s_tensor, sizes);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(dim_order_to_stride(sizes, dim_order, rank, strides));
  const fb::ExtraTensorInfo* extra = s_tensor->extra_tensor_info();
  new (impl) TensorImpl(static_cast<executorch::aten::ScalarType>(s_tensor->scalar_type()), rank,
                        sizes, data, dim_order, strides, dynamism,
                        static_cast<executorch::aten::DeviceType>(
                            extra == nullptr ? fb::DeviceType::CPU : extra->device_type()),
                        extra == nullptr ? 0 : extra->device_index());
  return Tensor(impl);
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE::deserialization
