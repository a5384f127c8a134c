// SPDX-License-Identifier: BSD-3-Clause
// Inputs, outputs and attributes of a method.
#include <executorch/runtime/executor/method.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/name_lines.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;
using executorch::aten::ArrayRef;
using executorch::aten::DimOrderType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;

// How far a Double input may be from the value the method was exported with.
constexpr double kRelativeTolerance = 1e-5;
constexpr double kAbsoluteTolerance = 1e-4;

// For messages, which a build may leave out.
[[maybe_unused]] double as_number(const EValue& value) {
  return value.isInt()      ? static_cast<double>(value.toInt())
         : value.isDouble() ? value.toDouble()
         : value.isBool()   ? static_cast<double>(value.toBool())
                            : 0;
}

bool is_close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  if (std::isinf(a) || std::isinf(b)) {
    return a == b;
  }
  return std::fabs(a - b) <= kAbsoluteTolerance + kRelativeTolerance * std::fabs(b);
}

// Whether the memory plan or a constant gives the tensor its memory.
bool is_memory_planned(const fb::Tensor& tensor) {
  return tensor.allocation_info() != nullptr || tensor.data_buffer_idx() != 0;
}

// Whether the elements of two tensors of the same sizes lie in the same order, without gaps.
// Dimensions of size one have no order. Tensors without strides or dim order are contiguous.
bool have_same_layout(const Tensor& input, const Tensor& own) {
  StridesType computed[kMaxTensorRank];
  const auto rank = static_cast<size_t>(own.dim());
  const StridesType* strides = input.strides().data();
  if (strides == nullptr) {
    DimOrderType contiguous[kMaxTensorRank];
    internal::DimOrderRoom room;
    const DimOrderType* dim_order = internal::dim_order_of(input, room).data();
    for (size_t i = 0; i < rank; ++i) {
      contiguous[i] = static_cast<DimOrderType>(i);
    }
    const Error error = dim_order_to_stride(
        own.sizes().data(), dim_order == nullptr ? contiguous : dim_order, rank, computed);
    if (error != Error::Ok) {
      return false;
    }
    strides = computed;
  }
  for (size_t i = 0; i < rank; ++i) {
    if (own.sizes()[i] > 1 && strides[i] != own.strides()[i]) {
      return false;
    }
  }
  return true;
}

// The sizes as text.
[[maybe_unused]] auto shape_of(const Tensor& tensor) {
  return tensor_shape_to_c_string(
      Span<const SizesType>(tensor.sizes().data(), tensor.sizes().size()));
}

// The sizes in the program, bounds if the tensor is dynamic.
[[maybe_unused]] auto bounds_of(const fb::Tensor& tensor) {
  return tensor_shape_to_c_string(Span<const SizesType>(
      reinterpret_cast<const SizesType*>(tensor.sizes()->data()), tensor.sizes()->size()));
}

// Says why the sizes of an input, of the right rank, are none of `expected`.
void report_sizes([[maybe_unused]] const fb::ExecutionPlan& plan, [[maybe_unused]] size_t input,
                  [[maybe_unused]] const fb::Tensor& expected, [[maybe_unused]] bool is_static,
                  [[maybe_unused]] const Tensor& found) {
#if ET_LOG_ENABLED
  const InputLabel label(plan, input);
  if (!is_static) {
    ET_LOG(Error,
           "Input %s of method %s: expected no more elements than %s, the sizes at export, got %s",
           label.text(), plan.name()->c_str(), bounds_of(expected).data(), shape_of(found).data());
    return;
  }
  uint32_t d = 0;
  while (d + 1 < expected.sizes()->size() && expected.sizes()->Get(d) == found.sizes()[d]) {
    ++d;
  }
  ET_LOG(Error,
         "Input %s of method %s, dimension %d: expected %d, found %d. The sizes at export were %s, "
         "found %s; export with dynamic_shapes to let them vary",
         label.text(), plan.name()->c_str(), static_cast<int>(d),
         static_cast<int>(expected.sizes()->Get(d)), static_cast<int>(found.sizes()[d]),
         bounds_of(expected).data(), shape_of(found).data());
#endif
}

