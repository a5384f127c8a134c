// SPDX-License-Identifier: BSD-3-Clause
// Broadcasting of shapes, and elementwise loops over tensors that broadcast.
#pragma once

#include <cstdlib>
#include <cstring>

#include <executorch/kernels/portable/cpu/util/broadcast_indexes_range.h>
#include <executorch/kernels/portable/cpu/util/delinearize_index.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch {
namespace executor {

/// Whether the first shape broadcasts to the second without changing it.
inline bool tensor_is_broadcastable_to(const ArrayRef<Tensor::SizesType> broadcast_from_shape,
                                       const ArrayRef<Tensor::SizesType> broadcast_to_shape) {
  if (broadcast_from_shape.size() > broadcast_to_shape.size()) {
    return false;
  }
  const size_t missing = broadcast_to_shape.size() - broadcast_from_shape.size();
  for (size_t i = 0; i < broadcast_from_shape.size(); ++i) {
    if (broadcast_from_shape[i] != broadcast_to_shape[missing + i] &&
        broadcast_from_shape[i] != 1) {
      return false;
    }
  }
  return true;
}
inline bool tensor_is_broadcastable_to(const Tensor& broadcast_from, const Tensor& broadcast_to) {
  return tensor_is_broadcastable_to(broadcast_from.sizes(), broadcast_to.sizes());
}

/// Whether both broadcast to a common shape.
inline bool tensors_are_broadcastable_between(const ArrayRef<Tensor::SizesType> a_shape,
                                              const ArrayRef<Tensor::SizesType> b_shape) {
  const size_t common = ET_MIN2(a_shape.size(), b_shape.size());
  for (size_t i = 1; i <= common; ++i) {
    const auto a = a_shape[a_shape.size() - i];
    const auto b = b_shape[b_shape.size() - i];
    if (a != b && a != 1 && b != 1) {
      return false;
    }
  }
  return true;
}
inline bool tensors_are_broadcastable_between(const Tensor& a, const Tensor& b) {
  return tensors_are_broadcastable_between(a.sizes(), b.sizes());
}

/// The common shape, written to `out_sizes`, which has room for `out_sizes_len`. InvalidArgument
/// when there is none or no room.
ET_NODISCARD inline Error get_broadcast_target_size(const ArrayRef<Tensor::SizesType> a_size,
                                                    const ArrayRef<Tensor::SizesType> b_size,
                                                    Tensor::SizesType* out_sizes,
                                                    const size_t out_sizes_len, size_t* out_dim) {
  ET_CHECK_OR_RETURN_ERROR(
      tensors_are_broadcastable_between(a_size, b_size), InvalidArgument,
      "shapes %s and %s do not broadcast",
      tensor_shape_to_c_string(
          ::executorch::runtime::Span<const Tensor::SizesType>(a_size.data(), a_size.size()))
          .data(),
      tensor_shape_to_c_string(
          ::executorch::runtime::Span<const Tensor::SizesType>(b_size.data(), b_size.size()))
          .data());
  const size_t dim = a_size.size() > b_size.size() ? a_size.size() : b_size.size();
  ET_CHECK_OR_RETURN_ERROR(dim <= out_sizes_len, InvalidArgument,
                           "room for %zu sizes of a shape of %zu", out_sizes_len, dim);
  for (size_t i = 1; i <= dim; ++i) {
    const auto a = i <= a_size.size() ? a_size[a_size.size() - i] : 1;
    const auto b = i <= b_size.size() ? b_size[b_size.size() - i] : 1;
    out_sizes[dim - i] = a == 1 ? b : a;
  }
  *out_dim = dim;
  return Error::Ok;
}
ET_NODISCARD inline Error get_broadcast_target_size(const Tensor& a, const Tensor& b,
                                                    Tensor::SizesType* out_sizes,
                                                    const size_t out_sizes_len, size_t* out_dim) {
  return get_broadcast_target_size(a.sizes(), b.sizes(), out_sizes, out_sizes_len, out_dim);
}

/// Gives `out` the common shape.
ET_NODISCARD inline Error resize_to_broadcast_target_size(const Tensor& a, const Tensor& b,
                                                          Tensor& out) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  size_t dim = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(get_broadcast_target_size(a, b, sizes, kTensorDimensionLimit, &dim));
  return resize_tensor(out, {sizes, dim});
}
ET_NODISCARD inline Error resize_to_broadcast_target_size(const Tensor& a, const Tensor& b,
                                                          const Tensor& c, Tensor& out) {
  Tensor::SizesType sizes_ab[kTensorDimensionLimit];
  Tensor::SizesType sizes[kTensorDimensionLimit];
  size_t dim_ab = 0;
  size_t dim = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(
      get_broadcast_target_size(a, b, sizes_ab, kTensorDimensionLimit, &dim_ab));
  ET_CHECK_OK_OR_RETURN_ERROR(
      get_broadcast_target_size(c.sizes(), {sizes_ab, dim_ab}, sizes, kTensorDimensionLimit, &dim));
  return resize_tensor(out, {sizes, dim});
}

