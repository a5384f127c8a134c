// SPDX-License-Identifier: BSD-3-Clause
// The instruction loop of a method.
#include <cinttypes>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/instruction.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/name_lines.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using Kind = LoadedInstruction::Kind;

// A Bool, or a tensor of Bool that counts as true if all its elements are.
Result<bool> evaluate_condition(const EValue& condition) {
  if (condition.isBool()) {
    return condition.toBool();
  }
  ET_CHECK_OR_RETURN_ERROR(
      condition.isTensor() && condition.toTensor().scalar_type() == ScalarType::Bool,
      InvalidProgram, "The condition of a jump is neither Bool nor a tensor of Bool");
  const Tensor tensor = condition.toTensor();
  const auto* elements = static_cast<const uint8_t*>(tensor.const_data_ptr());
  const auto numel = static_cast<size_t>(tensor.numel());
  ET_CHECK_OR_RETURN_ERROR(elements != nullptr || numel == 0, InvalidState,
                           "The condition of a jump has no data");
  for (size_t i = 0; i < numel; ++i) {
    if (elements[i] == 0) {
      return false;
    }
  }
  return true;
}

// Values keep their kind, so that lists and outputs can rely on it; scalars may replace each other.
Error move_value(const EValue& from, EValue* to) {
  const bool same_kind = from.tag == to->tag || to->isNone() || (from.isScalar() && to->isScalar());
  ET_CHECK_OR_RETURN_ERROR(same_kind, InvalidProgram,
                           "Move of a value of kind %" PRIu32 " to one of kind %" PRIu32,
                           static_cast<uint32_t>(from.tag), static_cast<uint32_t>(to->tag));
  if (from.isTensor() && to->isTensor()) {
    ET_CHECK_OR_RETURN_ERROR(from.toTensor().scalar_type() == to->toTensor().scalar_type(),
                             InvalidProgram,
                             "Move of a tensor of element type %d to one of type %d",
                             static_cast<int>(from.toTensor().scalar_type()),
                             static_cast<int>(to->toTensor().scalar_type()));
  }
  *to = from;
  return Error::Ok;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kKernel:
      return "OPERATOR_CALL";
    case Kind::kDelegate:
      return "DELEGATE_CALL";
    case Kind::kMove:
      return "MOVE_CALL";
    case Kind::kJumpFalse:
      return "JF_CALL";
    case Kind::kFree:
      return "FREE_CALL";
  }
  return "";
}

// What stands behind the last "::" of `text` goes to `at`, as far as it fits.
char* append(char* at, const char* end, const char* text) {
  for (const char* colon = text; *colon != '\0'; ++colon) {
    if (colon[0] == ':' && colon[1] == ':') {
      text = colon + 2;
    }
  }
  while (*text != '\0' && at != end) {
    *at++ = *text++;
  }
  *at = '\0';
  return at;
}

// The event of an operator: "native_call_add.out".
internal::EventTracerProfileOpScope operator_scope(EventTracer* event_tracer,
                                                   const fb::ExecutionPlan& plan,
                                                   const LoadedChain& chain, size_t instr_idx) {
  char name[128];
  if (internal::is_tracing_all(event_tracer)) {
    const fb::KernelCall* call = chain.source->instructions()
                                     ->Get(static_cast<uint32_t>(instr_idx))
                                     ->instr_args_as_KernelCall();
    const fb::Operator* op = plan.operators()->Get(static_cast<uint32_t>(call->op_index()));
    const char* const end = name + sizeof(name) - 1;
    char* at = append(name, end, "native_call_");
    at = append(at, end, op->name()->c_str());
    if (op->overload() != nullptr && op->overload()->size() > 0) {
      append(append(at, end, "."), end, op->overload()->c_str());
    }
  }
  return {event_tracer, name};
}

bool has_data(const Tensor& tensor) {
  return tensor.const_data_ptr() != nullptr || tensor.numel() == 0;
}

Error check_has_data(const Tensor& tensor, uint32_t argument) {
  ET_CHECK_OR_RETURN_ERROR(has_data(tensor), InvalidState,
                           "Argument %" PRIu32
                           " has no memory: an output that is not memory-planned needs "
                           "set_output_data_ptr() before execution, an input a tensor with data",
                           static_cast<uint32_t>(argument));
  return Error::Ok;
}

