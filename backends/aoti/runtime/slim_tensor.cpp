// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/slim_tensor.h>

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>

#include <algorithm>
#include <new>
#include <utility>

namespace executorch::backends::aoti {

using runtime::Elements;
using runtime::Error;
using runtime::Result;

namespace {

/// Bytes from the start of the memory to behind the last element.
Result<size_t> reach_of(const SlimTensor::Numbers& sizes, const std::vector<int64_t>& strides,
                        int64_t offset, size_t element_size) {
  int64_t last = offset;
  bool is_wrong = offset < 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    is_wrong |= strides[i] < 0 || sizes[i] < 0;
    if (sizes[i] == 0) {
      return is_wrong ? Result<size_t>(Error::InvalidArgument) : Result<size_t>(size_t{0});
    }
    is_wrong |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step);
    is_wrong |= __builtin_add_overflow(last, step, &last);
  }
  int64_t bytes = 0;
  is_wrong |= __builtin_add_overflow(last, 1, &last);
  is_wrong |= __builtin_mul_overflow(last, static_cast<int64_t>(element_size), &bytes);
  ET_CHECK_OR_RETURN_ERROR(!is_wrong, InvalidArgument,
                           "AOTInductor: a tensor of %zu dimensions at offset %" PRId64
                           ": sizes, strides or offset out of range",
                           sizes.size(), offset);
  return static_cast<size_t>(bytes);
}

/// Those given, or dense ones.
std::vector<int64_t> strides_of(const SlimTensor::Shape& shape) {
  if (shape.strides.size() == shape.sizes.size()) {
    return {shape.strides.begin(), shape.strides.end()};
  }
  std::vector<int64_t> strides(shape.sizes.size(), 1);
  for (size_t i = strides.size(); i > 1; --i) {
    const int64_t size = shape.sizes[i - 1] > 0 ? shape.sizes[i - 1] : 1;
    if (__builtin_mul_overflow(strides[i - 1], size, &strides[i - 2])) {
      strides[i - 2] = -1;  // refused with the others
    }
  }
  return strides;
}

Result<size_t> bytes_of(const SlimTensor::Shape& shape) {
  ET_CHECK_OR_RETURN_ERROR(
      shape.sizes.size() <= runtime::kTensorDimensionLimit && runtime::isValid(shape.dtype),
      InvalidArgument, "AOTInductor: a tensor of %zu dimensions and dtype %d", shape.sizes.size(),
      static_cast<int>(shape.dtype));
  return reach_of(shape.sizes, strides_of(shape), shape.offset, runtime::elementSize(shape.dtype));
}

bool is_on_cpu(const SlimTensor& tensor) {
  return tensor.place().type == DeviceType::CPU;
}

/// Whether all bytes of one are, in order, all bytes of the other, on one device.
bool is_dense_alike(const SlimTensor& from, const SlimTensor& to) {
  if (from.place().type != to.place().type || from.place().index != to.place().index) {
    return false;
  }
  if (from.is_contiguous() && to.is_contiguous()) {
    return true;
  }
  const auto reach = reach_of(from.sizes(), {from.strides().begin(), from.strides().end()}, 0, 1);
  return reach.ok() && *reach == static_cast<size_t>(from.numel()) && from.dim() == to.dim() &&
         std::equal(from.sizes().begin(), from.sizes().end(), to.sizes().begin()) &&
         std::equal(from.strides().begin(), from.strides().end(), to.strides().begin());
}

/// The same elements in memory of the CPU, strides and all.
Result<std::unique_ptr<SlimTensor>> on_cpu(const SlimTensor& tensor) {
  const size_t num_bytes = tensor.storage()->num_bytes();
  auto storage = ET_UNWRAP(Storage::allocate(num_bytes, {}));
  Device* device = ET_UNWRAP(find_device(tensor.place().type));
  ET_CHECK_OK_OR_RETURN_ERROR(device->copy_device_to_host(storage->data(), tensor.storage()->data(),
                                                          num_bytes, tensor.place().index));
  return SlimTensor::over(std::move(storage),
                          {tensor.sizes(), tensor.strides(), tensor.offset(), tensor.dtype()});
}

}  // namespace

