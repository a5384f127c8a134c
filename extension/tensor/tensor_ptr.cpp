// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/tensor/tensor_ptr.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include <executorch/extension/tensor/element_cast.h>
#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

using executorch::aten::Device;
using executorch::aten::DeviceType;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::Error;

namespace {

// Dimensions by falling stride; those of equal stride stay in their order.
std::vector<DimOrderType> order_of(const std::vector<StridesType>& strides) {
  std::vector<DimOrderType> order(strides.size());
  std::iota(order.begin(), order.end(), DimOrderType(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](DimOrderType a, DimOrderType b) { return strides[a] > strides[b]; });
  return order;
}

// Fills in what is missing of dim order and strides, and checks that they agree.
void complete_layout(const std::vector<SizesType>& sizes, std::vector<DimOrderType>& dim_order,
                     std::vector<StridesType>& strides) {
  const size_t rank = sizes.size();
  ET_CHECK_MSG(strides.empty() || strides.size() == rank,
               "Expected strides of %zu dimensions, got %zu", rank, strides.size());
  if (dim_order.empty()) {
    dim_order = strides.empty() ? order_of(std::vector<StridesType>(rank, 0)) : order_of(strides);
  }
  ET_CHECK_MSG(dim_order.size() == rank, "Expected a dim order of %zu dimensions, got %zu", rank,
               dim_order.size());
  std::vector<StridesType> dense(rank);
  ET_CHECK_MSG(executorch::runtime::dim_order_to_stride(sizes.data(), dim_order.data(), rank,
                                                        dense.data()) == Error::Ok,
               "The dim order is not an order of the %zu dimensions", rank);
  if (!strides.empty()) {
    for (size_t i = 0; i < rank; ++i) {
      ET_CHECK_MSG(strides[i] == dense[i] || sizes[i] <= 1,
                   "Expected stride %zd in dimension %zu, got %zd: only dense tensors can be made",
                   static_cast<ssize_t>(dense[i]), i, static_cast<ssize_t>(strides[i]));
    }
  }
  strides = std::move(dense);
}

size_t checked_numel(const std::vector<SizesType>& sizes) {
  const auto count = executorch::aten::safe_numel(sizes.data(), static_cast<ssize_t>(sizes.size()));
  ET_CHECK_MSG(count.ok(), "The sizes are negative or their product does not fit");
  return static_cast<size_t>(count.get());
}

std::shared_ptr<void> allocate_bytes(size_t size) {
  return std::shared_ptr<uint8_t[]>(new uint8_t[size + 1]);
}

std::function<void(void*)> keep_alive(std::shared_ptr<void> owner) {
  return [owner = std::move(owner)](void*) {};
}

template <typename T>
std::vector<T> to_vector(executorch::aten::ArrayRef<T> list) {
  return std::vector<T>(list.begin(), list.end());
}

std::vector<DimOrderType> dim_order_of(const Tensor& tensor) {
  runtime::internal::DimOrderRoom room;
  const auto order = runtime::internal::dim_order_of(tensor, room);
  return std::vector<DimOrderType>(order.begin(), order.end());
}

}  // namespace

namespace internal {

OwnedData convert_elements(const void* data, ScalarType from, ScalarType to, size_t count) {
  ET_CHECK_MSG(can_cast_elements(from, to), "Elements of type %s cannot become %s",
               executorch::runtime::toString(from), executorch::runtime::toString(to));
  const std::shared_ptr<void> owner = allocate_bytes(count * executorch::runtime::elementSize(to));
  if (from == to) {
    if (count > 0) {
      std::memcpy(owner.get(), data, count * executorch::runtime::elementSize(to));
    }
  } else {
    cast_elements(data, from, owner.get(), to, count);
  }
  return {owner.get(), owner};
}

TensorPtr make_owning(std::vector<SizesType> sizes, OwnedData data, size_t count,
                      std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                      ScalarType type, TensorShapeDynamism dynamism) {
  const size_t expected = checked_numel(sizes);
  ET_CHECK_MSG(expected == count, "Expected %zu elements of data, got %zu", expected, count);
  return make_tensor_ptr(std::move(sizes), data.data, std::move(dim_order), std::move(strides),
                         type, dynamism, keep_alive(std::move(data.owner)));
}

}  // namespace internal

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, void* data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          const ScalarType type, const TensorShapeDynamism dynamism,
                          std::function<void(void*)> deleter, Device device) {
  checked_numel(sizes);
  complete_layout(sizes, dim_order, strides);
  return internal::make_of_layout(std::move(sizes), std::move(dim_order), std::move(strides), data,
                                  type, dynamism, std::move(deleter), device);
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, std::vector<uint8_t> data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          ScalarType type, TensorShapeDynamism dynamism) {
  const size_t element_size = executorch::runtime::elementSize(type);
  const size_t count = checked_numel(sizes);
  ET_CHECK_MSG(data.size() % element_size == 0 && count == data.size() / element_size,
               "Expected %zu bytes of data, got %zu", count * element_size, data.size());
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(data));
  return make_tensor_ptr(std::move(sizes), owner->data(), std::move(dim_order), std::move(strides),
                         type, dynamism, keep_alive(owner));
}