// Whether dimensions that the export found to depend on each other do, in all inputs together.
Error check_related_sizes(const fb::ExecutionPlan& plan, Span<const EValue> values) {
  const Span<const InputDimension> rows = input_dimensions(plan);
  const auto size_of = [&](const InputDimension& row) {
    const int32_t value = plan.inputs()->Get(static_cast<uint32_t>(row.input));
    return static_cast<int64_t>(
        values[static_cast<size_t>(value)].toTensor().sizes()[static_cast<size_t>(row.dimension)]);
  };
  for (const InputDimension& row : rows) {
    if (row.same_n_as < 0) {
      continue;
    }
    const InputDimension& first = rows[static_cast<size_t>(row.same_n_as)];
    int64_t n = 0;
    first.solve(size_of(first), &n);
    const int64_t expected = row.scale * n + row.offset;
    ET_CHECK_OR_RETURN_ERROR(
        size_of(row) == expected, InvalidArgument,
        "Method %s: dimension %d of input %s is %d, so dimension %d of input %s must be %" PRId64
        ", got %d: the export found that they depend on each other",
        plan.name()->c_str(), static_cast<int>(first.dimension),
        InputLabel(plan, static_cast<size_t>(first.input)).text(), static_cast<int>(size_of(first)),
        static_cast<int>(row.dimension), InputLabel(plan, static_cast<size_t>(row.input)).text(),
        expected, static_cast<int>(size_of(row)));
  }
  return Error::Ok;
}

}  // namespace

bool Method::is_read_only(const void* data) const {
  if (program_->is_constant_data(data)) {
    return true;
  }
  const auto byte = reinterpret_cast<uintptr_t>(data);
  for (const deserialization::NamedData& constant : external_constants_) {
    if (byte - reinterpret_cast<uintptr_t>(constant.buffer.data()) < constant.buffer.size()) {
      return true;
    }
  }
  return false;
}

bool Method::is_input(const EValue& value) const {
  for (size_t i = 0; i < inputs_size(); ++i) {
    if (&input(i) == &value) {
      return true;
    }
  }
  return false;
}

// What load could not know: that tensors have memory by now, and that what is written is no
// constant.
Error Method::check_arguments(const LoadedInstruction& instruction) const {
  for (uint32_t i = 0; i < instruction.num_args; ++i) {
    const EValue& arg = *instruction.args[i];
    if (arg.isTensor()) {
      const Tensor tensor = arg.toTensor();
      if (!has_data(tensor) && instruction.kind == Kind::kDelegate && is_input(arg)) {
        continue;  // the caller's own choice: delegates may read sizes only
      }
      ET_CHECK_OK_OR_RETURN_ERROR(check_has_data(tensor, i));
    } else if (arg.isTensorList()) {
      for (const Tensor& tensor : arg.toTensorList()) {
        ET_CHECK_OK_OR_RETURN_ERROR(check_has_data(tensor, i));
      }
    } else if (arg.isListOptionalTensor()) {
      for (const auto& tensor : arg.toListOptionalTensor()) {
        if (tensor.has_value()) {
          ET_CHECK_OK_OR_RETURN_ERROR(check_has_data(*tensor, i));
        }
      }
    }
  }
  if (instruction.kind != Kind::kKernel || instruction.num_args == 0) {
    return Error::Ok;
  }
  const EValue& written =
      *instruction.args[instruction.writes_first ? 0 : instruction.num_args - 1];
  bool read_only = false;
  if (written.isTensor()) {
    read_only = is_read_only(written.toTensor().const_data_ptr());
  } else if (written.isTensorList()) {
    for (const Tensor& tensor : written.toTensorList()) {
      read_only = read_only || is_read_only(tensor.const_data_ptr());
    }
  }
  ET_CHECK_OR_RETURN_ERROR(!read_only, InvalidProgram, "An output of the operator is a constant");
  return Error::Ok;
}

Error Method::run_kernel(const LoadedInstruction& instruction, size_t chain_idx, size_t instr_idx) {
  if (instruction.reads_data) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_arguments(instruction));
  }
  KernelRuntimeContext context(event_tracer_, temp_allocator_);
  const Span<EValue*> args(instruction.args, instruction.num_args);
  {
    const internal::EventTracerProfileOpScope scope =
        operator_scope(event_tracer_, *plan_, chains_[chain_idx], instr_idx);
    instruction.kernel(context, args);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(context.failure_state());
  // Outputs come last; a tensor list repeats them.
  if (!args.empty()) {
    internal::event_tracer_log_evalue(event_tracer_, *args[args.size() - 1]);
  }
  return Error::Ok;
}

