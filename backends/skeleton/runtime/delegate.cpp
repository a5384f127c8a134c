// SPDX-License-Identifier: BSD-3-Clause
// Verifies a payload, then computes call by call in temporary memory.
#include <executorch/backends/skeleton/runtime/delegate.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cstring>
#include <new>

namespace executorch::backends::skeleton {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;

namespace {

/// Where the ids of constants and of results begin.
struct ValueIds {
  explicit ValueIds(const fb_skeleton::Graph& graph)
      : constants(graph.num_inputs()),
        results(constants + graph.constants()->size()),
        end(results + graph.calls()->size()) {}

  bool is_constant(uint64_t value) const { return value >= constants && value < results; }

  uint64_t constants;
  uint64_t results;
  uint64_t end;
};

/// Once, at load; nothing is checked again but what comes with a run.
Result<const fb_skeleton::Graph*> open_payload(const void* data, size_t size) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(data) % alignof(uint64_t) == 0;
  ET_CHECK_OR_RETURN_ERROR(data != nullptr && is_aligned, InvalidArgument,
                           "skeleton payload of %zu bytes: expected an address aligned to 8", size);
  flatbuffers::Verifier verifier(static_cast<const uint8_t*>(data), size);
  ET_CHECK_OR_RETURN_ERROR(fb_skeleton::VerifyGraphBuffer(verifier), DelegateInvalidCompatibility,
                           "skeleton payload of %zu bytes: expected a flatbuffer SK00", size);
  const fb_skeleton::Graph& graph = *fb_skeleton::GetGraph(data);
  const ValueIds ids(graph);
  uint64_t result = ids.results;
  for (const fb_skeleton::Call* call : *graph.calls()) {
    const uint64_t left = call->left(), right = call->right();
    ET_CHECK_OR_RETURN_ERROR(
        left < result && right < result && !(ids.is_constant(left) && ids.is_constant(right)),
        DelegateInvalidCompatibility, "skeleton call %zu reads values %zu and %zu",
        static_cast<size_t>(result), static_cast<size_t>(left), static_cast<size_t>(right));
    ET_CHECK_OR_RETURN_ERROR(
        call->operator_() <= fb_skeleton::Operator::MAX, DelegateInvalidCompatibility,
        "skeleton operator %d: written by a newer exporter", static_cast<int>(call->operator_()));
    ++result;
  }
  for (const uint64_t output : *graph.outputs()) {
    ET_CHECK_OR_RETURN_ERROR(output >= ids.results && output < ids.end,
                             DelegateInvalidCompatibility, "skeleton output %zu: expected a result",
                             static_cast<size_t>(output));
  }
  return &graph;
}

/// While it runs. `like` has its sizes; null for a constant, which has those of the other operand.
struct Value {
  const float* data = nullptr;
  size_t numel = 0;
  const Tensor* like = nullptr;
};

Result<const Tensor*> tensor_at(Span<EValue*> args, size_t index) {
  const EValue& argument = *args[index];
  ET_CHECK_OR_RETURN_ERROR(
      argument.isTensor() && argument.toTensor().scalar_type() == ScalarType::Float,
      InvalidArgument, "argument %zu: expected a float32 tensor", index);
  return &argument.toTensor();
}

void compute(fb_skeleton::Operator kind, const float* left, const float* right, size_t numel,
             float* out) {
  switch (kind) {
    case fb_skeleton::Operator::Add:
      for (size_t i = 0; i < numel; ++i) {
        out[i] = left[i] + right[i];
      }
      return;
    case fb_skeleton::Operator::Mul:
      for (size_t i = 0; i < numel; ++i) {
        out[i] = left[i] * right[i];
      }
      return;
  }
}

Result<Value> run(const fb_skeleton::Call& call, const Value* values,
                  runtime::BackendExecutionContext& context) {
  const Value& left = values[call.left()];
  const Value& right = values[call.right()];
  ET_CHECK_OR_RETURN_ERROR(left.numel == right.numel, InvalidArgument,
                           "operands of %zu and %zu elements: expected tensors of one shape",
                           left.numel, right.numel);
  auto* out = static_cast<float*>(context.allocate(left.numel * sizeof(float)));
  ET_CHECK_OR_RETURN_ERROR(out != nullptr || left.numel == 0, MemoryAllocationFailed,
                           "no temporary memory for %zu elements", left.numel);
  compute(call.operator_(), left.data, right.data, left.numel, out);
  return Value{out, left.numel, left.like != nullptr ? left.like : right.like};
}

Error give(const Value& value, const Tensor& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(runtime::resize_tensor(out, value.like->sizes()));
  if (value.numel > 0) {
    std::memcpy(out.mutable_data_ptr<float>(), value.data, out.nbytes());
  }
  return Error::Ok;
}

}  // namespace

