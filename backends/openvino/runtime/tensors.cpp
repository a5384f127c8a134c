// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/openvino/runtime/tensors.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cstring>

namespace executorch::backends::openvino {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Result;

namespace {

/// Calls `copy(row_major, strided)` with the places of each element, in elements, in row-major
/// order. Rows, along the last dimension, are counted without looking at the other sizes.
template <typename Copy>
void for_each_place(const Tensor& tensor, Copy copy) {
  const size_t dims = static_cast<size_t>(tensor.dim());
  const size_t numel = static_cast<size_t>(tensor.numel());
  if (numel == 0 || dims == 0) {
    return;
  }
  size_t index[executorch::runtime::kTensorDimensionLimit] = {};
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  const size_t row = static_cast<size_t>(sizes[dims - 1]);
  const size_t step = static_cast<size_t>(strides[dims - 1]);
  size_t start = 0;
  for (size_t place = 0; place < numel; place += row) {
    for (size_t i = 0; i < row; ++i) {
      copy(place + i, start + i * step);
    }
    for (size_t dim = dims - 1; dim-- > 0;) {
      const size_t stride = static_cast<size_t>(strides[dim]);
      start += stride;
      if (++index[dim] < static_cast<size_t>(sizes[dim])) {
        break;
      }
      start -= stride * index[dim];
      index[dim] = 0;
    }
  }
}

/// Copies between the two orders elements that are so many bytes wide.
template <typename Element, bool kToRowMajor>
void reorder(const Tensor& tensor, const void* from, void* to) {
  const auto* source = static_cast<const Element*>(from);
  auto* target = static_cast<Element*>(to);
  for_each_place(tensor, [&](size_t row_major, size_t strided) {
    if constexpr (kToRowMajor) {
      target[row_major] = source[strided];
    } else {
      target[strided] = source[row_major];
    }
  });
}

template <bool kToRowMajor>
void reorder_any(const Tensor& tensor, const void* from, void* to) {
  switch (tensor.element_size()) {
    case 1:
      return reorder<uint8_t, kToRowMajor>(tensor, from, to);
    case 2:
      return reorder<uint16_t, kToRowMajor>(tensor, from, to);
    case 4:
      return reorder<uint32_t, kToRowMajor>(tensor, from, to);
    default:
      return reorder<uint64_t, kToRowMajor>(tensor, from, to);
  }
}

}  // namespace

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
  ssize_t expected = 1;
  for (ssize_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    if (tensor.size(dim) != 1 && tensor.numel() > 0 && tensor.strides()[dim] != expected) {
      return false;
    }
    expected *= tensor.size(dim);
  }
  return true;
}

void to_row_major(const Tensor& tensor, void* out) {
  reorder_any<true>(tensor, tensor.const_data_ptr(), out);
}

void from_row_major(const void* elements, const Tensor& out) {
  if (is_row_major(out)) {
    std::memcpy(out.mutable_data_ptr(), elements, out.nbytes());
  } else {
    reorder_any<false>(out, elements, out.mutable_data_ptr());
  }
}

}  // namespace executorch::backends::openvino