// Whether `sizes`, of the right rank, are among those of dynamic input `input`, which is `tensor`:
// each dimension within its range, fixed ones exactly. Plans without ranges allow all.
Error check_input_sizes(const fb::ExecutionPlan& plan, size_t input, const fb::Tensor& tensor,
                        ArrayRef<SizesType> sizes) {
  const Span<const InputDimension> rows = input_dimensions(plan);
  uint32_t varying = rows.empty() ? UINT32_MAX : 0;  // a bit for each dimension
  for (const InputDimension& row : rows) {
    if (row.input != static_cast<int32_t>(input)) {
      continue;
    }
    const auto dimension = static_cast<uint32_t>(row.dimension);
    const SizesType size = sizes[dimension];
    const int32_t upper = tensor.sizes()->Get(dimension);
    int64_t n = 0;
    varying |= 1u << dimension;
    ET_CHECK_OR_RETURN_ERROR(
        size >= row.min && size <= upper, InvalidArgument,
        "Input %s of method %s, dimension %d: expected %d to %d, found %d. The "
        "range is the one of the export (torch.export.Dim)",
        InputLabel(plan, input).text(), plan.name()->c_str(), static_cast<int>(dimension),
        static_cast<int>(row.min), static_cast<int>(upper), static_cast<int>(size));
    ET_CHECK_OR_RETURN_ERROR(
        row.solve(size, &n), InvalidArgument,
        "Input %s of method %s, dimension %d: expected %d * n + %d for a whole "
        "number n, found %d",
        InputLabel(plan, input).text(), plan.name()->c_str(), static_cast<int>(dimension),
        static_cast<int>(row.scale), static_cast<int>(row.offset), static_cast<int>(size));
  }
  for (uint32_t i = 0; i < tensor.sizes()->size(); ++i) {
    const int32_t fixed = tensor.sizes()->Get(i);
    ET_CHECK_OR_RETURN_ERROR(((varying >> i) & 1) != 0 || sizes[i] == fixed, InvalidArgument,
                             "Input %s of method %s, dimension %d: expected %d, found %d. The "
                             "export fixed it; export with dynamic_shapes to let it vary",
                             InputLabel(plan, input).text(), plan.name()->c_str(),
                             static_cast<int>(i), static_cast<int>(fixed),
                             static_cast<int>(sizes[i]));
  }
  return Error::Ok;
}

}  // namespace

size_t Method::inputs_size() const {
  return plan_->inputs()->size();
}

size_t Method::outputs_size() const {
  return plan_->outputs()->size();
}

EValue& Method::input(size_t i) const {
  return values_[static_cast<size_t>(plan_->inputs()->Get(static_cast<uint32_t>(i)))];
}

EValue& Method::output(size_t i) const {
  return values_[static_cast<size_t>(plan_->outputs()->Get(static_cast<uint32_t>(i)))];
}

// ---- Inputs ----

Error Method::set_input(const EValue& input_evalue, size_t input_idx) {
  ET_CHECK_OR_RETURN_ERROR(init_state_ == InitializationState::Initialized, InvalidState,
                           "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(!is_stepping(), InvalidState,
                           "Input %zu: a stepped execution of method %s is in progress", input_idx,
                           plan_->name()->c_str());
  ET_CHECK_OR_RETURN_ERROR(input_idx < inputs_size(), InvalidArgument,
                           "Input %zu: method %s has %zu inputs", input_idx, plan_->name()->c_str(),
                           inputs_size());
  const EValue& own = input(input_idx);
  ET_CHECK_OR_RETURN_ERROR(input_evalue.tag == own.tag, InvalidArgument,
                           "Input %s of method %s: expected a value of kind %" PRIu32
                           ", got kind %" PRIu32,
                           InputLabel(*plan_, input_idx).text(), plan_->name()->c_str(),
                           static_cast<uint32_t>(own.tag), static_cast<uint32_t>(input_evalue.tag));
  input_set_[input_idx] = false;
  bool equal = true;
  switch (own.tag) {
    case Tag::None:
      break;
    case Tag::Tensor:
      ET_CHECK_OK_OR_RETURN_ERROR(set_tensor_input(input_evalue.toTensor(), input_idx));
      break;
    case Tag::Int:
      equal = input_evalue.toInt() == own.toInt();
      break;
    case Tag::Bool:
      equal = input_evalue.toBool() == own.toBool();
      break;
    case Tag::Double:
      equal = is_close(input_evalue.toDouble(), own.toDouble());
      break;
    case Tag::String:
      equal = input_evalue.toString() == own.toString();
      break;
    default:
      ET_LOG(Error, "Input %s of method %s: values of kind %" PRIu32 " cannot be set",
             InputLabel(*plan_, input_idx).text(), plan_->name()->c_str(),
             static_cast<uint32_t>(own.tag));
      return Error::InvalidArgument;
  }
  ET_CHECK_OR_RETURN_ERROR(equal || own.isString(), InvalidArgument,
                           "Input %s of method %s: it is not a tensor, so it must equal the value "
                           "at export, %.15g, and cannot be %.15g. Export with that value, or make "
                           "a tensor of the input",
                           InputLabel(*plan_, input_idx).text(), plan_->name()->c_str(),
                           as_number(own), as_number(input_evalue));
  ET_CHECK_OR_RETURN_ERROR(equal, InvalidArgument,
                           "Input %s of method %s: it is not a tensor, so it must equal the value "
                           "at export, \"%.*s\"",
                           InputLabel(*plan_, input_idx).text(), plan_->name()->c_str(),
                           static_cast<int>(own.toString().size()), own.toString().data());
  input_set_[input_idx] = true;
  return Error::Ok;
}

