// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a delegate as checked views of tensors. A backend's execute() says what it was
// compiled for and gets what is so, or an error that names the argument:
//
//   const auto arguments = ET_UNWRAP(TensorArguments::of("MyBackend", args, 2, 1));
//   const TensorView x = ET_UNWRAP(arguments.input(0, {ScalarType::Float}));
//   TensorView out = ET_UNWRAP(arguments.output(0, {ScalarType::Float}));
//   ET_CHECK_OK_OR_RETURN_ERROR(out.resize(x.sizes()));
//   run(x.data<float>(), x.numel(), out.mutable_data<float>());
//
// Views refer to the arguments, which must outlive them, as they do during execute(). Functions
// here are inline, so that a program without backends has nothing of them; they use no heap, keep
// no state, and any thread may call them with arguments of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

constexpr int kAnyRank = -1;

/// What a backend takes as an argument.
struct TensorRule {
  executorch::aten::ScalarType dtype;
  /// Number of dimensions.
  int rank = kAnyRank;
  /// Whether its dimensions must stand in memory in their order, the last one innermost. Else they
  /// may be permuted, as dim_order() says; gaps are never taken.
  bool is_contiguous = true;
};

/// Which argument a message is about: "MyBackend: input 1 (mask)".
struct ArgumentName {
  const char* backend;
  const char* kind;  // "input", "output"
  size_t index;
  const char* name = nullptr;  // that of the payload, if it has names

  /// Cut where it does not fit.
  std::array<char, 160> text() const {
    std::array<char, 160> out{};
    const bool is_named = name != nullptr && name[0] != '\0';
    std::snprintf(out.data(), out.size(), "%s: %s %zu%s%s%s", backend, kind, index,
                  is_named ? " (" : "", is_named ? name : "", is_named ? ")" : "");
    return out;
  }
};

/// A tensor that fits a rule, dense in memory. Sizes are those of the tensor, whatever its dim
/// order is; after resize() ask again.
class TensorView {
 public:
  /// InvalidArgument when the value is no tensor or does not fit the rule; its memory is not
  /// checked. The texts of `name` live as long as the view.
  static Result<TensorView> of(const ArgumentName& name, const EValue& value,
                               const TensorRule& rule);

  executorch::aten::ArrayRef<executorch::aten::SizesType> sizes() const {
    return {tensor_->sizes().data(), tensor_->sizes().size()};
  }
  size_t rank() const { return static_cast<size_t>(tensor_->dim()); }
  size_t numel() const { return static_cast<size_t>(tensor_->numel()); }
  size_t nbytes() const { return static_cast<size_t>(tensor_->nbytes()); }
  executorch::aten::ScalarType dtype() const { return tensor_->scalar_type(); }
  const executorch::aten::Tensor& tensor() const { return *tensor_; }

  /// The dimension that is the `place`th in memory, the outermost first.
  size_t dim_in_memory(size_t place) const {
    runtime::internal::DimOrderRoom room;
    const auto order = runtime::internal::dim_order_of(*tensor_, room);
    return dim_at(order, place);
  }

  /// Null for a tensor without elements only; of an output, after a resize that went well, too.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(tensor_->const_data_ptr());
  }
  template <typename T>
  T* mutable_data() const {
    return static_cast<T*>(tensor_->mutable_data_ptr());
  }

  /// Gives an output its sizes, within what it was planned for (NotSupported beyond it).
  /// InvalidArgument when it has no memory for them.
  Error resize(executorch::aten::ArrayRef<executorch::aten::SizesType> sizes) const {
    return resize_as(sizes);
  }
  /// The same with sizes of another integer type.
  template <typename T, std::enable_if_t<!std::is_same_v<executorch::aten::SizesType, T>, int> = 0>
  Error resize(executorch::aten::ArrayRef<T> sizes) const {
    return resize_as(sizes);
  }

  /// InvalidArgument for elements without memory.
  Error check_memory() const {
    ET_CHECK_OR_RETURN_ERROR(tensor_->const_data_ptr() != nullptr || tensor_->numel() == 0,
                             InvalidArgument, "%s %s has no memory", name_.text().data(),
                             runtime::tensor_shape_to_c_string(shape()).data());
    return Error::Ok;
  }

 private:
  TensorView(const ArgumentName& name, const executorch::aten::Tensor& tensor)
      : name_(name), tensor_(&tensor) {}

  template <typename T>
  Error resize_as(executorch::aten::ArrayRef<T> sizes) const {
    ET_CHECK_OK_OR_RETURN_ERROR(
        resize_tensor(*tensor_, sizes), "%s %s cannot have sizes %s", name_.text().data(),
        runtime::tensor_shape_to_c_string(shape()).data(),
        runtime::tensor_shape_to_c_string(Span<const T>(sizes.data(), sizes.size())).data());
    return check_memory();
  }
  Span<const executorch::aten::SizesType> shape() const {
    return {tensor_->sizes().data(), tensor_->sizes().size()};
  }
  /// The dimension at a place of an order; an empty one is that of the dimensions.
  static size_t dim_at(Span<const executorch::aten::DimOrderType> order, size_t place) {
    return order.empty() ? place : static_cast<size_t>(order[place]);
  }
  /// In elements; of a tensor that was made without strides, as its dim order says.
  int64_t stride_of(size_t dim, Span<const executorch::aten::DimOrderType> own_order) const {
    if (tensor_->strides().size() == rank()) {
      return static_cast<int64_t>(tensor_->strides()[dim]);
    }
    int64_t stride = 1;
    for (size_t i = rank(); i > 0 && dim_at(own_order, i - 1) != dim; --i) {
      stride *= static_cast<int64_t>(tensor_->sizes()[dim_at(own_order, i - 1)]);
    }
    return stride;
  }
  /// Whether the memory is dense in the order `wanted`; dimensions of one element, and tensors of
  /// none, have any strides.
  bool is_dense(Span<const executorch::aten::DimOrderType> wanted,
                Span<const executorch::aten::DimOrderType> own_order) const {
    int64_t expected = 1;
    for (size_t i = rank(); i > 0 && numel() > 0; --i) {
      const size_t dim = dim_at(wanted, i - 1);
      const auto size = static_cast<int64_t>(tensor_->sizes()[dim]);
      if (size != 1 && stride_of(dim, own_order) != expected) {
        return false;
      }
      expected *= size;
    }
    return true;
  }
  Error check(const TensorRule& rule) const;

  ArgumentName name_;
  const executorch::aten::Tensor* tensor_;
};

