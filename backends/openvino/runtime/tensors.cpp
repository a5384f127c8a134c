// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/tensors.h>
#include <executorch/runtime/backend/element_copy.h>

namespace executorch::backends::openvino {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::copy_elements;
using runtime::Elements;
using runtime::Error;
using runtime::Result;

Result<ov_element_type_e> element_type_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool:
      return BOOLEAN;
    case ScalarType::BFloat16:
      return BF16;
    case ScalarType::Half:
      return F16;
    case ScalarType::Float:
      return F32;
    case ScalarType::Double:
      return F64;
    case ScalarType::Char:
      return I8;
    case ScalarType::Short:
      return I16;
    case ScalarType::Int:
      return I32;
    case ScalarType::Long:
      return I64;
    case ScalarType::Byte:
      return U8;
    default:
      ET_LOG(Error, "OpenVINO: no tensors of dtype %s", runtime::toString(dtype));
      return runtime::Error::NotSupported;
  }
}

bool is_row_major(const Tensor& tensor) {
  return Elements::of(tensor).is_row_major();
}

Error to_row_major(const Tensor& tensor, void* out) {
  return copy_elements("OpenVINO input", Elements::of(tensor),
                       Elements::row_major(out, tensor.scalar_type(), tensor.sizes()));
}

Error from_row_major(const void* elements, const Tensor& out) {
  return copy_elements(
      "OpenVINO output",
      Elements::row_major(const_cast<void*>(elements), out.scalar_type(), out.sizes()),
      Elements::of(out));
}

}  // namespace executorch::backends::openvino
