// SPDX-License-Identifier: BSD-3-Clause
// Loading of a method's instructions: operands, kernels, and what calls may write.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/instruction.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_load.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;
using executorch::aten::Tensor;
using internal::allocate;
using internal::count;

// Longest "name.overload", with its terminator.
constexpr size_t kMaxOperatorName = 100;
// Tensors of a call that take part in the choice of a kernel; with more, only kernels for any
// tensors are chosen.
constexpr size_t kMaxKeyTensors = 16;

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool ends_with(const flatbuffers::String* text, const char* suffix) {
  const size_t length = std::strlen(suffix);
  return text != nullptr && text->size() >= length &&
         std::memcmp(text->c_str() + text->size() - length, suffix, length) == 0;
}

// Writes "name" or "name.overload" and its terminator.
Error compose_name(const fb::Operator& op, char (&out)[kMaxOperatorName]) {
  ET_CHECK_OR_RETURN_ERROR(op.name() != nullptr, InvalidProgram, "An operator has no name");
  const size_t name_size = op.name()->size();
  const size_t overload_size = op.overload() == nullptr ? 0 : op.overload()->size();
  ET_CHECK_OR_RETURN_ERROR(name_size + overload_size + 2 <= kMaxOperatorName, Internal,
                           "Operator %s: its name has more than %zu characters", op.name()->c_str(),
                           kMaxOperatorName - 2);
  std::memcpy(out, op.name()->c_str(), name_size + 1);
  if (overload_size > 0) {
    out[name_size] = '.';
    std::memcpy(out + name_size + 1, op.overload()->c_str(), overload_size + 1);
  }
  return Error::Ok;
}

// The method's own list goes before the registry.
Result<OpFunction> find_kernel(const char* name, Span<const TensorMeta> metas,
                               Span<const Kernel> kernels) {
  const Result<OpFunction> own = get_op_function_from_registry(name, metas, kernels);
  if (own.ok()) {
    return *own;
  }
  return own.error() == Error::OperatorMissing ? get_op_function_from_registry(name, metas)
                                               : own.error();
}

}  // namespace

Error Method::init_chains(Span<const Kernel> kernels) {
  const auto* sources = plan_->chains();
  ET_CHECK_OR_RETURN_ERROR(sources != nullptr, InvalidProgram, "The method has no chains");
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  LoadedChain* chains = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, sources->size(), &chains));
  MissingOperators missing;
  for (uint32_t i = 0; i < sources->size(); ++i) {
    const fb::Chain* source = sources->Get(i);
    const auto* instructions = source->instructions();
    ET_CHECK_OR_RETURN_ERROR(instructions != nullptr, InvalidProgram,
                             "Chain %" PRIu32 " has no instructions", i);
    LoadedInstruction* loaded = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, instructions->size(), &loaded));
    for (uint32_t j = 0; j < instructions->size(); ++j) {
      const Error error = init_instruction(*instructions->Get(j), kernels, &missing, &loaded[j]);
      if (error != Error::Ok) {
        ET_LOG(Error, "Instruction %" PRIu32 " of chain %" PRIu32 " is invalid", j, i);
        return error;
      }
    }
    new (&chains[i]) LoadedChain{source, {loaded, instructions->size()}};
  }
  if (missing.count > 0) {
    report_missing_operators(missing);
    return Error::OperatorMissing;
  }
  chains_ = {chains, sources->size()};
  return check_aliases();
}

