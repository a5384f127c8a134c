// SPDX-License-Identifier: BSD-3-Clause
// Matrix multiplies and convolutions, which AOTInductor leaves to kernels, by those that are
// registered with the runtime. Operands that have gaps or another order of dimensions are copied,
// but for the transposed weight of a linear layer.
#include <executorch/backends/aoti/runtime/shims.h>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/platform_memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <array>
#include <optional>
#include <utility>

namespace executorch::backends::aoti {
namespace {

using aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;

/// A tensor as kernels take it, dense in the order of its dimensions, and what it lies in.
class Dense {
 public:
  /// A copy where it has gaps or is in another order.
  static Result<Dense> of(const SlimTensor& tensor) {
    if (tensor.is_contiguous()) {
      return Dense(nullptr, tensor);
    }
    auto copy = ET_UNWRAP(SlimTensor::empty({tensor.sizes(), {}, 0, tensor.dtype()}, {}));
    ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(tensor, *copy));
    const SlimTensor& view = *copy;
    return Dense(std::move(copy), view);
  }
  /// [k, n] as [n, k], when that is how it lies in memory.
  static std::optional<Dense> transposed(const SlimTensor& matrix) {
    const auto sizes = matrix.sizes(), strides = matrix.strides();
    if (sizes[0] < 2 || strides[0] != 1 || strides[1] != sizes[0]) {
      return std::nullopt;
    }
    Dense made(nullptr, matrix);
    std::swap(made.parts_->sizes[0], made.parts_->sizes[1]);
    made.parts_->make(2, matrix);
    return made;
  }

  EValue value() const { return EValue(Tensor(&*parts_->tensor)); }
  const SlimTensor* copy() const { return copy_.get(); }

 private:
  /// What a Tensor refers to.
  struct Parts {
    std::array<aten::SizesType, runtime::kTensorDimensionLimit> sizes{};
    std::array<aten::DimOrderType, runtime::kTensorDimensionLimit> order{};
    std::array<aten::StridesType, runtime::kTensorDimensionLimit> strides{};
    std::optional<aten::TensorImpl> tensor;

    void make(size_t rank, const SlimTensor& from) {
      int64_t stride = 1;
      for (size_t i = rank; i > 0; --i) {
        order[i - 1] = static_cast<aten::DimOrderType>(i - 1);
        strides[i - 1] = static_cast<aten::StridesType>(stride);
        stride *= sizes[i - 1] > 0 ? sizes[i - 1] : 1;
      }
      tensor.emplace(from.dtype(), static_cast<ssize_t>(rank), sizes.data(), from.data(),
                     order.data(), strides.data());
    }
  };

  Dense(std::unique_ptr<SlimTensor> copy, const SlimTensor& view)
      : copy_(std::move(copy)), parts_(std::make_unique<Parts>()) {
    for (size_t i = 0; i < view.dim(); ++i) {
      parts_->sizes[i] = static_cast<aten::SizesType>(view.sizes()[i]);
    }
    parts_->make(view.dim(), view);
  }

  std::unique_ptr<SlimTensor> copy_;
  std::unique_ptr<Parts> parts_;
};

/// Runs a registered kernel on `values`, whose last one is its out. The result, as kernels return
/// it, is one more.
template <size_t kCount>
Error call(const char* name, std::array<EValue, kCount> values) {
  const auto kernel = runtime::get_op_function_from_registry(name);
  ET_CHECK_OR_RETURN_ERROR(kernel.ok(), OperatorMissing,
                           "AOTInductor: a compiled method calls %s: link a library of kernels "
                           "that has it",
                           name);
  std::array<EValue*, kCount + 1> pointers;
  for (size_t i = 0; i < kCount; ++i) {
    pointers[i] = &values[i];
  }
  EValue result = values[kCount - 1];
  pointers[kCount] = &result;
  runtime::internal::PlatformMemoryAllocator memory;
  runtime::KernelRuntimeContext context(nullptr, &memory);
  (*kernel)(context, {pointers.data(), pointers.size()});
  return context.failure_state();
}

Error copy_back(const Dense& result, const SlimTensor& out) {
  return result.copy() == nullptr ? Error::Ok : copy_tensor(*result.copy(), out);
}

/// out = x @ matrix, and `bias` with its factors where there is one.
Error multiply(const SlimTensor& x, const SlimTensor& matrix, const SlimTensor* bias, double beta,
               double alpha, const SlimTensor& out) {
  const Dense left = ET_UNWRAP(Dense::of(x))
  , result = ET_UNWRAP(Dense::of(out));
  std::optional<Dense> added;
  if (bias != nullptr) {
    added = ET_UNWRAP(Dense::of(*bias));
  }
  const bool is_plain = bias == nullptr || (bias->dim() == 1 && beta == 1 && alpha == 1);
  std::optional<Dense> weight = is_plain ? Dense::transposed(matrix) : std::nullopt;
  if (weight.has_value()) {
    const EValue offset = added.has_value() ? added->value() : EValue();
    ET_CHECK_OK_OR_RETURN_ERROR(
        call<4>("aten::linear.out", {left.value(), weight->value(), offset, result.value()}));
    return copy_back(result, out);
  }
  const Dense right = ET_UNWRAP(Dense::of(matrix));
  if (added.has_value()) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        call<6>("aten::addmm.out", {added->value(), left.value(), right.value(), EValue(beta),
                                    EValue(alpha), result.value()}));
  } else {
    ET_CHECK_OK_OR_RETURN_ERROR(
        call<3>("aten::mm.out", {left.value(), right.value(), result.value()}));
  }
  return copy_back(result, out);
}

