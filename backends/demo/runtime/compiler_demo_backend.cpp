// SPDX-License-Identifier: BSD-3-Clause
// BackendWithCompilerDemo: interprets the operators of a compiled text over f32 tensors.
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <new>

#include <executorch/backends/demo/runtime/compiled_text.h>
#include <executorch/backends/demo/runtime/demo_backends.h>
#include <executorch/runtime/backend/tensor_arguments.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>

namespace executorch::backends::demo {

using executorch::aten::ScalarType;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::TensorView;

namespace {

/// What every argument is.
constexpr runtime::TensorRule kFloats{ScalarType::Float};

/// A tensor of the method, or a result in temporary memory. `rows` and `cols` for matrices.
struct Value {
  const float* data;
  size_t numel;
  size_t rows;
  size_t cols;
};

/// One execution.
class Run {
 public:
  Run(const CompiledText& text, runtime::BackendExecutionContext& context,
      const runtime::TensorArguments& arguments, size_t num_inputs)
      : text_(text), context_(context), arguments_(arguments), num_inputs_(num_inputs) {}

  Error all() {
    results_ =
        static_cast<Value*>(context_.allocate(text_.ops.size() * sizeof(Value), alignof(Value)));
    ET_CHECK_OR_RETURN_ERROR(results_ != nullptr, MemoryAllocationFailed, "no temporary memory");
    for (size_t i = 0; i < text_.ops.size(); ++i) {
      const auto event = runtime::event_tracer_start_profiling_delegate(
          context_.event_tracer(), nullptr, text_.ops[i].debug_handle);
      ET_CHECK_OK_OR_RETURN_ERROR(step(i));
      runtime::event_tracer_end_profiling_delegate(context_.event_tracer(), event);
    }
    return Error::Ok;
  }

 private:
  Error step(size_t index) {
    const DemoOp& op = text_.ops[index];
    Value operands[2] = {};
    for (size_t i = 0; i < num_operands(op.kind); ++i) {
      operands[i] = ET_UNWRAP(operand(index, i));
    }
    Value& result = results_[index];
    ET_CHECK_OK_OR_RETURN_ERROR(shape(op, operands, result));
    auto* data = static_cast<float*>(context_.allocate(result.numel * sizeof(float)));
    ET_CHECK_OR_RETURN_ERROR(data != nullptr || result.numel == 0, MemoryAllocationFailed,
                             "no temporary memory for %zu elements", result.numel);
    compute(op.kind, operands, result, data);
    result.data = data;
    return give(op, result);
  }

  Result<Value> operand(size_t index, size_t place) {
    const DemoOp& op = text_.ops[index];
    size_t value = 0;
    if (op.wired) {
      value = op.operands[place];
    } else if (place == 0 && index > 0) {
      value = num_inputs_ + index - 1;
    } else {
      value = next_input_++;
      ET_CHECK_OR_RETURN_ERROR(value < num_inputs_, DelegateInvalidHandle,
                               "operator %zu takes input %zu of %zu", index, value, num_inputs_);
    }
    ET_CHECK_OR_RETURN_ERROR(value < num_inputs_ + index, DelegateInvalidHandle,
                             "operator %zu takes value %zu, which is not there yet", index, value);
    if (value >= num_inputs_) {
      return results_[value - num_inputs_];
    }
    const TensorView input = ET_UNWRAP(arguments_.input(value, kFloats));
    const bool is_matrix = input.rank() == 2;
    return Value{input.data<float>(), input.numel(),
                 is_matrix ? static_cast<size_t>(input.sizes()[0]) : 0,
                 is_matrix ? static_cast<size_t>(input.sizes()[1]) : 0};
  }