Result<Delegate*> Delegate::create(const void* payload, size_t size,
                                   const runtime::NamedDataMap* named_data,
                                   runtime::MemoryAllocator& allocator) {
  const fb_skeleton::Graph* graph = ET_UNWRAP(open_payload(payload, size));
  auto* place = allocator.allocateInstance<Delegate>();
  ET_CHECK_OR_RETURN_ERROR(place != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  auto* delegate = new (place) Delegate(*graph);
  const Error error = delegate->load_constants(named_data, allocator);
  if (error != Error::Ok) {
    delegate->~Delegate();
    return error;
  }
  return delegate;
}

Delegate::~Delegate() {
  for (runtime::FreeableBuffer& buffer : constants_) {
    buffer.~FreeableBuffer();
  }
}

Error Delegate::load_constants(const runtime::NamedDataMap* named_data,
                               runtime::MemoryAllocator& allocator) {
  const size_t count = graph_.constants()->size();
  if (count == 0) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(named_data != nullptr, InvalidArgument,
                           "%zu constants, and a program without named data", count);
  auto* buffers = allocator.allocateList<runtime::FreeableBuffer>(count);
  ET_CHECK_OR_RETURN_ERROR(buffers != nullptr, MemoryAllocationFailed, "no memory for constants");
  for (size_t i = 0; i < count; ++i) {
    const fb_skeleton::Constant& constant = *graph_.constants()->Get(i);
    auto buffer = ET_UNWRAP(named_data->get_data(constant.key()->string_view()));
    ET_CHECK_OR_RETURN_ERROR(buffer.size() / sizeof(float) == constant.numel(), InvalidProgram,
                             "named data \"%s\" has %zu bytes, expected %zu floats",
                             constant.key()->c_str(), buffer.size(),
                             static_cast<size_t>(constant.numel()));
    new (&buffers[i]) runtime::FreeableBuffer(std::move(buffer));
    constants_ = {buffers, i + 1};
  }
  return Error::Ok;
}

Error Delegate::execute(runtime::BackendExecutionContext& context, Span<EValue*> args) const {
  const ValueIds ids(graph_);
  const size_t num_inputs = graph_.num_inputs();
  const auto& outputs = *graph_.outputs();
  ET_CHECK_OR_RETURN_ERROR(args.size() == num_inputs + outputs.size(), InvalidArgument,
                           "%zu arguments, expected %zu inputs and %zu outputs", args.size(),
                           num_inputs, static_cast<size_t>(outputs.size()));
  auto* values = static_cast<Value*>(
      context.allocate(static_cast<size_t>(ids.end) * sizeof(Value), alignof(Value)));
  ET_CHECK_OR_RETURN_ERROR(values != nullptr, MemoryAllocationFailed, "no temporary memory");
  Value* next = values;
  for (size_t i = 0; i < num_inputs; ++i) {
    const Tensor* tensor = ET_UNWRAP(tensor_at(args, i));
    ET_CHECK_OR_RETURN_ERROR(tensor->const_data_ptr() != nullptr || tensor->numel() == 0,
                             InvalidArgument, "input %zu has no data", i);
    *next++ = {tensor->const_data_ptr<float>(), static_cast<size_t>(tensor->numel()), tensor};
  }
  for (const runtime::FreeableBuffer& buffer : constants_) {
    *next++ = {static_cast<const float*>(buffer.data()), buffer.size() / sizeof(float), nullptr};
  }
  for (const fb_skeleton::Call* call : *graph_.calls()) {
    *next++ = ET_UNWRAP(run(*call, values, context));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* out = ET_UNWRAP(tensor_at(args, num_inputs + i));
    ET_CHECK_OK_OR_RETURN_ERROR(give(values[outputs.Get(i)], *out));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::skeleton