Error Method::set_tensor_input(const Tensor& input_tensor, size_t input_idx) {
  const Tensor own = input(input_idx).toTensor();
  const uint32_t value_index =
      static_cast<uint32_t>(plan_->inputs()->Get(static_cast<uint32_t>(input_idx)));
  const fb::Tensor& source = *plan_->values()->Get(value_index)->val_as_Tensor();
  ET_CHECK_OR_RETURN_ERROR(
      input_tensor.scalar_type() == own.scalar_type(), InvalidArgument,
      "Input %s: expected element type %d, got %d", InputLabel(*plan_, input_idx).text(),
      static_cast<int>(own.scalar_type()), static_cast<int>(input_tensor.scalar_type()));
  ET_CHECK_OR_RETURN_ERROR(input_tensor.dim() == own.dim(), NotSupported,
                           "Input %s: expected %zd dimensions, got %zd",
                           InputLabel(*plan_, input_idx).text(), static_cast<ssize_t>(own.dim()),
                           static_cast<ssize_t>(input_tensor.dim()));
  const auto device = own.device(), given = input_tensor.device();
  ET_CHECK_OR_RETURN_ERROR(device == given, InvalidArgument,
                           "Input %s: expected a tensor on device %d:%d, got one on %d:%d",
                           InputLabel(*plan_, input_idx).text(), static_cast<int>(device.type()),
                           static_cast<int>(device.index()), static_cast<int>(given.type()),
                           static_cast<int>(given.index()));
  const bool planned = is_memory_planned(source);
  const bool is_static = kTensorsCountReferences
                             ? source.shape_dynamism() == fb::TensorShapeDynamism::STATIC
                             : internal::shape_dynamism_of(own) == TensorShapeDynamism::STATIC;
  if (!is_static) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_input_sizes(*plan_, input_idx, source, input_tensor.sizes()));
  }
  const bool borrows_dynamic = !planned && !is_static;
  Span<const DimOrderType> dim_order;  // a portable tensor has its own
  if constexpr (kTensorsCountReferences) {
    dim_order = {source.dim_order()->data(), source.dim_order()->size()};
  }
  if (borrows_dynamic && own.unsafeGetTensorImpl() != input_tensor.unsafeGetTensorImpl()) {
    // The bounds of the program again, instead of the last input's sizes.
    SizesType bounds[kMaxTensorRank];
    deserialization::getInitialSizes(&source, bounds);
    internal::rebind_tensor(own, {bounds, own.sizes().size()}, dim_order, nullptr);
  }
  // PyTorch's tensors take any sizes.
  const bool is_refused =
      kTensorsCountReferences && is_static && own.sizes() != input_tensor.sizes();
  const Error resized = is_refused ? Error::NotSupported : resize_tensor(own, input_tensor.sizes());
  if (resized != Error::Ok) {
    report_sizes(*plan_, input_idx, source, is_static, input_tensor);
    return resized;
  }
  ET_CHECK_OR_RETURN_ERROR(
      have_same_layout(input_tensor, own), InvalidArgument,
      "Input %s: its strides or dim order differ from those the method was exported with; make it "
      "contiguous in that dim order",
      InputLabel(*plan_, input_idx).text());
  void* data = const_cast<void*>(input_tensor.const_data_ptr());
  // Without data it serves programs that read its sizes only: others fail when they run. Memory of
  // the plan would keep the last call's elements.
  ET_CHECK_OR_RETURN_ERROR(data != nullptr || own.numel() == 0 || !planned, InvalidArgument,
                           "Input %s: the tensor has no data, which the memory plan has room for",
                           InputLabel(*plan_, input_idx).text());
  // The host cannot copy what another device holds: it is read where it is.
  if (planned && device.is_cpu()) {
    void* target = own.mutable_data_ptr();
    ET_CHECK_OR_RETURN_ERROR(!is_read_only(target), InvalidProgram,
                             "Input %s: the program has a constant in its place",
                             InputLabel(*plan_, input_idx).text());
    ET_CHECK_OR_RETURN_ERROR(target != nullptr || own.numel() == 0, InvalidState,
                             "Input %s: an earlier execution freed its memory",
                             InputLabel(*plan_, input_idx).text());
    if (own.nbytes() > 0 && target != data) {
      std::memmove(target, data, own.nbytes());
    }
    return Error::Ok;
  }
  if (borrows_dynamic) {
    // No kernel may grow it beyond the memory it was given.
    internal::rebind_tensor(own, own.sizes(), dim_order, data);
  } else {
    internal::set_data(own, data);
  }
  return Error::Ok;
}