Error Method::run_delegate(const LoadedInstruction& instruction) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_arguments(instruction));
  BackendExecutionContext context(event_tracer_, temp_allocator_, plan_->name()->c_str());
  const Span<EValue*> args(instruction.args, instruction.num_args);
  const LoadedDelegate& delegate = *instruction.delegate;
  ET_CHECK_OK_OR_RETURN_ERROR(delegate.backend->execute(context, delegate.handle, args));
  for (EValue* arg : args) {
    internal::event_tracer_log_evalue(event_tracer_, *arg);
  }
  return Error::Ok;
}

// Runs one instruction and says which one is next.
Error Method::run_instruction(size_t chain_idx, size_t instr_idx, size_t* next) {
  const LoadedInstruction& instruction = chains_[chain_idx].instructions[instr_idx];
  const internal::EventTracerProfileInstructionScope instruction_scope(
      event_tracer_, static_cast<ChainID>(chain_idx), static_cast<DebugHandle>(instr_idx));
  const internal::EventTracerProfileOpScope call_scope(event_tracer_, kind_name(instruction.kind));
  *next = instr_idx + 1;
  Error error = Error::Ok;
  switch (instruction.kind) {
    case Kind::kKernel:
      error = run_kernel(instruction, chain_idx, instr_idx);
      break;
    case Kind::kDelegate:
      error = run_delegate(instruction);
      break;
    case Kind::kMove:
      error = move_value(*instruction.source, instruction.value);
      break;
    case Kind::kJumpFalse: {
      const Result<bool> condition = evaluate_condition(*instruction.value);
      error = condition.error();
      if (condition.ok() && !*condition) {
        *next = instruction.target;
      }
      break;
    }
    case Kind::kFree:
      if (!instruction.value->isTensor()) {
        error = Error::InvalidType;
      } else {
        internal::reset_data_ptr(instruction.value->toTensor());
      }
      break;
  }
  if (instruction.kind == Kind::kKernel || instruction.kind == Kind::kDelegate) {
    temp_allocator_->reset();
  }
  return error;
}

Error Method::count_step(size_t instr_idx, size_t next) {
  if (next <= instr_idx) {
    ET_CHECK_OR_RETURN_ERROR(
        backward_jumps_left_-- > 0, InvalidProgram,
        "More than %zu jumps back in one execution: see Method::set_step_limit()",
        max_backward_jumps_);
  }
  ET_CHECK_OR_RETURN_ERROR(
      --steps_left_ > 0, InvalidProgram,
      "More than %zu instructions in one execution: see Method::set_step_limit()",
      max_instructions_);
  return Error::Ok;
}

void Method::set_step_limit(size_t max_instructions, size_t max_backward_jumps) {
  max_instructions_ = max_instructions;
  max_backward_jumps_ = max_backward_jumps;
}

void Method::begin_execution() {
  step_state_ = {0, 0};
  steps_left_ = max_instructions_ == SIZE_MAX ? SIZE_MAX : max_instructions_ + 1;
  backward_jumps_left_ = max_backward_jumps_;
}

Error Method::check_inputs() const {
  for (size_t i = 0; i < inputs_size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(input_set_[i], InvalidArgument,
                             "Input %s has not been set: method %s takes %zu inputs",
                             InputLabel(*plan_, i).text(), plan_->name()->c_str(), inputs_size());
  }
  return check_related_sizes(*plan_, {values_.data(), values_.size()});
}

Error Method::execute() {
  ET_CHECK_OR_RETURN_ERROR(init_state_ == InitializationState::Initialized, NotSupported,
                           "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(!is_stepping(), InvalidState,
                           "Method %s: a stepped execution is in progress", plan_->name()->c_str());
  internal::event_tracer_create_event_block(event_tracer_, "Execute");
  const internal::EventTracerProfileMethodScope scope(event_tracer_, "Method::execute");
  ET_CHECK_OK_OR_RETURN_ERROR(check_inputs());
  begin_execution();
  for (size_t chain = 0; chain < chains_.size(); ++chain) {
    const size_t num_instructions = chains_[chain].instructions.size();
    size_t next = 0;
    for (size_t i = 0; i < num_instructions; i = next) {
      Error error = run_instruction(chain, i, &next);
      if (error == Error::Ok) {
        error = count_step(i, next);
      }
      if (error != Error::Ok) {
        report_failure(chain, i, error);
        return error;
      }
    }
  }
  temp_allocator_->reset();
  log_outputs();
  return Error::Ok;
}