// A view, and what a value is moved to, borrow the memory of another tensor, which may be smaller
// than their own bounds allow. Nothing but views and moves may write to them.
Error Method::check_aliases() {
  bool* is_alias = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      allocate(memory_manager_->method_allocator(), values_.size(), &is_alias));
  std::memset(is_alias, 0, values_.size());
  auto index_of = [this](const EValue* value) {
    return static_cast<size_t>(value - values_.data());
  };
  using Kind = LoadedInstruction::Kind;
  bool any = false;
  for (const LoadedChain& chain : chains_) {
    for (const LoadedInstruction& instruction : chain.instructions) {
      const bool is_view = instruction.kind == Kind::kKernel && !instruction.reads_data &&
                           instruction.num_args > 0 &&
                           instruction.args[instruction.num_args - 1]->isTensor();
      const bool is_move = instruction.kind == Kind::kMove && instruction.value->isTensor();
      if (is_view || is_move) {
        is_alias[index_of(is_view ? instruction.args[instruction.num_args - 1]
                                  : instruction.value)] = true;
        any = true;
      }
    }
  }
  for (size_t i = 0; any && i < chains_.size(); ++i) {
    for (const LoadedInstruction& instruction : chains_[i].instructions) {
      if (instruction.kind != Kind::kKernel || !instruction.reads_data ||
          instruction.num_args == 0) {
        continue;
      }
      // Several outputs precede the list that repeats them.
      const uint32_t last = instruction.writes_first ? 0 : instruction.num_args - 1;
      uint32_t first = last;
      if (instruction.args[last]->isTensorList()) {
        const size_t size = instruction.args[last]->toTensorList().size();
        first -= static_cast<uint32_t>(size < last ? size : last);
      }
      for (uint32_t j = first; j <= last; ++j) {
        const EValue* written = instruction.args[j];
        ET_CHECK_OR_RETURN_ERROR(
            !written->isTensor() || !is_alias[index_of(written)], InvalidProgram,
            "Value %zu is written by an operator, but borrows its memory", index_of(written));
      }
    }
  }
  return Error::Ok;
}

const fb::EValue& Method::source_of(const EValue* value) const {
  return *plan_->values()->Get(static_cast<uint32_t>(value - values_.data()));
}

Error Method::init_instruction(const fb::Instruction& source, Span<const Kernel> kernels,
                               MissingOperators* missing, LoadedInstruction* out) {
  using Kind = LoadedInstruction::Kind;
  ET_CHECK_OR_RETURN_ERROR(source.instr_args() != nullptr, InvalidProgram,
                           "An instruction has no content");
  const flatbuffers::Vector<int32_t>* args = nullptr;
  new (out) LoadedInstruction{};
  switch (source.instr_args_type()) {
    case fb::InstructionArguments::KernelCall:
      out->kind = Kind::kKernel;
      args = source.instr_args_as_KernelCall()->args();
      break;
    case fb::InstructionArguments::DelegateCall: {
      const auto* call = source.instr_args_as_DelegateCall();
      const auto index = static_cast<uint32_t>(call->delegate_index());
      ET_CHECK_OR_RETURN_ERROR(index < delegates_.size(), Internal, "Delegate %d of %zu",
                               static_cast<int>(call->delegate_index()), delegates_.size());
      out->kind = Kind::kDelegate;
      out->delegate = &delegates_[index];
      out->reads_data = true;
      args = call->args();
      break;
    }
    case fb::InstructionArguments::MoveCall: {
      const auto* call = source.instr_args_as_MoveCall();
      out->kind = Kind::kMove;
      out->value = ET_UNWRAP(value_at(call->move_to()));
      out->source = ET_UNWRAP(value_at(call->move_from()));
      return Error::Ok;
    }
    case fb::InstructionArguments::JumpFalseCall: {
      const auto* call = source.instr_args_as_JumpFalseCall();
      out->kind = Kind::kJumpFalse;
      out->value = ET_UNWRAP(value_at(call->cond_value_index()));
      out->target = static_cast<size_t>(call->destination_instruction());
      return Error::Ok;
    }
    case fb::InstructionArguments::FreeCall:
      out->kind = Kind::kFree;
      out->value = ET_UNWRAP(value_at(source.instr_args_as_FreeCall()->value_index()));
      return Error::Ok;
    default:
      ET_LOG(Error, "Unknown instruction type %d", static_cast<int>(source.instr_args_type()));
      return Error::InvalidProgram;
  }
  ET_CHECK_OR_RETURN_ERROR(args != nullptr, InvalidProgram, "A call has no arguments");
  ET_CHECK_OK_OR_RETURN_ERROR(
      allocate(memory_manager_->method_allocator(), args->size(), &out->args));
  out->num_args = args->size();
  for (uint32_t i = 0; i < args->size(); ++i) {
    out->args[i] = ET_UNWRAP(value_at(args->Get(i)));
  }
  return out->kind == Kind::kDelegate
             ? Error::Ok
             : resolve_operator(
                   static_cast<uint32_t>(source.instr_args_as_KernelCall()->op_index()), kernels,
                   missing, out);
}

