// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/tensor.h>

#include <cstring>
#include <numeric>
#include <vector>

#include <executorch/extension/c/structs.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/tensor_layout.h>

namespace executorch::extension::c {

using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorShapeDynamism;
using runtime::Error;
using runtime::Result;

namespace {

// The interface's numbers are the format's.
#define ET_C_SAME(ours__, theirs__) \
  static_assert(static_cast<int>(EXECUTORCH_##ours__) == static_cast<int>(theirs__))
ET_C_SAME(UINT8, ScalarType::Byte);
ET_C_SAME(FLOAT16, ScalarType::Half);
ET_C_SAME(FLOAT32, ScalarType::Float);
ET_C_SAME(COMPLEX128, ScalarType::ComplexDouble);
ET_C_SAME(BOOL, ScalarType::Bool);
ET_C_SAME(QINT32, ScalarType::QInt32);
ET_C_SAME(BFLOAT16, ScalarType::BFloat16);
ET_C_SAME(BITS16, ScalarType::Bits16);
ET_C_SAME(FLOAT8_E4M3FNUZ, ScalarType::Float8_e4m3fnuz);
ET_C_SAME(UINT64, ScalarType::UInt64);
static_assert(EXECUTORCH_UINT64 + 1 == static_cast<int>(ScalarType::Undefined));
ET_C_SAME(STATIC_SIZES, TensorShapeDynamism::STATIC);
ET_C_SAME(BOUNDED_SIZES, TensorShapeDynamism::DYNAMIC_BOUND);
#undef ET_C_SAME

Result<ScalarType> checked_dtype(int32_t dtype) {
  ET_CHECK_OR_RETURN_ERROR(dtype >= 0 && dtype <= EXECUTORCH_UINT64, InvalidArgument,
                           "expected a dtype from 0 to %d, found %d", EXECUTORCH_UINT64, dtype);
  return static_cast<ScalarType>(dtype);
}

Result<std::vector<SizesType>> checked_sizes(size_t rank, const int32_t* sizes) {
  ET_CHECK_OR_RETURN_ERROR(rank <= runtime::kTensorDimensionLimit, InvalidArgument,
                           "expected at most %zu dimensions, found %zu",
                           runtime::kTensorDimensionLimit, rank);
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(sizes, rank, "sizes"));
  return std::vector<SizesType>(sizes, sizes + rank);
}

Error check_data(const ExecuTorchTensorSpec& spec, ScalarType dtype, size_t num_bytes) {
  ET_CHECK_OR_RETURN_ERROR(spec.data_size >= num_bytes, InvalidArgument,
                           "expected %zu bytes of data for the sizes, found %zu", num_bytes,
                           spec.data_size);
  const size_t element = runtime::elementSize(dtype);
  const size_t alignment = std::min<size_t>(element & (~element + 1), alignof(double));
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(spec.data) % alignment == 0, InvalidArgument,
                           "expected data at a multiple of %zu bytes for elements of type %s, "
                           "found %p",
                           alignment, runtime::toString(dtype), spec.data);
  return Error::Ok;
}

// `is_taken`: whether the data is the library's to give back.
Result<TensorPtr> make_tensor(const ExecuTorchTensorSpec& spec,
                              const std::shared_ptr<bool>& is_taken) {
  const ScalarType dtype = ET_UNWRAP(checked_dtype(spec.dtype));
  std::vector<SizesType> sizes = ET_UNWRAP(checked_sizes(spec.rank, spec.sizes));
  ET_CHECK_OR_RETURN_ERROR(
      spec.dynamism == EXECUTORCH_STATIC_SIZES || spec.dynamism == EXECUTORCH_BOUNDED_SIZES,
      InvalidArgument, "expected a dynamism of 0 or 1, found %d", spec.dynamism);
  std::vector<DimOrderType> order(spec.rank);
  std::iota(order.begin(), order.end(), DimOrderType(0));
  if (spec.dim_order != nullptr) {
    order.assign(spec.dim_order, spec.dim_order + spec.rank);
  }
  const auto layout = ET_UNWRAP(runtime::TensorLayout::create({sizes.data(), sizes.size()},
                                                              {order.data(), order.size()}, dtype));
  const auto dynamism = static_cast<TensorShapeDynamism>(spec.dynamism);
  if (spec.data == nullptr) {
    const std::shared_ptr<void> owned(std::calloc(layout.nbytes() + 1, 1), std::free);
    ET_CHECK_OR_RETURN_ERROR(owned != nullptr, MemoryAllocationFailed,
                             "a tensor of %zu bytes cannot be had", layout.nbytes());
    return make_tensor_ptr(std::move(sizes), owned.get(), std::move(order), {}, dtype, dynamism,
                           [owned](void*) {});
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check_data(spec, dtype, layout.nbytes()));
  std::function<void(void*)> release;
  if (spec.release != nullptr) {
    release = [give_back = spec.release, context = spec.context, is_taken](void* data) {
      if (*is_taken) {
        give_back(context, data);
      }
    };
  }
  return make_tensor_ptr(std::move(sizes), spec.data, std::move(order), {}, dtype, dynamism,
                         std::move(release));
}

Error describe_tensor(const Tensor& tensor, ExecuTorchTensorInfo* out_info) {
  ExecuTorchTensorInfo info{};
  info.dtype = static_cast<int32_t>(tensor.scalar_type());
  info.dynamism = static_cast<int32_t>(tensor.shape_dynamism());
  info.rank = static_cast<size_t>(tensor.dim());
  info.sizes = tensor.sizes().data();
  info.strides = tensor.strides().data();
  info.dim_order = tensor.dim_order().data();
  info.data = tensor.mutable_data_ptr();
  info.num_elements = static_cast<size_t>(tensor.numel());
  info.num_bytes = tensor.nbytes();
  write_struct(info, out_info);
  return Error::Ok;
}

Result<TensorPtr> copy_tensor(const Tensor& tensor) {
  ET_CHECK_OR_RETURN_ERROR(tensor.const_data_ptr() != nullptr, InvalidState,
                           "expected a tensor with data, found one without");
  ET_CHECK_OR_RETURN_ERROR(tensor.device().is_cpu(), NotSupported,
                           "expected a tensor in the memory of the CPU, found another device's");
  return clone_tensor_ptr(tensor);
}

}  // namespace

ExecuTorchStatus dtype_info(int32_t dtype, ExecuTorchDtypeInfo* out_info) noexcept {
  return guard("dtype_info", [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_struct(out_info));
    const ScalarType type = ET_UNWRAP(checked_dtype(dtype));
    ExecuTorchDtypeInfo info{};
    info.name = runtime::toString(type);
    info.size = runtime::elementSize(type);
    write_struct(info, out_info);
    return Error::Ok;
  });
}