Error Method::run_next_step() {
  ET_CHECK_OR_RETURN_ERROR(init_state_ == InitializationState::Initialized, InvalidState,
                           "The method is not loaded");
  const internal::EventTracerProfileMethodScope scope(event_tracer_, "Method::step");
  if (!is_stepping()) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_inputs());
    begin_execution();
  }
  if (step_state_.chain_idx >= chains_.size()) {
    return Error::EndOfMethod;
  }
  const size_t num_instructions = chains_[step_state_.chain_idx].instructions.size();
  if (num_instructions > 0) {
    size_t next = 0;
    Error error = run_instruction(step_state_.chain_idx, step_state_.instr_idx, &next);
    if (error == Error::Ok) {
      error = count_step(step_state_.instr_idx, next);
    }
    if (error != Error::Ok) {
      report_failure(step_state_.chain_idx, step_state_.instr_idx, error);
      step_state_ = {0, 0};
      return error;
    }
    step_state_.instr_idx = next;
  }
  if (step_state_.instr_idx >= num_instructions) {
    step_state_ = {step_state_.chain_idx + 1, 0};
    log_outputs();
  }
  return Error::Ok;
}

Error Method::end_steps() {
  ET_CHECK_OR_RETURN_ERROR(step_state_.chain_idx >= chains_.size(), InvalidState,
                           "Method %s: its stepped execution has not come to an end",
                           plan_->name()->c_str());
  step_state_ = {0, 0};
  return Error::Ok;
}

Error Method::step() {
  return run_next_step();
}

Error Method::experimental_step() {
  return run_next_step();
}

Error Method::reset_execution() {
  return end_steps();
}

Error Method::experimental_reset_execution() {
  return end_steps();
}

void Method::log_outputs() const {
  for (size_t i = 0; i < outputs_size(); ++i) {
    internal::event_tracer_log_evalue_output(event_tracer_, output(i));
  }
}

// Says what failed and, if the file carries stack traces, where in the model it comes from.
void Method::report_failure([[maybe_unused]] size_t chain_idx, [[maybe_unused]] size_t instr_idx,
                            [[maybe_unused]] Error error) const {
#if ET_LOG_ENABLED
  const fb::Chain* chain = chains_[chain_idx].source;
  const fb::Instruction* instruction = chain->instructions()->Get(static_cast<uint32_t>(instr_idx));
  const char* name = kind_name(chains_[chain_idx].instructions[instr_idx].kind);
  const char* dot = "";
  const char* overload = "";
  if (const fb::KernelCall* call = instruction->instr_args_as_KernelCall()) {
    const fb::Operator* op = plan_->operators()->Get(static_cast<uint32_t>(call->op_index()));
    name = op->name()->c_str();
    overload = op->overload() == nullptr ? "" : op->overload()->c_str();
    dot = *overload == '\0' ? "" : ".";
  } else if (const fb::DelegateCall* delegated = instruction->instr_args_as_DelegateCall()) {
    name =
        plan_->delegates()->Get(static_cast<uint32_t>(delegated->delegate_index()))->id()->c_str();
  }
  ET_LOG(Error, "Method %s: instruction %zu of chain %zu (%s%s%s) failed with error 0x%" PRIx32,
         plan_->name()->c_str(), instr_idx, chain_idx, name, dot, overload,
         static_cast<uint32_t>(error));
  const auto* traces = chain->stacktrace();
  const auto* frames = traces == nullptr || instr_idx >= traces->size()
                           ? nullptr
                           : traces->Get(static_cast<uint32_t>(instr_idx))->items();
  if (frames == nullptr || frames->size() == 0) {
    return;
  }
  // The innermost frame is the last one.
  const fb::Frame* frame = frames->Get(frames->size() - 1);
  auto text = [](const flatbuffers::String* string) {
    return string == nullptr ? "" : string->c_str();
  };
  ET_LOG(Error, "  from %s:%d in %s: %s", text(frame->filename()),
         static_cast<int>(frame->lineno()), text(frame->name()), text(frame->context()));
#endif
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