Error Method::resolve_operator(uint32_t op_index, Span<const Kernel> kernels,
                               MissingOperators* missing, LoadedInstruction* instruction) {
  ET_CHECK_OR_RETURN_ERROR(op_index < count(plan_->operators()), InvalidProgram,
                           "Operator %" PRIu32 " of %" PRIu32, op_index, count(plan_->operators()));
  char name[kMaxOperatorName];
  ET_CHECK_OK_OR_RETURN_ERROR(compose_name(*plan_->operators()->Get(op_index), name));

  TensorMeta metas[kMaxKeyTensors];
  internal::DimOrderRoom rooms[kMaxKeyTensors];
  size_t num_metas = 0;
  for (uint32_t i = 0; i < instruction->num_args && num_metas <= kMaxKeyTensors; ++i) {
    if (!instruction->args[i]->isTensor()) {
      continue;
    }
    if (num_metas < kMaxKeyTensors) {
      const Tensor& tensor = instruction->args[i]->toTensor();
      const auto dim_order = internal::dim_order_of(tensor, rooms[num_metas]);
      metas[num_metas] = TensorMeta(
          tensor.scalar_type(),
          {const_cast<executorch::aten::DimOrderType*>(dim_order.data()), dim_order.size()});
    }
    ++num_metas;
  }
  const Result<OpFunction> kernel =
      find_kernel(name, {metas, num_metas > kMaxKeyTensors ? 0 : num_metas}, kernels);
  if (kernel.ok()) {
    instruction->kernel = *kernel;
    const bool is_prim_op = starts_with(name, "executorch_prim::");
    instruction->writes_first = std::strcmp(name, "executorch_prim::et_copy_index.tensor") == 0;
    const bool reads_sizes = starts_with(name, "aten::sym_");
    instruction->reads_data = (!is_prim_op && !reads_sizes) || instruction->writes_first;
    return is_prim_op ? Error::Ok : check_outputs(op_index, *instruction);
  }
  if (kernel.error() != Error::OperatorMissing) {
    return kernel.error();
  }
  if (missing->is_missing == nullptr) {
    ET_CHECK_OK_OR_RETURN_ERROR(allocate(memory_manager_->method_allocator(),
                                         plan_->operators()->size(), &missing->is_missing));
    std::memset(missing->is_missing, 0, plan_->operators()->size());
  }
  missing->count += !missing->is_missing[op_index];
  missing->is_missing[op_index] = true;
  return Error::Ok;
}

namespace {

bool same_tensors(executorch::aten::ArrayRef<Tensor> first,
                  executorch::aten::ArrayRef<Tensor> second) {
  if (first.size() != second.size()) {
    return false;
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].unsafeGetTensorImpl() != second[i].unsafeGetTensorImpl()) {
      return false;
    }
  }
  return true;
}

}  // namespace

