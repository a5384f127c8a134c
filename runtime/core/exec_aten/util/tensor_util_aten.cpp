// SPDX-License-Identifier: BSD-3-Clause
// ATen mode's tensor_util_portable.cpp. Each tensor of the runtime has a storage of its own, which
// owns no memory: its bytes are the tensor's capacity. PyTorch refuses to grow it.
#include <algorithm>
#include <numeric>
#include <vector>

#include <c10/core/TensorOptions.h>

#include <executorch/runtime/core/exec_aten/util/aten_tensor.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch {
namespace runtime {
namespace internal {

using executorch::aten::ArrayRef;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

c10::StorageImpl& storage_of(const TensorImpl& impl) {
  return *impl.unsafe_storage().unsafeGetStorageImpl();
}

// The dimensions by falling stride; of equal strides the first one is the outer one.
Span<const DimOrderType> order_by_stride(ArrayRef<StridesType> strides, DimOrderRoom& room) {
  const size_t rank = std::min(strides.size(), room.size());
  std::iota(room.begin(), room.begin() + rank, DimOrderType(0));
  std::stable_sort(room.begin(), room.begin() + rank,
                   [&](DimOrderType a, DimOrderType b) { return strides[a] > strides[b]; });
  return {room.data(), rank};
}

void set_sizes(TensorImpl* impl, ArrayRef<SizesType> sizes, Span<const DimOrderType> dim_order) {
  std::array<StridesType, kTensorDimensionLimit> strides{};
  dim_order_to_stride_nocheck(sizes.data(), dim_order.data(), sizes.size(), strides.data());
  impl->set_sizes_and_strides(sizes, {strides.data(), sizes.size()});
}

size_t num_bytes(const TensorImpl& impl, ArrayRef<SizesType> sizes) {
  return static_cast<size_t>(
             executorch::aten::compute_numel(sizes.data(), static_cast<ssize_t>(sizes.size()))) *
         impl.itemsize();
}

}  // namespace

Tensor make_aten_tensor(ScalarType type, ArrayRef<SizesType> sizes, ArrayRef<StridesType> strides,
                        void* data, size_t nbytes, c10::Device device) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), nbytes, at::DataPtr(data, device),
                       /*allocator=*/nullptr, /*resizable=*/false);
  Tensor tensor = at::detail::make_tensor<TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::computeDispatchKey(type, std::nullopt, device)),
      c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

// Of several orders that fit the strides, contiguous before channels last before any other.
Span<const DimOrderType> dim_order_of(const Tensor& tensor, DimOrderRoom& room) {
  const size_t rank = std::min(static_cast<size_t>(tensor.dim()), room.size());
  std::iota(room.begin(), room.begin() + rank, DimOrderType(0));
  if (tensor.is_contiguous()) {
    return {room.data(), rank};
  }
  const auto channels_last =
      rank == 5 ? c10::MemoryFormat::ChannelsLast3d : c10::MemoryFormat::ChannelsLast;
  if ((rank == 4 || rank == 5) && tensor.is_contiguous(channels_last)) {
    std::rotate(room.begin() + 1, room.begin() + 2, room.begin() + rank);
    return {room.data(), rank};
  }
  return order_by_stride(tensor.strides(), room);
}

TensorShapeDynamism shape_dynamism_of(const Tensor&) {
  return TensorShapeDynamism::DYNAMIC_BOUND;
}

Error resize_tensor_impl(TensorImpl* impl, ArrayRef<SizesType> new_sizes) {
  ET_CHECK_OR_RETURN_ERROR(
      new_sizes.size() == static_cast<size_t>(impl->dim()), NotSupported,
      "Attempted to change the tensor rank which is immutable: old=%zd, new=%zu",
      static_cast<ssize_t>(impl->dim()), new_sizes.size());
  if (new_sizes.equals(impl->sizes())) {
    return Error::Ok;
  }
  const auto numel =
      executorch::aten::safe_numel(new_sizes.data(), static_cast<ssize_t>(new_sizes.size()));
  if (!numel.ok()) {
    return numel.error();
  }
  const size_t capacity = storage_of(*impl).nbytes() / impl->itemsize();
  ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(*numel) <= capacity, NotSupported,
                           "Attempted to resize a bounded tensor with a maximum capacity of %zu "
                           "elements to %zu elements",
                           capacity, static_cast<size_t>(*numel));
  DimOrderRoom room;
  set_sizes(impl, new_sizes, order_by_stride(impl->strides(), room));
  return Error::Ok;
}

void rebind_tensor(const Tensor& tensor, ArrayRef<SizesType> sizes,
                   Span<const DimOrderType> dim_order, void* data) {
  TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const std::vector<SizesType> own(sizes.begin(), sizes.end());  // `sizes` may be the tensor's
  storage_of(*impl).set_nbytes(num_bytes(*impl, own));
  set_sizes(impl, own, dim_order);
  set_data(tensor, data);
}

void set_data(const Tensor& tensor, void* data) {
  storage_of(*tensor.unsafeGetTensorImpl()).set_data_ptr_noswap(at::DataPtr(data, tensor.device()));
}

BorrowedTensor::BorrowedTensor(ScalarType type, size_t rank, SizesType* sizes, void* data,
                               DimOrderType* /*dim_order*/, StridesType* strides,
                               TensorShapeDynamism /*dynamism*/)
    : held_(make_aten_tensor(
          type, {sizes, rank}, {strides, rank}, data,
          static_cast<size_t>(executorch::aten::compute_numel(sizes, static_cast<ssize_t>(rank))) *
              elementSize(type),
          c10::DeviceType::CPU)) {}

Tensor BorrowedTensor::get() {
  return held_;
}

}  // namespace internal
}  // namespace runtime
}  // namespace executorch
