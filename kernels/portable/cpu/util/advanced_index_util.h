// SPDX-License-Identifier: BSD-3-Clause
// Indexing by tensors, as in x[i, :, mask]: what the indices select and which shape comes out. A
// mask stands for as many dimensions as it has; a missing index selects all.
#pragma once

#include <optional>

#include <executorch/kernels/portable/cpu/util/broadcast_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {

using TensorOptList = ArrayRef<std::optional<Tensor>>;

namespace internal {
inline bool is_mask_index(const Tensor& index) {
  return index.scalar_type() == ScalarType::Bool || index.scalar_type() == ScalarType::Byte;
}
/// Dimensions of the input that an index stands for.
inline size_t dims_of_index(const std::optional<Tensor>& index) {
  return index.has_value() && is_mask_index(*index) ? static_cast<size_t>(index->dim()) : 1;
}
}  // namespace internal

/// Elements of a mask that are set.
inline size_t count_trues_in_mask_index(const Tensor& index) {
  const bool* const data = static_cast<const bool*>(index.const_data_ptr());
  size_t count = 0;
  for (ssize_t i = 0; i < index.numel(); ++i) {
    count += reinterpret_cast<const uint8_t*>(data)[i] != 0;
  }
  return count;
}

inline size_t get_num_indexed_dims(TensorOptList indices) {
  size_t count = 0;
  for (const auto& index : indices) {
    count += index.has_value() ? internal::dims_of_index(index) : 0;
  }
  return count;
}
inline size_t get_num_null_indices(TensorOptList indices) {
  size_t count = 0;
  for (const auto& index : indices) {
    count += !index.has_value();
  }
  return count;
}
inline size_t get_num_leading_null_indices(TensorOptList indices) {
  size_t first = 0;
  while (first < indices.size() && !indices[first].has_value()) {
    ++first;
  }
  return first;
}

/// Runs of indices next to each other: 1 means that the result's dimensions stay in place.
inline size_t count_index_blocks(TensorOptList indices) {
  size_t blocks = 0;
  bool is_inside = false;
  for (const auto& index : indices) {
    blocks += index.has_value() && !is_inside;
    is_inside = index.has_value();
  }
  return blocks;
}

/// The shape that all indices broadcast to; a mask counts as a line of its set elements. False when
/// there is none.
inline bool get_indices_broadcast_shape(TensorOptList indices, Tensor::SizesType* ix_sizes,
                                        size_t* ix_ndim) {
  *ix_ndim = 0;
  for (const auto& index : indices) {
    if (!index.has_value()) {
      continue;
    }
    Tensor::SizesType line = 0;
    ArrayRef<Tensor::SizesType> sizes = index->sizes();
    if (internal::is_mask_index(*index)) {
      line = static_cast<Tensor::SizesType>(count_trues_in_mask_index(*index));
      sizes = {&line, 1};
    }
    Tensor::SizesType common[kTensorDimensionLimit];
    size_t rank = 0;
    if (get_broadcast_target_size(sizes, {ix_sizes, *ix_ndim}, common, kTensorDimensionLimit,
                                  &rank) != Error::Ok) {
      return false;
    }
    std::copy(common, common + rank, ix_sizes);
    *ix_ndim = rank;
  }
  return true;
}
inline size_t get_indices_broadcast_ndim(TensorOptList indices) {
  size_t rank = 0;
  for (const auto& index : indices) {
    if (index.has_value()) {
      const size_t own = internal::is_mask_index(*index) ? 1 : static_cast<size_t>(index->dim());
      rank = own > rank ? own : rank;
    }
  }
  return rank;
}

/// Types, masks' shapes, and every number of an index: negative ones count from the end.
inline bool check_index_args(const Tensor& in, TensorOptList indices, Tensor& out) {
  if (!tensors_have_same_dtype(in, out)) {
    return false;
  }
  ssize_t dim = 0;
  for (const auto& index : indices) {
    const ssize_t width = static_cast<ssize_t>(internal::dims_of_index(index));
    ET_CHECK_OR_RETURN_FALSE(dim + width <= in.dim(), "indices of more than %zd dimensions",
                             ssize_t(in.dim()));
    if (index.has_value() && internal::is_mask_index(*index)) {
      for (ssize_t d = 0; d < width; ++d) {
        ET_CHECK_OR_RETURN_FALSE(index->size(d) == in.size(dim + d),
                                 "a mask of %zd on a dimension of %zd", ssize_t(index->size(d)),
                                 ssize_t(in.size(dim + d)));
      }
    } else if (index.has_value()) {
      ET_CHECK_OR_RETURN_FALSE(
          index->scalar_type() == ScalarType::Long || index->scalar_type() == ScalarType::Int,
          "an index of type %s", toString(index->scalar_type()));
      for (ssize_t i = 0; i < index->numel(); ++i) {
        const int64_t found = index->scalar_type() == ScalarType::Long
                                  ? index->const_data_ptr<int64_t>()[i]
                                  : index->const_data_ptr<int32_t>()[i];
        if (!tensor_dim_has_index(in, dim, found)) {
          return false;
        }
      }
    }
    dim += width;
  }
  Tensor::SizesType sizes[kTensorDimensionLimit];
  size_t rank = 0;
  return get_indices_broadcast_shape(indices, sizes, &rank);
}