// An operator writes what it also returns, so its last argument says what must not be a constant.
// That holds only if the call is laid out as its operator's name promises: `x.out` has its outputs
// before the returned value, `x_` changes its first argument.
Error Method::check_outputs(uint32_t op_index, const LoadedInstruction& instruction) {
  const fb::Operator& op = *plan_->operators()->Get(op_index);
  const uint32_t n = instruction.num_args;
  if (n < 2) {
    return Error::Ok;
  }
  EValue** args = instruction.args;
  const EValue* last = args[n - 1];
  if (!last->isTensor() && !last->isTensorList()) {
    return Error::Ok;
  }
  uint32_t num_outputs = 1;
  bool valid = args[n - 2] == last;
  if (ends_with(op.name(), "_")) {
    valid = valid || args[0] == last;
  } else if (!ends_with(op.overload(), "out") && last->isTensor()) {
    valid = true;
  }
  if (!valid && last->isTensorList() && args[n - 2]->isTensorList()) {
    // An exporter may write the list twice, as two values with the same items.
    valid = same_tensors(args[n - 2]->toTensorList(), last->toTensorList());
  }
  if (!valid && last->isTensorList()) {
    const executorch::aten::ArrayRef<Tensor> list = last->toTensorList();
    num_outputs = static_cast<uint32_t>(list.size());
    valid = num_outputs < n;
    for (uint32_t i = 0; valid && i < num_outputs; ++i) {
      const EValue* out = args[n - 1 - num_outputs + i];
      valid =
          out->isTensor() && out->toTensor().unsafeGetTensorImpl() == list[i].unsafeGetTensorImpl();
    }
  }
  ET_CHECK_OR_RETURN_ERROR(valid, InvalidProgram, "Call of %s: its outputs are not what it returns",
                           op.name()->c_str());
  // Changing the shape of an output that is also an operand would change the operand under the
  // kernel's feet.
  for (uint32_t i = 0; last->isTensor() && ends_with(op.overload(), "out") && i + 2 < n; ++i) {
    bool is_static = internal::shape_dynamism_of(last->toTensor()) == TensorShapeDynamism::STATIC;
    if constexpr (kTensorsCountReferences) {
      is_static =
          source_of(last).val_as_Tensor()->shape_dynamism() == fb::TensorShapeDynamism::STATIC;
    }
    ET_CHECK_OR_RETURN_ERROR(args[i] != last || is_static, InvalidProgram,
                             "Call of %s: operand %" PRIu32
                             " is also its output and has a dynamic shape",
                             op.name()->c_str(), i);
  }
  return Error::Ok;
}

void Method::report_missing_operators([[maybe_unused]] const MissingOperators& missing) {
#if ET_LOG_ENABLED
  static constexpr char kHint[] =
      ". Link a kernel library that has them: portable_ops_lib or optimized_native_cpu_ops_lib "
      "for aten and dim_order_ops, quantized_ops_lib for quantized_decomposed, custom_ops for "
      "llama, or your own.";
  size_t size = sizeof(kHint) + 64;
  for (uint32_t i = 0; i < plan_->operators()->size(); ++i) {
    size += missing.is_missing[i] ? kMaxOperatorName + 2 : 0;
  }
  // One message however long it is, so it does not go through the fixed buffer of the log macros.
  char* text = nullptr;
  if (allocate(memory_manager_->method_allocator(), size, &text) != Error::Ok) {
    ET_LOG(Error, "%zu operators are missing", missing.count);
    return;
  }
  size_t length =
      static_cast<size_t>(std::snprintf(text, 64, "Missing operators (%zu): ", missing.count));
  const char* separator = "";
  for (uint32_t i = 0; i < plan_->operators()->size(); ++i) {
    char name[kMaxOperatorName];
    if (missing.is_missing[i] && compose_name(*plan_->operators()->Get(i), name) == Error::Ok) {
      length +=
          static_cast<size_t>(std::snprintf(text + length, size - length, "%s%s", separator, name));
      separator = ", ";
    }
  }
  std::memcpy(text + length, kHint, sizeof(kHint));
  pal_emit_log_message(pal_current_ticks(), et_pal_log_level_t::kError, ET_SHORT_FILENAME,
                       ET_FUNCTION, ET_LINE, text, length + sizeof(kHint) - 1);
#endif
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