Error multiply_batches(const SlimTensor& a, const SlimTensor& b, const SlimTensor& out) {
  const Dense left = ET_UNWRAP(Dense::of(a))
  , right = ET_UNWRAP(Dense::of(b))
  , result = ET_UNWRAP(Dense::of(out));
  ET_CHECK_OK_OR_RETURN_ERROR(
      call<3>("aten::bmm.out", {left.value(), right.value(), result.value()}));
  return copy_back(result, out);
}

struct Convolution {
  SlimTensor::Numbers stride, padding, dilation, output_padding;
  bool is_transposed = false;
  int64_t groups = 1;
};

/// PyTorch's rule: compiled code takes for granted that the result has this layout when an operand
/// has it.
bool is_channels_last(const SlimTensor& tensor) {
  if (tensor.dim() != 4 || tensor.strides()[1] == 0) {
    return false;
  }
  int64_t least = 0;
  for (const size_t dim : {1, 3, 2, 0}) {
    const int64_t size = tensor.sizes()[dim], stride = tensor.strides()[dim];
    if (size == 0 || stride < least || (dim == 0 && least == tensor.strides()[1])) {
      return false;
    }
    least = stride * (size > 1 ? size : 1);
  }
  return true;
}

/// Sizes of the result: batch, channels, and each dimension of the window.
Result<std::vector<int64_t>> sizes_of(const SlimTensor& x, const SlimTensor& weight,
                                      const Convolution& how) {
  const size_t rank = x.dim();
  ET_CHECK_OR_RETURN_ERROR(
      rank >= 3 && weight.dim() == rank && how.stride.size() == rank - 2 &&
          how.padding.size() == rank - 2 && how.dilation.size() == rank - 2 &&
          how.output_padding.size() == rank - 2,
      InvalidArgument,
      "aoti_torch_cpu_convolution: input of %zu dimensions, weight of %zu, %zu strides", rank,
      weight.dim(), how.stride.size());
  std::vector<int64_t> sizes = {
      x.sizes()[0], how.is_transposed ? weight.sizes()[1] * how.groups : weight.sizes()[0]};
  for (size_t i = 0; i < rank - 2; ++i) {
    const int64_t in = x.sizes()[i + 2], reach = how.dilation[i] * (weight.sizes()[i + 2] - 1);
    ET_CHECK_OR_RETURN_ERROR(how.stride[i] > 0, InvalidArgument,
                             "aoti_torch_cpu_convolution: a stride of %" PRId64, how.stride[i]);
    sizes.push_back(how.is_transposed ? (in - 1) * how.stride[i] - 2 * how.padding[i] + reach +
                                            how.output_padding[i] + 1
                                      : (in + 2 * how.padding[i] - reach - 1) / how.stride[i] + 1);
  }
  return sizes;
}

/// Numbers as a kernel takes them.
class IntList {
 public:
  explicit IntList(SlimTensor::Numbers numbers)
      : values_(numbers.begin(), numbers.end()), unwrapped_(numbers.size()) {
    for (EValue& value : values_) {
      pointers_.push_back(&value);
    }
    list_.emplace(pointers_.data(), unwrapped_.data(), static_cast<int>(pointers_.size()));
  }
  EValue value() { return EValue(&*list_); }

 private:
  std::vector<EValue> values_;
  std::vector<EValue*> pointers_;
  std::vector<int64_t> unwrapped_;
  std::optional<runtime::BoxedEvalueList<int64_t>> list_;
};

