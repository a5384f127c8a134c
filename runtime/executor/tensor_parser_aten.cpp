// SPDX-License-Identifier: BSD-3-Clause
// ATen mode: PyTorch's tensors of a method.
#include <executorch/runtime/core/exec_aten/util/aten_tensor.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE::deserialization {

namespace fb = executorch_flatbuffer;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;

Result<Tensor> make_tensor(const fb::Tensor* s_tensor, void* data, size_t nbytes,
                           MemoryAllocator* /*allocator*/) {
  const size_t rank = s_tensor->sizes()->size();
  SizesType sizes[kTensorDimensionLimit];
  StridesType strides[kTensorDimensionLimit];
  getInitialSizes(s_tensor, sizes);
  ET_CHECK_OK_OR_RETURN_ERROR(
      dim_order_to_stride(sizes, s_tensor->dim_order()->data(), rank, strides));
  const fb::ExtraTensorInfo* extra = s_tensor->extra_tensor_info();
  const c10::Device device(
      static_cast<c10::DeviceType>(extra == nullptr ? fb::DeviceType::CPU : extra->device_type()),
      extra == nullptr ? static_cast<c10::DeviceIndex>(-1) : extra->device_index());
  return runtime::internal::make_aten_tensor(
      static_cast<executorch::aten::ScalarType>(s_tensor->scalar_type()), {sizes, rank},
      {strides, rank}, data, nbytes, device);
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE::deserialization