ExecuTorchStatus tensor_new(const ExecuTorchTensorSpec* spec,
                            ExecuTorchTensor* out_tensor) noexcept {
  return guard("tensor_new", [&]() -> Error {
    ET_C_NOT_NULL(out_tensor);
    const ExecuTorchTensorSpec known = ET_UNWRAP(read_struct(spec));
    const auto is_taken = std::make_shared<bool>(false);
    *out_tensor = ET_UNWRAP(make_handle<TensorObject>(ET_UNWRAP(make_tensor(known, is_taken))));
    *is_taken = true;
    return Error::Ok;
  });
}

ExecuTorchStatus tensor_info(ExecuTorchTensor tensor, ExecuTorchTensorInfo* out_info) noexcept {
  return guard("tensor_info", [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR(check_struct(out_info));
    return describe_tensor(ET_UNWRAP(Pin<TensorObject>::take(tensor))->tensor, out_info);
  });
}

ExecuTorchStatus tensor_resize(ExecuTorchTensor tensor, size_t rank,
                               const int32_t* sizes) noexcept {
  return guard("tensor_resize", [&]() -> Error {
    const auto pin = ET_UNWRAP(Pin<TensorObject>::take(tensor, Use::Exclusive));
    ET_CHECK_OR_RETURN_ERROR(pin->owner != nullptr, NotSupported,
                             "expected a tensor of tensor_new(), found an output: its method sets "
                             "its sizes");
    return resize_tensor_ptr(pin->owner, ET_UNWRAP(checked_sizes(rank, sizes)));
  });
}

ExecuTorchStatus tensor_copy(ExecuTorchTensor tensor, ExecuTorchTensor* out_tensor) noexcept {
  return guard("tensor_copy", [&]() -> Error {
    ET_C_NOT_NULL(out_tensor);
    const auto pin = ET_UNWRAP(Pin<TensorObject>::take(tensor));
    *out_tensor = ET_UNWRAP(make_handle<TensorObject>(ET_UNWRAP(copy_tensor(pin->tensor))));
    return Error::Ok;
  });
}

}  // namespace executorch::extension::c