Error Method::set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues) {
  ET_CHECK_OR_RETURN_ERROR(input_evalues.size() == inputs_size(), InvalidArgument,
                           "Method %s: expected %zu inputs, got %zu", plan_->name()->c_str(),
                           inputs_size(), input_evalues.size());
  for (size_t i = 0; i < input_evalues.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(set_input(input_evalues[i], i));
  }
  return Error::Ok;
}

const EValue& Method::get_input(size_t i) const {
  ET_CHECK_MSG(i < inputs_size(), "Input %zu of %zu does not exist", i, inputs_size());
  input_set_[i] = true;
  return input(i);
}

EValue& Method::mutable_input(size_t i) {
  ET_CHECK_MSG(i < inputs_size(), "Input %zu of %zu does not exist", i, inputs_size());
  input_set_[i] = true;
  return input(i);
}

Error Method::get_inputs(EValue* input_evalues, size_t length) {
  ET_CHECK_OR_RETURN_ERROR(init_state_ == InitializationState::Initialized, InvalidState,
                           "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(input_evalues != nullptr && length >= inputs_size(), InvalidArgument,
                           "get_inputs: room for %zu values, expected at least %zu", length,
                           inputs_size());
  for (size_t i = 0; i < length; ++i) {
    input_evalues[i] = i < inputs_size() ? input(i) : EValue();
  }
  std::fill_n(input_set_, inputs_size(), true);
  return Error::Ok;
}

// ---- Outputs ----

Error Method::set_output_data_ptr(void* buffer, size_t size, size_t output_idx) {
  ET_CHECK_OR_RETURN_ERROR(init_state_ == InitializationState::Initialized, InvalidState,
                           "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(output_idx < outputs_size(), InvalidArgument,
                           "Output %zu: method %s has %zu outputs", output_idx,
                           plan_->name()->c_str(), outputs_size());
  const uint32_t value_index =
      static_cast<uint32_t>(plan_->outputs()->Get(static_cast<uint32_t>(output_idx)));
  const fb::Tensor* source = plan_->values()->Get(value_index)->val_as_Tensor();
  ET_CHECK_OR_RETURN_ERROR(source != nullptr && values_[value_index].isTensor(), InvalidArgument,
                           "Output %zu of method %s is not a tensor", output_idx,
                           plan_->name()->c_str());
  ET_CHECK_OR_RETURN_ERROR(!is_memory_planned(*source), InvalidState,
                           "Output %zu of method %s has memory from the memory plan or a constant",
                           output_idx, plan_->name()->c_str());
  const size_t nbytes = tensor_nbytes(source);
  ET_CHECK_OR_RETURN_ERROR(size >= nbytes, InvalidArgument,
                           "Output %zu of method %s: its largest shape needs %zu bytes, got %zu",
                           output_idx, plan_->name()->c_str(), nbytes, size);
  internal::set_data(values_[value_index].toTensor(), buffer);
  return Error::Ok;
}

const EValue& Method::get_output(size_t i) const {
  ET_CHECK_MSG(i < outputs_size(), "Output %zu of %zu does not exist", i, outputs_size());
  return output(i);
}

EValue& Method::mutable_output(size_t i) {
  ET_CHECK_MSG(i < outputs_size(), "Output %zu of %zu does not exist", i, outputs_size());
  return output(i);
}

Error Method::get_outputs(EValue* output_evalues, size_t length) {
  ET_CHECK_OR_RETURN_ERROR(init_state_ == InitializationState::Initialized, InvalidState,
                           "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(output_evalues != nullptr && length >= outputs_size(), InvalidArgument,
                           "get_outputs: room for %zu values, expected at least %zu", length,
                           outputs_size());
  for (size_t i = 0; i < length; ++i) {
    output_evalues[i] = i < outputs_size() ? output(i) : EValue();
  }
  return Error::Ok;
}

// ---- Other ----

MethodMeta Method::method_meta() const {
  return MethodMeta(plan_);
}

Result<Tensor> Method::get_attribute(std::string_view name) {
  for (size_t i = 0; i < values_.size(); ++i) {
    const fb::Tensor* tensor = plan_->values()->Get(static_cast<uint32_t>(i))->val_as_Tensor();
    const fb::ExtraTensorInfo* extra = tensor == nullptr ? nullptr : tensor->extra_tensor_info();
    if (extra != nullptr && extra->fully_qualified_name() != nullptr &&
        extra->fully_qualified_name()->string_view() == name && values_[i].isTensor()) {
      return values_[i].toTensor();
    }
  }
  return Error::NotFound;
}

EventTracer* Method::get_event_tracer() {
  return event_tracer_;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