TensorPtr make_tensor_ptr(const Tensor& tensor, std::vector<SizesType> sizes,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          std::function<void(void*)> deleter) {
  if (sizes.empty()) {
    sizes = to_vector<SizesType>(tensor.sizes());
  }
  ET_CHECK_MSG(checked_numel(sizes) <= static_cast<size_t>(tensor.numel()),
               "Expected a view of at most %zd elements, got %zu",
               static_cast<ssize_t>(tensor.numel()), checked_numel(sizes));
  if (dim_order.empty() && strides.empty() && sizes.size() == static_cast<size_t>(tensor.dim())) {
    dim_order = dim_order_of(tensor);
  }
  return make_tensor_ptr(std::move(sizes), tensor.mutable_data_ptr(), std::move(dim_order),
                         std::move(strides), tensor.scalar_type(),
                         runtime::internal::shape_dynamism_of(tensor), std::move(deleter),
                         tensor.device());
}

TensorPtr clone_tensor_ptr(const Tensor& tensor, ScalarType type) {
  ET_CHECK_MSG(tensor.device().is_cpu(),
               "The tensor is not in the memory of the CPU: use clone_tensor_ptr_to");
  const auto count = static_cast<size_t>(tensor.numel());
  internal::OwnedData data = {nullptr, nullptr};
  if (tensor.const_data_ptr() != nullptr) {
    data = internal::convert_elements(tensor.const_data_ptr(), tensor.scalar_type(), type, count);
  }
  return make_tensor_ptr(to_vector<SizesType>(tensor.sizes()), data.data, dim_order_of(tensor), {},
                         type, runtime::internal::shape_dynamism_of(tensor),
                         keep_alive(std::move(data.owner)));
}

TensorPtr clone_tensor_ptr_to(const TensorPtr& tensor, Device target) {
  const Device source = tensor->device();
  ET_CHECK_MSG(source.is_cpu() != target.is_cpu(),
               "Expected one device to be the CPU, got a copy from device type %d to type %d: "
               "use clone_tensor_ptr, or copy by way of the CPU",
               static_cast<int>(source.type()), static_cast<int>(target.type()));
  ET_CHECK_MSG(tensor->const_data_ptr() != nullptr, "The tensor has no data to copy");
  const Device device = target.is_cpu() ? source : target;
  executorch::runtime::DeviceAllocator* allocator = executorch::runtime::get_device_allocator(
      static_cast<executorch::runtime::etensor::DeviceType>(device.type()));
  ET_CHECK_MSG(allocator != nullptr, "No allocator is registered for device type %d",
               static_cast<int>(device.type()));
  const size_t size = tensor->nbytes();
  void* data = nullptr;
  std::function<void(void*)> deleter;
  Error error = Error::Ok;
  if (target.is_cpu()) {
    std::shared_ptr<void> owner = allocate_bytes(size);
    data = owner.get();
    deleter = keep_alive(std::move(owner));
    error = allocator->copy_device_to_host(data, tensor->const_data_ptr(), size, source.index());
  } else {
    const auto allocated = allocator->allocate(size, target.index());
    ET_CHECK_MSG(allocated.ok(), "Device type %d has no %zu bytes", static_cast<int>(device.type()),
                 size);
    data = allocated.get();
    deleter = [allocator, target, data](void*) { allocator->deallocate(data, target.index()); };
    error = allocator->copy_host_to_device(data, tensor->const_data_ptr(), size, target.index());
  }
  ET_CHECK_MSG(error == Error::Ok, "Device type %d cannot copy %zu bytes",
               static_cast<int>(device.type()), size);
  return make_tensor_ptr(to_vector<SizesType>(tensor->sizes()), data, dim_order_of(*tensor), {},
                         tensor->scalar_type(), runtime::internal::shape_dynamism_of(*tensor),
                         std::move(deleter), target);
}

Error resize_tensor_ptr(TensorPtr& tensor, const std::vector<SizesType>& sizes) {
  return executorch::runtime::resize_tensor(
      *tensor, executorch::aten::ArrayRef<SizesType>(sizes.data(), sizes.size()));
}

}  // namespace executorch::extension