Result<std::shared_ptr<Storage>> Storage::allocate(size_t num_bytes, Place place) {
  Device* device = ET_UNWRAP(find_device(place.type));
  void* data = ET_UNWRAP(device->allocate_queued(num_bytes, place.index));
  return std::shared_ptr<Storage>(new Storage(data, num_bytes, place, device));
}

std::shared_ptr<Storage> Storage::borrow(void* data, size_t num_bytes, Place place) {
  return std::shared_ptr<Storage>(new Storage(data, num_bytes, place, nullptr));
}

Storage::~Storage() {
  if (owner_ != nullptr) {
    owner_->deallocate_queued(data_, place_.index);
  }
}

Result<std::unique_ptr<SlimTensor>> SlimTensor::over(std::shared_ptr<Storage> storage,
                                                     const Shape& shape) {
  const size_t reach = ET_UNWRAP(bytes_of(shape));
  ET_CHECK_OR_RETURN_ERROR(reach <= storage->num_bytes(), InvalidArgument,
                           "AOTInductor: a tensor reaches to byte %zu of %zu", reach,
                           storage->num_bytes());
  std::unique_ptr<SlimTensor> made(new (std::nothrow) SlimTensor());
  ET_CHECK_OR_RETURN_ERROR(made != nullptr, MemoryAllocationFailed, "no memory for a tensor");
  made->storage_ = std::move(storage);
  made->sizes_.assign(shape.sizes.begin(), shape.sizes.end());
  made->strides_ = strides_of(shape);
  made->offset_ = shape.offset;
  made->dtype_ = shape.dtype;
  for (const int64_t size : shape.sizes) {
    made->numel_ *= size;
  }
  return made;
}

Result<std::unique_ptr<SlimTensor>> SlimTensor::empty(const Shape& shape, Place place) {
  return over(ET_UNWRAP(Storage::allocate(ET_UNWRAP(bytes_of(shape)), place)), shape);
}

Result<std::unique_ptr<SlimTensor>> SlimTensor::borrow(void* data, const Shape& shape,
                                                       Place place) {
  return over(Storage::borrow(data, ET_UNWRAP(bytes_of(shape)), place), shape);
}

void* SlimTensor::data() const {
  return static_cast<uint8_t*>(storage_->data()) +
         static_cast<size_t>(offset_) * runtime::elementSize(dtype_);
}

Elements SlimTensor::elements() const {
  Elements made;
  made.data = data();
  made.dtype = dtype_;
  made.rank = dim();
  std::copy(sizes_.begin(), sizes_.end(), made.sizes);
  std::copy(strides_.begin(), strides_.end(), made.strides);
  return made;
}

Error copy_tensor(const SlimTensor& from, const SlimTensor& to) {
  ET_CHECK_OR_RETURN_ERROR(
      from.numel() == to.numel() && from.dtype() == to.dtype(), InvalidArgument,
      "AOTInductor: expected %" PRId64 " elements of %s to copy, found %" PRId64 " of %s",
      to.numel(), runtime::toString(to.dtype()), from.numel(), runtime::toString(from.dtype()));
  if (from.numel() == 0) {
    return Error::Ok;
  }
  if (is_dense_alike(from, to)) {
    Device* device = ET_UNWRAP(find_device(to.place().type));
    return device->copy_within(to.data(), from.data(), from.elements().nbytes(), to.place().index);
  }
  if (!is_on_cpu(from)) {
    const auto copy = ET_UNWRAP(on_cpu(from));
    return copy_tensor(*copy, to);
  }
  if (!is_on_cpu(to)) {
    // What lies between its elements stays as it is.
    const auto copy = ET_UNWRAP(on_cpu(to));
    ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(from, *copy));
    Device* device = ET_UNWRAP(find_device(to.place().type));
    return device->copy_host_to_device(to.storage()->data(), copy->storage()->data(),
                                       to.storage()->num_bytes(), to.place().index);
  }
  if (from.data() == to.data() && from.elements().is_same_memory(to.elements())) {
    return Error::Ok;
  }
  return runtime::copy_elements("AOTInductor: copy", from.elements(), to.elements());
}

}  // namespace executorch::backends::aoti