/// The result's sizes: the common shape in the place of the indices that stand together, else in
/// front. False when there are too many dimensions or no common shape.
inline bool get_index_out_target_size(const Tensor& in, TensorOptList indices, bool adjacent,
                                      Tensor::SizesType* out_sizes, size_t* out_ndim) {
  Tensor::SizesType common[kTensorDimensionLimit];
  size_t rank = 0;
  if (!get_indices_broadcast_shape(indices, common, &rank)) {
    return false;
  }
  const size_t indexed = get_num_indexed_dims(indices);
  ET_CHECK_OR_RETURN_FALSE(
      indexed <= static_cast<size_t>(in.dim()) &&
          static_cast<size_t>(in.dim()) - indexed + rank <= kTensorDimensionLimit,
      "%zu dimensions of %zd are indexed, by %zu", indexed, ssize_t(in.dim()), rank);
  const size_t place = adjacent ? get_num_leading_null_indices(indices) : 0;
  *out_ndim = 0;
  const auto put_common = [&] {
    for (size_t d = 0; d < rank; ++d) {
      out_sizes[(*out_ndim)++] = common[d];
    }
  };
  ssize_t dim = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i == place) {
      put_common();
    }
    if (!indices[i].has_value()) {
      out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(in.size(dim));
    }
    dim += static_cast<ssize_t>(internal::dims_of_index(indices[i]));
  }
  if (place >= indices.size()) {
    put_common();
  }
  for (; dim < in.dim(); ++dim) {
    out_sizes[(*out_ndim)++] = static_cast<Tensor::SizesType>(in.size(dim));
  }
  return true;
}

/// dim_map[d]: where dimension d of the input stands in the output, -1 for indexed ones.
inline void compute_dim_map(const Tensor& in, TensorOptList indices, int32_t* dim_map,
                            bool adjacent) {
  const int32_t rank = static_cast<int32_t>(get_indices_broadcast_ndim(indices));
  const size_t place = adjacent ? get_num_leading_null_indices(indices) : 0;
  ssize_t dim = 0;
  int32_t to = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i == place) {
      to += rank;
    }
    if (indices[i].has_value()) {
      for (size_t k = 0; k < internal::dims_of_index(indices[i]); ++k) {
        dim_map[dim++] = -1;
      }
    } else {
      dim_map[dim++] = to++;
    }
  }
  if (place >= indices.size()) {
    to += rank;
  }
  while (dim < in.dim()) {
    dim_map[dim++] = to++;
  }
}

/// ix_map[d]: which index serves dimension d of the input, -1 for none.
inline void compute_index_map(const Tensor& in, TensorOptList indices, int32_t* ix_map) {
  ssize_t dim = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    for (size_t k = 0; k < internal::dims_of_index(indices[i]); ++k) {
      ix_map[dim++] = indices[i].has_value() ? static_cast<int32_t>(i) : -1;
    }
  }
  while (dim < in.dim()) {
    ix_map[dim++] = -1;
  }
}

/// The input's coordinates of the output element at `out_coord`. `start` is the first of the
/// output's dimensions that the indices gave, `broadcast_ndim` how many they gave.
inline bool get_in_coord(const Tensor& in, TensorOptList indices, size_t start,
                         size_t broadcast_ndim, int32_t* dim_map, int32_t* ix_map,
                         size_t* out_coord, size_t* in_coord) {
  for (ssize_t d = 0; d < in.dim(); ++d) {
    if (dim_map[d] >= 0) {
      in_coord[d] = out_coord[dim_map[d]];
      continue;
    }
    const Tensor& index = *indices[static_cast<size_t>(ix_map[d])];
    if (internal::is_mask_index(index)) {
      // The n-th set element, its coordinate of this dimension of the mask.
      size_t left = out_coord[start + broadcast_ndim - 1];
      if (count_trues_in_mask_index(index) == 1) {
        left = 0;
      }
      const uint8_t* const set = static_cast<const uint8_t*>(index.const_data_ptr());
      ssize_t at = 0;
      for (;; ++at) {
        ET_CHECK_OR_RETURN_FALSE(at < index.numel(), "the mask has fewer elements set");
        if (set[at] != 0 && left-- == 0) {
          break;
        }
      }
      size_t coordinate[kTensorDimensionLimit];
      indexToCoordinate(index, static_cast<size_t>(at), coordinate);
      ssize_t first = d;
      while (first > 0 && ix_map[first - 1] == ix_map[d]) {
        --first;
      }
      in_coord[d] = coordinate[d - first];
      continue;
    }
    const size_t at = linearize_access_indexes({out_coord + start, broadcast_ndim},
                                               static_cast<ssize_t>(broadcast_ndim), index);
    const int64_t found = index.scalar_type() == ScalarType::Long
                              ? index.const_data_ptr<int64_t>()[at]
                              : index.const_data_ptr<int32_t>()[at];
    if (!tensor_dim_has_index(in, d, found)) {
      return false;
    }
    in_coord[d] = static_cast<size_t>(ET_NORMALIZE_IX(found, int64_t(in.size(d))));
  }
  return true;
}

/// The same as positions: (the input's, whether there is one).
inline std::pair<size_t, bool> get_in_ix(const Tensor& in, TensorOptList indices, Tensor& out,
                                         size_t out_ix, size_t start, size_t broadcast_ndim,
                                         int32_t* dim_map, int32_t* ix_map) {
  size_t out_coord[kTensorDimensionLimit];
  size_t in_coord[kTensorDimensionLimit];
  indexToCoordinate(out, out_ix, out_coord);
  const bool is_found =
      get_in_coord(in, indices, start, broadcast_ndim, dim_map, ix_map, out_coord, in_coord);
  return {is_found ? coordinateToIndex(in, in_coord) : 0, is_found};
}

}  // namespace executor
}  // namespace torch
