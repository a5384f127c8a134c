// SPDX-License-Identifier: BSD-3-Clause
// Resolving the dimensions of reductions and laying out their loops.
#include <executorch/kernels/portable/loops/reduction.h>

#include <cinttypes>

namespace executorch {
namespace kernels {

bool make_reduction(const OpCall& call, const Tensor& in,
                    const executorch::aten::OptionalArrayRef<int64_t>& dims, bool keepdim,
                    Reduction& reduction) {
  const bool all = !dims.has_value() || dims->empty();
  const int rank = static_cast<int>(in.dim());
  for (int d = 0; all && d < rank; ++d) {
    reduction.reduced[d] = true;
  }
  for (size_t i = 0; !all && i < dims->size(); ++i) {
    int64_t dim = (*dims)[i];
    if (!normalize_dim(call, "dim", rank, dim)) {
      return false;
    }
    ET_KERNEL_CHECK_MSG(call.ctx, !reduction.reduced[dim], InvalidArgument, false,
                        "%s: expected different dims, found %" PRId64 " twice in dim", call.op,
                        dim);
    reduction.reduced[dim] = true;
  }
  reduction.keepdim = keepdim;
  for (int d = 0; d < rank; ++d) {
    if (!reduction.reduced[d]) {
      reduction.shape.push(in.sizes()[d]);
      continue;
    }
    reduction.count *= in.sizes()[d];
    if (keepdim) {
      reduction.shape.push(1);
    }
  }
  return true;
}

int64_t DimGroup::numel() const {
  int64_t count = 1;
  for (int d = 0; d < ndim; ++d) {
    count *= sizes[d];
  }
  return count;
}

namespace {

void sort_by_stride(DimGroup& group) {
  for (int i = 1; i < group.ndim; ++i) {
    for (int k = i; k > 0 && group.in[k - 1] < group.in[k]; --k) {
      std::swap(group.in[k - 1], group.in[k]);
      std::swap(group.out[k - 1], group.out[k]);
      std::swap(group.sizes[k - 1], group.sizes[k]);
    }
  }
}

void merge(DimGroup& group) {
  int kept = 0;
  for (int d = 0; d < group.ndim; ++d) {
    if (group.sizes[d] == 1) {
      continue;
    }
    const int last = kept - 1;
    if (kept > 0 && group.in[last] == group.in[d] * group.sizes[d] &&
        group.out[last] == group.out[d] * group.sizes[d]) {
      group.sizes[last] *= group.sizes[d];
      group.in[last] = group.in[d];
      group.out[last] = group.out[d];
      continue;
    }
    group.sizes[kept] = group.sizes[d];
    group.in[kept] = group.in[d];
    group.out[kept++] = group.out[d];
  }
  group.ndim = kept;
}

}  // namespace

ReductionLoops::ReductionLoops(const Tensor& in, const Tensor& out, const Reduction& reduction,
                               bool ordered)
    : data_(static_cast<const char*>(in.const_data_ptr())),
      element_size_(in.element_size()),
      type_(in.scalar_type()) {
  int out_dim = 0;
  for (int d = 0; d < in.dim(); ++d) {
    const bool gone = reduction.reduced[d];
    DimGroup& group = gone ? reduced_ : kept_;
    group.sizes[group.ndim] = in.sizes()[d];
    group.in[group.ndim] = in.strides()[d];
    group.out[group.ndim++] = gone ? 0 : out.strides()[out_dim];
    out_dim += !gone || reduction.keepdim ? 1 : 0;
  }
  if (!ordered) {
    sort_by_stride(reduced_);
  }
  // A reduced dimension has no stride in the output, so merging asks about the input only.
  merge(reduced_);
  merge(kept_);
  if (reduced_.ndim == 0) {
    reduced_.ndim = 1;
    reduced_.sizes[0] = 1;
    reduced_.in[0] = 1;
    reduced_.out[0] = 0;
  }
  for (int d = 0; d < kept_.ndim; ++d) {
    const bool dense = kept_.in[d] == 1 && kept_.sizes[d] >= 8;
    lane_ = dense && reduced_.in[reduced_.ndim - 1] != 1 ? d : lane_;
  }
}

}  // namespace kernels
}  // namespace executorch
