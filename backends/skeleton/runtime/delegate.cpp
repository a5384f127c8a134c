// SPDX-License-Identifier: BSD-3-Clause
// Verifies a payload, then computes call by call in temporary memory.
#include <executorch/backends/skeleton/runtime/delegate.h>
#include <executorch/runtime/backend/tensor_arguments.h>

#include <cmath>
#include <cstring>
#include <new>

namespace executorch::backends::skeleton {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::TensorView;

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

/// What every argument is.
constexpr runtime::TensorRule kFloats{ScalarType::Float};

/// While it runs. A constant has no sizes (null): those of the other operand.
struct Value {
  const float* data = nullptr;
  size_t numel = 0;
  const SizesType* sizes = nullptr;
  size_t rank = 0;
};

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
  const Value& like = left.sizes != nullptr ? left : right;
  return Value{out, left.numel, like.sizes, like.rank};
}

Error give(const Value& value, const TensorView& out) {
  ET_CHECK_OK_OR_RETURN_ERROR(out.resize({value.sizes, value.rank}));
  if (value.numel > 0) {
    std::memcpy(out.mutable_data<float>(), value.data, out.nbytes());
  }
  return Error::Ok;
}

bool is_finite(const Value& value) {
  for (size_t i = 0; i < value.numel; ++i) {
    if (!std::isfinite(value.data[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<Delegate*> Delegate::create(const void* payload, size_t size,
                                   const runtime::NamedDataMap* named_data,
                                   runtime::MemoryAllocator& allocator,
                                   const SkeletonOptions& options) {
  const fb_skeleton::Graph* graph = ET_UNWRAP(open_payload(payload, size));
  auto* place = allocator.allocateInstance<Delegate>();
  ET_CHECK_OR_RETURN_ERROR(place != nullptr, MemoryAllocationFailed, "no memory for a delegate");
  auto* delegate = new (place) Delegate(*graph, options);
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
  const auto arguments =
      ET_UNWRAP(runtime::TensorArguments::of("SkeletonBackend", args, num_inputs, outputs.size()));
  auto* values = static_cast<Value*>(
      context.allocate(static_cast<size_t>(ids.end) * sizeof(Value), alignof(Value)));
  ET_CHECK_OR_RETURN_ERROR(values != nullptr, MemoryAllocationFailed, "no temporary memory");
  Value* next = values;
  for (size_t i = 0; i < num_inputs; ++i) {
    const TensorView input = ET_UNWRAP(arguments.input(i, kFloats));
    *next++ = {input.data<float>(), input.numel(), input.sizes().data(), input.rank()};
  }
  for (const runtime::FreeableBuffer& buffer : constants_) {
    *next++ = {static_cast<const float*>(buffer.data()), buffer.size() / sizeof(float)};
  }
  for (const fb_skeleton::Call* call : *graph_.calls()) {
    *next++ = ET_UNWRAP(run(*call, values, context));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView out = ET_UNWRAP(arguments.output(i, kFloats));
    const Value& value = values[outputs.Get(i)];
    ET_CHECK_OR_RETURN_ERROR(!options_.check_finite || is_finite(value), InvalidArgument,
                             "SkeletonBackend: output %zu: expected finite numbers", i);
    ET_CHECK_OK_OR_RETURN_ERROR(give(value, out));
  }
  return Error::Ok;
}

}  // namespace executorch::backends::skeleton