Result<std::unique_ptr<SlimTensor>> convolve(const SlimTensor& x, const SlimTensor& weight,
                                             const SlimTensor* bias, const Convolution& how) {
  const auto sizes = ET_UNWRAP(sizes_of(x, weight, how));
  const SlimTensor::Numbers as_numbers = {sizes.data(), sizes.size()};
  auto out = ET_UNWRAP(SlimTensor::empty({as_numbers, {}, 0, x.dtype()}, {}));
  const Dense input = ET_UNWRAP(Dense::of(x))
  , filter = ET_UNWRAP(Dense::of(weight))
  , result = ET_UNWRAP(Dense::of(*out));
  std::optional<Dense> added;
  if (bias != nullptr) {
    added = ET_UNWRAP(Dense::of(*bias));
  }
  IntList stride(how.stride), padding(how.padding), dilation(how.dilation),
      output_padding(how.output_padding);
  ET_CHECK_OK_OR_RETURN_ERROR(
      call<10>("aten::convolution.out",
               {input.value(), filter.value(), added.has_value() ? added->value() : EValue(),
                stride.value(), padding.value(), dilation.value(), EValue(how.is_transposed),
                output_padding.value(), EValue(how.groups), result.value()}));
  if (!is_channels_last(x) && !is_channels_last(weight)) {
    return out;
  }
  const int64_t strides[] = {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
  auto turned = ET_UNWRAP(SlimTensor::empty({as_numbers, {strides, 4}, 0, x.dtype()}, {}));
  ET_CHECK_OK_OR_RETURN_ERROR(copy_tensor(*out, *turned));
  return turned;
}

bool are_matrices(const char* function, const SlimTensor* a, const SlimTensor* b, size_t rank) {
  const bool is_right = a->dim() == rank && b->dim() == rank;
  if (!is_right) {
    ET_LOG(Error, "%s: expected operands of %zu dimensions, found %zu and %zu", function, rank,
           a->dim(), b->dim());
  }
  return is_right;
}

}  // namespace
AOTI_SHIM int32_t aoti_torch_cpu_mm_out(SlimTensor* out, SlimTensor* self, SlimTensor* mat2) {
  const bool is_right =
      are_given(__func__, out, self, mat2) && are_matrices(__func__, self, mat2, 2);
  return is_right ? status_of(multiply(*self, *mat2, nullptr, 1, 1, *out)) : kInvalid;
}

AOTI_SHIM int32_t aoti_torch_cpu_addmm_out(SlimTensor* out, SlimTensor* self, SlimTensor* mat1,
                                           SlimTensor* mat2, double beta, double alpha) {
  const bool is_right =
      are_given(__func__, out, self, mat1, mat2) && are_matrices(__func__, mat1, mat2, 2);
  return is_right ? status_of(multiply(*mat1, *mat2, self, beta, alpha, *out)) : kInvalid;
}

AOTI_SHIM int32_t aoti_torch_cpu_bmm_out(SlimTensor* out, SlimTensor* self, SlimTensor* mat2) {
  const bool is_right =
      are_given(__func__, out, self, mat2) && are_matrices(__func__, self, mat2, 3);
  return is_right ? status_of(multiply_batches(*self, *mat2, *out)) : kInvalid;
}

AOTI_SHIM int32_t aoti_torch_cpu_convolution(
    SlimTensor* input, SlimTensor* weight, SlimTensor** bias, const int64_t* stride,
    int64_t num_strides, const int64_t* padding, int64_t num_paddings, const int64_t* dilation,
    int64_t num_dilations, int32_t transposed, const int64_t* output_padding,
    int64_t num_output_paddings, int64_t groups, SlimTensor** out) {
  if (!are_given(__func__, input, weight, stride, padding, dilation, output_padding, out)) {
    return kInvalid;
  }
  const Convolution how = {{stride, static_cast<size_t>(num_strides)},
                           {padding, static_cast<size_t>(num_paddings)},
                           {dilation, static_cast<size_t>(num_dilations)},
                           {output_padding, static_cast<size_t>(num_output_paddings)},
                           transposed != 0,
                           groups};
  return give(convolve(*input, *weight, bias == nullptr ? nullptr : *bias, how), out);
}

runtime::Span<const Shim> cpu_shims() {
#define SHIM(name) {#name, reinterpret_cast<void*>(&name)}
  static const Shim shims[] = {
      SHIM(aoti_torch_cpu_mm_out),
      SHIM(aoti_torch_cpu_addmm_out),
      SHIM(aoti_torch_cpu_bmm_out),
      SHIM(aoti_torch_cpu_convolution),
  };
#undef SHIM
  return {shims, sizeof(shims) / sizeof(shims[0])};
}

}  // namespace executorch::backends::aoti