/// The position in a tensor of `shape` and `strides` of the element that coordinates of the
/// broadcast shape stand for.
inline size_t linearize_access_indexes(ArrayRef<size_t> indexes_broadcast_to,
                                       ssize_t broadcast_to_ndim,
                                       ArrayRef<Tensor::SizesType> broadcast_from_shape,
                                       ArrayRef<Tensor::StridesType> broadcast_from_strides) {
  const size_t missing = static_cast<size_t>(broadcast_to_ndim) - broadcast_from_shape.size();
  ET_CHECK_MSG(broadcast_from_shape.size() <= static_cast<size_t>(broadcast_to_ndim) &&
                   broadcast_from_shape.size() == broadcast_from_strides.size() &&
                   indexes_broadcast_to.size() >= static_cast<size_t>(broadcast_to_ndim),
               "expected coordinates of %zd dimensions and a shape within them, found %zu and %zu",
               broadcast_to_ndim, indexes_broadcast_to.size(), broadcast_from_shape.size());
  size_t position = 0;
  for (size_t i = 0; i < broadcast_from_shape.size(); ++i) {
    if (broadcast_from_shape[i] != 1) {
      position +=
          indexes_broadcast_to[missing + i] * static_cast<size_t>(broadcast_from_strides[i]);
    }
  }
  return position;
}
inline size_t linearize_access_indexes(ArrayRef<size_t> indexes_broadcast_to,
                                       ssize_t broadcast_to_ndim, const Tensor& broadcast_from) {
  return linearize_access_indexes(indexes_broadcast_to, broadcast_to_ndim, broadcast_from.sizes(),
                                  broadcast_from.strides());
}

/// A new tensor: `broadcast_from` repeated to the other's shape, of its own type. The shapes must
/// agree. Give it back with free_broadcast_tensor().
ET_DEPRECATED inline Tensor broadcast_tensor(const Tensor& broadcast_from,
                                             const Tensor& broadcast_to) {
  ET_CHECK_MSG(tensor_is_broadcastable_to(broadcast_from, broadcast_to),
               "the tensor does not broadcast to the other's shape");
  const size_t rank = static_cast<size_t>(broadcast_to.dim());
  const size_t item = static_cast<size_t>(broadcast_from.element_size());
  const auto take = [](size_t size) {
    void* const memory = std::malloc(size == 0 ? 1 : size);
    ET_CHECK_MSG(memory != nullptr, "no memory for a broadcast tensor");
    return memory;
  };
  auto* sizes = static_cast<Tensor::SizesType*>(take(rank * sizeof(Tensor::SizesType)));
  auto* dim_order = static_cast<Tensor::DimOrderType*>(take(rank));
  auto* strides = static_cast<Tensor::StridesType*>(take(rank * sizeof(Tensor::StridesType)));
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = broadcast_to.sizes()[i];
    dim_order[i] = static_cast<Tensor::DimOrderType>(i);
  }
  dim_order_to_stride_nocheck(sizes, dim_order, rank, strides);
  char* data = static_cast<char*>(take(static_cast<size_t>(broadcast_to.numel()) * item));
  auto* impl = static_cast<TensorImpl*>(take(sizeof(TensorImpl)));
  const Tensor result(new (impl) TensorImpl(
      broadcast_from.scalar_type(), static_cast<ssize_t>(rank), sizes, data, dim_order, strides));
  const char* from = static_cast<const char*>(broadcast_from.const_data_ptr());
  for (const auto& [to_index, from_index] : BroadcastIndexesRange<1>(result, broadcast_from)) {
    std::memcpy(data + static_cast<size_t>(to_index) * item,
                from + static_cast<size_t>(from_index) * item, item);
  }
  return result;
}

ET_DEPRECATED inline void free_broadcast_tensor(const Tensor& broadcast_tensor) {
  std::free(const_cast<Tensor::SizesType*>(broadcast_tensor.sizes().data()));
  std::free(const_cast<Tensor::DimOrderType*>(broadcast_tensor.dim_order().data()));
  std::free(const_cast<Tensor::StridesType*>(broadcast_tensor.strides().data()));
  std::free(broadcast_tensor.mutable_data_ptr());
  std::free(broadcast_tensor.unsafeGetTensorImpl());
}

/// out[i] = compute(a[i], b[i]), both broadcast to out's shape.
template <typename CTYPE_A, typename CTYPE_B, typename CTYPE_OUT, typename Op>
inline void apply_binary_elementwise_fn(const Op& compute_fun, const Tensor& a, const Tensor& b,
                                        const Tensor& out) {
  const CTYPE_A* const data_a = a.const_data_ptr<CTYPE_A>();
  const CTYPE_B* const data_b = b.const_data_ptr<CTYPE_B>();
  CTYPE_OUT* const data_out = out.mutable_data_ptr<CTYPE_OUT>();
  for (const auto& [out_index, a_index, b_index] : BroadcastIndexesRange<2>(out, a, b)) {
    data_out[out_index] = compute_fun(data_a[a_index], data_b[b_index]);
  }
}

/// out[i] = compute(a[i], b[i], c[i]), all broadcast to out's shape.
template <typename CTYPE_A, typename CTYPE_B, typename CTYPE_C, typename CTYPE_OUT, typename Op>
inline void apply_ternary_elementwise_fn(const Op& compute_fun, const Tensor& a, const Tensor& b,
                                         const Tensor& c, const Tensor& out) {
  const CTYPE_A* const data_a = a.const_data_ptr<CTYPE_A>();
  const CTYPE_B* const data_b = b.const_data_ptr<CTYPE_B>();
  const CTYPE_C* const data_c = c.const_data_ptr<CTYPE_C>();
  CTYPE_OUT* const data_out = out.mutable_data_ptr<CTYPE_OUT>();
  for (const auto& [out_index, a_index, b_index, c_index] :
       BroadcastIndexesRange<3>(out, a, b, c)) {
    data_out[out_index] = compute_fun(data_a[a_index], data_b[b_index], data_c[c_index]);
  }
}

}  // namespace executor
}  // namespace torch
