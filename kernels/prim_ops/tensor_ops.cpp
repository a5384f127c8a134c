// SPDX-License-Identifier: BSD-3-Clause
// Data movement of loops (et_copy_index) and views (et_view).
#include <cinttypes>
#include <cstring>

#include <executorch/kernels/prim_ops/prim_ops.h>
#include <executorch/kernels/prim_ops/scalar_ops.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

namespace torch::executor::function {
namespace {

using executorch::aten::ArrayRef;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::prim_ops::check_count;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

constexpr ssize_t kMaxRank = 16;

bool is_contiguous(const Tensor& tensor) {
  executorch::runtime::internal::DimOrderRoom room;
  return executorch::runtime::is_contiguous_dim_order(
      executorch::runtime::internal::dim_order_of(tensor, room).data(),
      static_cast<size_t>(tensor.dim()));
}

Error copy_index(const Tensor& copy_to, const Tensor& copy_from, int64_t index) {
  ET_CHECK_OR_RETURN_ERROR(index >= 0 && index < INT32_MAX, InvalidArgument,
                           "et_copy_index: index %" PRId64, index);
  ET_CHECK_OR_RETURN_ERROR(copy_to.scalar_type() == copy_from.scalar_type(), InvalidArgument,
                           "et_copy_index: element types %d and %d differ",
                           static_cast<int>(copy_to.scalar_type()),
                           static_cast<int>(copy_from.scalar_type()));
  ET_CHECK_OR_RETURN_ERROR(
      copy_to.dim() == copy_from.dim() + 1 && copy_to.dim() <= kMaxRank, InvalidArgument,
      "et_copy_index: expected a tensor of %zd dimensions, got %zd",
      static_cast<ssize_t>(copy_to.dim() - 1), static_cast<ssize_t>(copy_from.dim()));
  ET_CHECK_OR_RETURN_ERROR(is_contiguous(copy_to) && is_contiguous(copy_from), InvalidArgument,
                           "et_copy_index: the dim order is not contiguous");
  SizesType sizes[kMaxRank];
  sizes[0] = static_cast<SizesType>(index + 1);
  for (ssize_t i = 0; i < copy_from.dim(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(copy_to.size(i + 1) == copy_from.size(i), InvalidArgument,
                             "et_copy_index: size %zd of dimension %zd, expected %zd",
                             static_cast<ssize_t>(copy_from.size(i)), i,
                             static_cast<ssize_t>(copy_to.size(i + 1)));
    sizes[i + 1] = static_cast<SizesType>(copy_from.size(i));
  }
  // The capacity of copy_to bounds the index.
  ET_CHECK_OK_OR_RETURN_ERROR(executorch::runtime::resize_tensor(
      copy_to, ArrayRef<SizesType>(sizes, static_cast<size_t>(copy_to.dim()))));
  const size_t nbytes = copy_from.nbytes();
  if (nbytes == 0) {
    return Error::Ok;
  }
  auto* target = static_cast<uint8_t*>(copy_to.mutable_data_ptr());
  const void* source = copy_from.const_data_ptr();
  ET_CHECK_OR_RETURN_ERROR(target != nullptr && source != nullptr, InvalidState,
                           "et_copy_index: a tensor has no memory");
  std::memmove(target + static_cast<size_t>(index) * nbytes, source, nbytes);
  return Error::Ok;
}

// Writes the sizes of the view, with a -1 replaced by what is left.
Error view_sizes(const Tensor& self, ArrayRef<int64_t> size, SizesType* out) {
  const int64_t numel = self.numel();
  int64_t product = 1;
  ssize_t inferred = -1;
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == -1 && inferred < 0) {
      inferred = static_cast<ssize_t>(i);
      continue;
    }
    // Sizes that are not zero multiply to at most numel, or the view does not fit.
    ET_CHECK_OR_RETURN_ERROR(
        size[i] >= 0 && size[i] <= INT32_MAX && (size[i] == 0 || product <= INT64_MAX / size[i]),
        InvalidArgument, "et_view: size %" PRId64 " of dimension %zu",
        static_cast<int64_t>(size[i]), i);
    product *= size[i];
    out[i] = static_cast<SizesType>(size[i]);
  }
  if (inferred >= 0) {
    ET_CHECK_OR_RETURN_ERROR(product != 0 && numel % product == 0 && numel / product <= INT32_MAX,
                             InvalidArgument,
                             "et_view: %" PRId64 " elements do not give a size for -1", numel);
    out[inferred] = static_cast<SizesType>(numel / product);
    product = numel;
  }
  ET_CHECK_OR_RETURN_ERROR(product == numel, InvalidArgument,
                           "et_view: a view of %" PRId64 " elements as %" PRId64, numel,
                           static_cast<int64_t>(product));
  return Error::Ok;
}

Error make_view(const Tensor& self, ArrayRef<int64_t> size, const Tensor& out) {
  ET_CHECK_OR_RETURN_ERROR(self.scalar_type() == out.scalar_type(), InvalidArgument,
                           "et_view: element types %d and %d differ",
                           static_cast<int>(self.scalar_type()),
                           static_cast<int>(out.scalar_type()));
  ET_CHECK_OR_RETURN_ERROR(
      size.size() <= static_cast<size_t>(kMaxRank) && size.size() == static_cast<size_t>(out.dim()),
      InvalidArgument, "et_view: %zu sizes for an output of %zd dimensions", size.size(),
      static_cast<ssize_t>(out.dim()));
  ET_CHECK_OR_RETURN_ERROR(is_contiguous(self) && is_contiguous(out), InvalidArgument,
                           "et_view: the dim order is not contiguous");
  SizesType sizes[kMaxRank];
  ET_CHECK_OK_OR_RETURN_ERROR(view_sizes(self, size, sizes));
  ET_CHECK_OK_OR_RETURN_ERROR(
      executorch::runtime::resize_tensor(out, ArrayRef<SizesType>(sizes, size.size())));
  void* data = const_cast<void*>(self.const_data_ptr());
  ET_CHECK_OR_RETURN_ERROR(data != nullptr || self.numel() == 0, InvalidState,
                           "et_view: the tensor has no memory");
  executorch::runtime::internal::set_data(out, data);
  return Error::Ok;
}

void finish(KernelRuntimeContext& context, Error error) {
  if (error != Error::Ok) {
    context.fail(error);
  }
}

}  // namespace

void et_copy_index(KernelRuntimeContext& context, Span<EValue*> args) {
  if (!check_count(context, args, 3)) {
    return;
  }
  if (!args[0]->isTensor() || !args[1]->isTensor() || !args[2]->isInt()) {
    ET_LOG(Error, "et_copy_index: expected Tensor, Tensor, Int");
    context.fail(Error::InvalidType);
    return;
  }
  finish(context, copy_index(args[0]->toTensor(), args[1]->toTensor(), args[2]->toInt()));
}

void et_view(KernelRuntimeContext& context, Span<EValue*> args) {
  if (!check_count(context, args, 3)) {
    return;
  }
  if (!args[0]->isTensor() || !args[1]->isIntList() || !args[2]->isTensor()) {
    ET_LOG(Error, "et_view: expected Tensor, list of Int, Tensor");
    context.fail(Error::InvalidType);
    return;
  }
  const auto size = args[1]->tryToIntList();
  if (!size.ok()) {
    context.fail(size.error());
    return;
  }
  finish(context, make_view(args[0]->toTensor(), *size, args[2]->toTensor()));
}

}  // namespace torch::executor::function