inline Error TensorView::check(const TensorRule& rule) const {
  ET_CHECK_OR_RETURN_ERROR(dtype() == rule.dtype, InvalidArgument,
                           "%s: expected dtype %s, found %s %s", name_.text().data(),
                           toString(rule.dtype), toString(dtype()),
                           runtime::tensor_shape_to_c_string(shape()).data());
  ET_CHECK_OR_RETURN_ERROR(rule.rank == kAnyRank || rank() == static_cast<size_t>(rule.rank),
                           InvalidArgument, "%s: expected %d dimensions, found %zu %s",
                           name_.text().data(), rule.rank, rank(),
                           runtime::tensor_shape_to_c_string(shape()).data());
  runtime::internal::DimOrderRoom room;
  const auto order = runtime::internal::dim_order_of(*tensor_, room);
  ET_CHECK_OR_RETURN_ERROR(
      order.empty() ||
          (order.size() == rank() && runtime::is_valid_dim_order(order.data(), order.size())),
      InvalidArgument, "%s: expected a permutation of %zu dimensions as its dim order",
      name_.text().data(), rank());
  ET_CHECK_OR_RETURN_ERROR(is_dense(rule.is_contiguous ? decltype(order)() : order, order),
                           InvalidArgument, "%s %s: expected %s, found other strides",
                           name_.text().data(), runtime::tensor_shape_to_c_string(shape()).data(),
                           rule.is_contiguous ? "a contiguous tensor" : "a dense tensor");
  return Error::Ok;
}

inline Result<TensorView> TensorView::of(const ArgumentName& name, const EValue& value,
                                         const TensorRule& rule) {
  ET_CHECK_OR_RETURN_ERROR(value.isTensor(), InvalidArgument,
                           "%s: expected a tensor, found a value of kind %" PRIu32,
                           name.text().data(), static_cast<uint32_t>(value.tag));
  const TensorView view(name, value.toTensor());
  ET_CHECK_OK_OR_RETURN_ERROR(view.check(rule));
  return view;
}

/// The arguments of one execute(): inputs, then outputs.
class TensorArguments {
 public:
  /// `backend`: its name, for messages; lives as long as the views. InvalidArgument for another
  /// number of arguments.
  static Result<TensorArguments> of(const char* backend, Span<EValue*> args, size_t num_inputs,
                                    size_t num_outputs) {
    ET_CHECK_OR_RETURN_ERROR(args.size() >= num_inputs && args.size() - num_inputs == num_outputs,
                             InvalidArgument,
                             "%s: expected %zu inputs and %zu outputs, found %zu arguments",
                             backend, num_inputs, num_outputs, args.size());
    return TensorArguments(backend, args, num_inputs);
  }

  /// Input `index`, below the number of inputs; InvalidArgument when it is no tensor, does not fit
  /// the rule, or has no memory.
  Result<TensorView> input(size_t index, const TensorRule& rule) const {
    const TensorView view = ET_UNWRAP(at("input", index, index, rule));
    ET_CHECK_OK_OR_RETURN_ERROR(view.check_memory());
    return view;
  }

  /// Output `index`, below the number of outputs; its memory is checked when it is resized.
  Result<TensorView> output(size_t index, const TensorRule& rule) const {
    return at("output", index, num_inputs_ + index, rule);
  }

  /// Argument `index` of all, for backends whose payload says which ones are outputs; its memory is
  /// not checked.
  Result<TensorView> argument(size_t index, const TensorRule& rule) const {
    return at("argument", index, index, rule);
  }

 private:
  TensorArguments(const char* backend, Span<EValue*> args, size_t num_inputs)
      : backend_(backend), args_(args), num_inputs_(num_inputs) {}

  Result<TensorView> at(const char* kind, size_t index, size_t place,
                        const TensorRule& rule) const {
    return TensorView::of({backend_, kind, index}, *args_[place], rule);
  }

  const char* backend_;
  Span<EValue*> args_;
  size_t num_inputs_;
};

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