  Error shape(const DemoOp& op, const Value (&operands)[2], Value& result) {
    result = operands[0];
    if (op.kind == OpKind::kMm) {
      ET_CHECK_OR_RETURN_ERROR(operands[0].cols == operands[1].rows, InvalidArgument,
                               "a product of %zu columns and %zu rows", operands[0].cols,
                               operands[1].rows);
      result.rows = operands[0].rows;
      result.cols = operands[1].cols;
      result.numel = result.rows * result.cols;
    } else if (num_operands(op.kind) == 2) {
      ET_CHECK_OR_RETURN_ERROR(operands[0].numel == operands[1].numel, InvalidArgument,
                               "operands of %zu and %zu elements", operands[0].numel,
                               operands[1].numel);
    }
    ET_CHECK_OR_RETURN_ERROR(result.numel == op.numel, InvalidArgument,
                             "compiled for %" PRIu32 " elements, found %zu",
                             static_cast<uint32_t>(op.numel), result.numel);
    return Error::Ok;
  }

  static void compute(OpKind kind, const Value (&in)[2], const Value& result, float* out) {
    switch (kind) {
      case OpKind::kAdd:
        for (size_t i = 0; i < result.numel; ++i) {
          out[i] = in[0].data[i] + in[1].data[i];
        }
        return;
      case OpKind::kMul:
        for (size_t i = 0; i < result.numel; ++i) {
          out[i] = in[0].data[i] * in[1].data[i];
        }
        return;
      case OpKind::kSin:
        for (size_t i = 0; i < result.numel; ++i) {
          out[i] = std::sin(in[0].data[i]);
        }
        return;
      case OpKind::kMm:
        multiply(in[0], in[1], result, out);
    }
  }

  static void multiply(const Value& a, const Value& b, const Value& result, float* out) {
    for (size_t row = 0; row < result.rows; ++row) {
      for (size_t col = 0; col < result.cols; ++col) {
        float sum = 0;
        for (size_t k = 0; k < a.cols; ++k) {
          sum += a.data[row * a.cols + k] * b.data[k * b.cols + col];
        }
        out[row * result.cols + col] = sum;
      }
    }
  }

  /// Copies a result to the outputs that want it.
  Error give(const DemoOp& op, const Value& result) {
    for (size_t i = 0; i < text_.num_outputs; ++i) {
      if ((op.outputs >> i & 1) == 0) {
        continue;
      }
      const TensorView out = ET_UNWRAP(arguments_.output(i, kFloats));
      ET_CHECK_OR_RETURN_ERROR(out.numel() == result.numel, InvalidArgument,
                               "output %zu has %zu elements, expected %zu", i, out.numel(),
                               result.numel);
      ET_CHECK_OK_OR_RETURN_ERROR(out.resize(out.sizes()));
      if (result.numel > 0) {
        std::memcpy(out.mutable_data<float>(), result.data, out.nbytes());
      }
    }
    return Error::Ok;
  }

  const CompiledText& text_;
  runtime::BackendExecutionContext& context_;
  const runtime::TensorArguments& arguments_;
  size_t num_inputs_;
  size_t next_input_ = 0;
  Value* results_ = nullptr;
};

class CompilerDemoBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                        runtime::FreeableBuffer* processed,
                                        runtime::ArrayRef<runtime::CompileSpec>) const override {
    runtime::MemoryAllocator& allocator = *context.get_runtime_allocator();
    auto* handle = allocator.allocateInstance<CompiledText>();
    ET_CHECK_OR_RETURN_ERROR(handle != nullptr, MemoryAllocationFailed, "no memory for a delegate");
    const char* text = static_cast<const char*>(processed->data());
    new (handle) CompiledText(ET_UNWRAP(read_compiled_text(text, processed->size(), allocator)));
    processed->Free();
    return handle;
  }

  Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                Span<EValue*> args) const override {
    const auto& text = *static_cast<const CompiledText*>(handle);
    ET_CHECK_OR_RETURN_ERROR(args.size() >= text.num_outputs, DelegateInvalidHandle,
                             "expected %zu outputs among %zu arguments", text.num_outputs,
                             args.size());
    const size_t num_inputs = args.size() - text.num_outputs;
    const auto arguments = ET_UNWRAP(runtime::TensorArguments::of("BackendWithCompilerDemo", args,
                                                                  num_inputs, text.num_outputs));
    return Run(text, context, arguments, num_inputs).all();
  }
};

}  // namespace

runtime::BackendInterface& compiler_demo_backend() {
  static CompilerDemoBackend backend;
  return backend;
}

}  // namespace executorch::backends::demo
