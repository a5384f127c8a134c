// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/nxp/runtime/delegate.h>
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/backend/element_copy.h>
#include <executorch/runtime/backend/tensor_arguments.h>

namespace executorch::backends::neutron {

using runtime::BackendExecutionContext;
using runtime::Elements;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

constexpr uint32_t kTimeoutSeconds = 60;
constexpr size_t kNumOwnOutputs = 3;  // scratch, profile, debug

/// Null, without an error, for nothing.
Result<void*> temporary(BackendExecutionContext& context, size_t size, const char* what) {
  void* found = size > 0 ? context.allocate(size, kAlignment) : nullptr;
  ET_CHECK_OR_RETURN_ERROR(found != nullptr || size == 0, MemoryAllocationFailed,
                           "%s: expected %zu bytes of temporary memory for %s, found none",
                           kBackend, size, what);
  return found;
}

/// Dimensions of one element have any stride.
bool is_order_of(const Elements& one, const Elements& other) {
  for (size_t i = 0; i < one.rank; ++i) {
    if (one.sizes[i] != 1 && one.strides[i] != other.strides[i]) {
      return false;
    }
  }
  return true;
}

/// A tensor as the NPU has it: `data` is the tensor's, or null where that is in another order.
Result<Elements> inside_of(const runtime::ArgumentName& name, const EValue& value, bool is_last) {
  runtime::TensorRule rule{executorch::aten::ScalarType::Char, runtime::kAnyRank, !is_last};
  if (value.isTensor()) {
    rule.dtype = value.toTensor().scalar_type();
  }
  const auto view = ET_UNWRAP(runtime::TensorView::of(name, value, rule));
  ET_CHECK_OK_OR_RETURN_ERROR(view.check_memory());
  Elements inside = Elements::row_major(view.mutable_data<void>(), view.dtype(), view.sizes());
  if (!is_last) {
    return inside;
  }
  ET_CHECK_OR_RETURN_ERROR(inside.rank >= 3, InvalidProgram,
                           "%s: expected channels, rows and columns, found %zu dimensions",
                           name.text().data(), inside.rank);
  const Elements found = Elements::of(view.tensor());
  const bool is_row_major = is_order_of(found, inside);
  const size_t channels = inside.rank - 3;
  inside.strides[channels] = 1;
  inside.strides[channels + 2] = inside.sizes[channels];
  inside.strides[channels + 1] = inside.sizes[channels] * inside.sizes[channels + 2];
  if (!is_order_of(found, inside)) {
    ET_CHECK_OR_RETURN_ERROR(is_row_major, InvalidProgram,
                             "%s: expected a contiguous tensor or channels last in memory",
                             name.text().data());
    inside.data = nullptr;
  }
  return inside;
}

/// What the NPU reads, or has room to write.
Result<void*> memory_of(BackendExecutionContext& context, const runtime::ArgumentName& name,
                        const EValue& value, bool is_last, bool is_read) {
  Elements inside = ET_UNWRAP(inside_of(name, value, is_last));
  if (inside.data != nullptr || inside.nbytes() == 0) {
    return inside.data;
  }
  inside.data = ET_UNWRAP(temporary(context, inside.nbytes(), name.text().data()));
  if (is_read) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        copy_elements(name.text().data(), Elements::of(value.toTensor()), inside));
  }
  return inside.data;
}

}  // namespace

Error Delegate::prepare() {
  const NeutronModelConfig config = {payload_.microcode, payload_.weights, payload_.kernels,
                                     kTimeoutSeconds};
  NeutronModelHandle model = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(driver_.neutronModelPrepare(&config, &model), "neutronModelPrepare"));
  model_ = model;
  return Error::Ok;
}

Delegate::~Delegate() {
  if (model_ != nullptr) {
    (void)check_status(driver_.neutronModelUnprepare(model_), "neutronModelUnprepare");
  }
}

Error Delegate::execute(BackendExecutionContext& context, Span<EValue*> args) const {
  const runtime::DelegateEvent event(context.event_tracer(), "NeutronBackend::execute()");
  const Ports &in = payload_.inputs, &out = payload_.outputs;
  const size_t first = payload_.num_input_arguments;
  for (size_t i = 0; i < out.size() || i == 0; ++i) {
    const size_t least = first + (out.size() == 0 ? 0 : out.map[i] + size_t{1});
    ET_CHECK_OR_RETURN_ERROR(args.size() >= least, InvalidArgument,
                             "%s: expected %zu arguments or more, found %zu", kBackend, least,
                             args.size());
  }
  const auto name_of_output = [&](size_t i) {
    return runtime::ArgumentName{kBackend, "output", out.map[i]};
  };

  const size_t num_outputs = out.size() + kNumOwnOutputs;
  auto** inputs =
      static_cast<const void**>(ET_UNWRAP(temporary(context, in.size() * sizeof(void*), "inputs")));
  auto** outputs =
      static_cast<void**>(ET_UNWRAP(temporary(context, num_outputs * sizeof(void*), "outputs")));
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t place = in.map[i];
    inputs[i] = ET_UNWRAP(
        memory_of(context, {kBackend, "input", place}, *args[place], in.flags[i] == 1, true));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    outputs[i] = ET_UNWRAP(
        memory_of(context, name_of_output(i), *args[first + out.map[i]], out.flags[i] == 1, false));
  }
  void** own = outputs + out.size();
  own[0] = ET_UNWRAP(temporary(context, payload_.scratch_size, "scratch"));
  own[1] = ET_UNWRAP(temporary(context, payload_.profile_size, "the profile"));
  own[2] = ET_UNWRAP(temporary(context, payload_.debug_size, "debugging"));
  void* weights = ET_UNWRAP(temporary(context, payload_.weights_scratch_size, "weights"));

  const NeutronDataConfig data = {inputs, outputs, own[0], weights};
  ET_CHECK_OK_OR_RETURN_ERROR(
      check_status(driver_.neutronRunBlocking(model_, &data), "neutronRunBlocking"));
  for (size_t i = 0; i < out.size(); ++i) {
    const EValue& value = *args[first + out.map[i]];
    Elements inside = ET_UNWRAP(inside_of(name_of_output(i), value, out.flags[i] == 1));
    if (inside.data == nullptr && outputs[i] != nullptr) {
      inside.data = outputs[i];
      ET_CHECK_OK_OR_RETURN_ERROR(
          copy_elements(name_of_output(i).text().data(), inside, Elements::of(value.toTensor())));
    }
  }
  return Error::Ok;
}

}  // namespace executorch::backends::neutron
