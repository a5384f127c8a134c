// SPDX-License-Identifier: BSD-3-Clause
// Loading of methods: from program data to values, delegates and resolved instructions.
#include <cstdio>
#include <cstring>
#include <new>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/instruction.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/platform_memory_allocator.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/schema/program_generated.h>

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;
using deserialization::NamedData;
using executorch::aten::Tensor;

// Longest "name.overload", with its terminator.
constexpr size_t kMaxOperatorName = 100;
// Tensors of a call that take part in the choice of a kernel; with more, only kernels for any
// tensors are chosen.
constexpr size_t kMaxKeyTensors = 16;

template <typename T>
uint32_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool ends_with(const flatbuffers::String* text, const char* suffix) {
  const size_t length = std::strlen(suffix);
  return text != nullptr && text->size() >= length &&
         std::memcmp(text->c_str() + text->size() - length, suffix, length) == 0;
}

// Room for `size` elements; never an empty request, which some allocators answer with null.
template <typename T>
Error allocate(MemoryAllocator* allocator, size_t size, T** out) {
  *out = allocator->allocateList<T>(size == 0 ? 1 : size);
  return *out == nullptr ? Error::MemoryAllocationFailed : Error::Ok;
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

}  // namespace

Result<Method> Method::load(const fb::ExecutionPlan* plan, const Program* program,
                            MemoryManager* memory_manager, EventTracer* event_tracer,
                            const LoadOptions& options) {
  Method method(program, plan, memory_manager, event_tracer);
  const Error error = method.init(options);
  if (error != Error::Ok) {
    ET_LOG(Error, "Method %s was not loaded: error 0x%x", plan->name()->c_str(),
           static_cast<unsigned>(error));
    return error;
  }
  return method;
}

Error Method::init(const LoadOptions& options) {
  const internal::EventTracerProfileMethodScope scope(event_tracer_, "Method::init");
  ET_CHECK_OR_RETURN_ERROR(
      temp_allocator_ == nullptr || temp_allocator_ != memory_manager_->method_allocator(),
      InvalidArgument, "The temporary allocator must not be the method allocator: it is reset");
  init_state_ = InitializationState::InitializationFailed;
  ET_CHECK_OK_OR_RETURN_ERROR(init_temp_allocator());
  ET_CHECK_OK_OR_RETURN_ERROR(clear_planned_memory());
  ET_CHECK_OK_OR_RETURN_ERROR(load_external_constants(options.named_data_map));
  ET_CHECK_OK_OR_RETURN_ERROR(init_values(options.named_data_map));
  ET_CHECK_OK_OR_RETURN_ERROR(init_delegates(options));
  ET_CHECK_OK_OR_RETURN_ERROR(init_chains(options.kernels));
  init_state_ = InitializationState::Initialized;
  return Error::Ok;
}

Method::Method(Method&& rhs) noexcept
    : program_(rhs.program_),
      plan_(rhs.plan_),
      memory_manager_(rhs.memory_manager_),
      temp_allocator_(rhs.temp_allocator_),
      event_tracer_(rhs.event_tracer_),
      own_temp_allocator_(rhs.own_temp_allocator_),
      merged_data_map_(rhs.merged_data_map_),
      values_(rhs.values_),
      input_set_(rhs.input_set_),
      external_constants_(rhs.external_constants_),
      delegates_(rhs.delegates_),
      chains_(rhs.chains_),
      step_state_(rhs.step_state_),
      steps_left_(rhs.steps_left_),
      backward_jumps_left_(rhs.backward_jumps_left_),
      max_instructions_(rhs.max_instructions_),
      max_backward_jumps_(rhs.max_backward_jumps_),
      init_state_(rhs.init_state_) {
  // What has been moved from has nothing to destroy and refuses to run.
  rhs.own_temp_allocator_ = nullptr;
  rhs.values_ = {};
  rhs.external_constants_ = {};
  rhs.delegates_ = {};
  rhs.chains_ = {};
  rhs.init_state_ = InitializationState::Uninitialized;
}

Method::~Method() {
  for (EValue& value : values_) {
    value.~EValue();
  }
  for (LoadedDelegate& delegate : delegates_) {
    delegate.backend->destroy(delegate.handle);
    delegate.data.~FreeableBuffer();
  }
  for (NamedData& constant : external_constants_) {
    constant.~NamedData();
  }
  if (own_temp_allocator_ != nullptr) {
    own_temp_allocator_->~PlatformMemoryAllocator();
  }
}

// ---- Memory ----

Error Method::init_temp_allocator() {
  if (temp_allocator_ != nullptr) {
    return Error::Ok;
  }
  using internal::PlatformMemoryAllocator;
  auto* memory = memory_manager_->method_allocator()->allocateInstance<PlatformMemoryAllocator>();
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  own_temp_allocator_ = new (memory) PlatformMemoryAllocator();
  temp_allocator_ = own_temp_allocator_;
  return Error::Ok;
}

// State that has no initial content starts at zero, and nothing ever reads what an arena held
// before. Only what tensors use is cleared: a file may announce any size.
Error Method::clear_planned_memory() {
  const auto* sizes = plan_->non_const_buffer_sizes();
  HierarchicalAllocator* planned = memory_manager_->planned_memory();
  const uint32_t num_buffers = count(sizes);
  if (num_buffers <= 1) {
    return Error::Ok;
  }
  uint64_t* used = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(memory_manager_->method_allocator(), num_buffers, &used));
  std::memset(used, 0, num_buffers * sizeof(*used));
  for (uint32_t i = 0; i < plan_->values()->size(); ++i) {
    const fb::Tensor* tensor = plan_->values()->Get(i)->val_as_Tensor();
    const auto* place = tensor == nullptr ? nullptr : tensor->allocation_info();
    if (place == nullptr || place->memory_id() >= num_buffers) {
      continue;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor(tensor));
    // What does not fit is refused when the tensor is built.
    const uint64_t offset =
        (static_cast<uint64_t>(place->memory_offset_high()) << 32) | place->memory_offset_low();
    const uint64_t end = offset + tensor_nbytes(tensor);
    uint64_t& max_end = used[place->memory_id()];
    max_end = end > max_end ? end : max_end;
  }
  const MethodMeta meta = method_meta();
  for (uint32_t i = 1; i < num_buffers; ++i) {
    const size_t size = static_cast<size_t>(sizes->Get(i));
    if (size == 0) {
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(planned != nullptr, InvalidState,
                             "The method needs planned memory, but the memory manager has none");
    const Result<void*> arena = planned->get_offset_address(i - 1, 0, size);
    ET_CHECK_OR_RETURN_ERROR(
        arena.ok(), MemoryAllocationFailed,
        "Planned buffer %u is missing or has less than the %zu bytes that the method needs",
        static_cast<unsigned>(i - 1), size);
    const Result<etensor::Device> device = meta.memory_planned_buffer_device(i - 1);
    if (device.ok() && device->is_cpu()) {
      std::memset(*arena, 0, used[i] < size ? static_cast<size_t>(used[i]) : size);
    }
  }
  return Error::Ok;
}

// ---- Values ----

Error Method::load_external_constants(const NamedDataMap* data_map) {
  const auto& values = *plan_->values();
  // Constants outside the program, and memory for them only if there are any.
  auto name_of = [](const fb::EValue& value) -> const char* {
    const fb::Tensor* tensor = value.val_as_Tensor();
    const fb::ExtraTensorInfo* extra = tensor == nullptr ? nullptr : tensor->extra_tensor_info();
    return extra == nullptr || extra->location() != fb::TensorDataLocation::EXTERNAL ||
                   extra->fully_qualified_name() == nullptr || tensor->allocation_info() != nullptr
               ? nullptr
               : extra->fully_qualified_name()->c_str();
  };
  size_t num_external = 0;
  for (uint32_t i = 0; i < values.size(); ++i) {
    num_external += name_of(*values[i]) != nullptr;
  }
  if (num_external == 0) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(
      data_map != nullptr, InvalidState,
      "%zu constants are outside the program: load the method with its data map (.ptd)",
      num_external);
  NamedData* constants = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      allocate(memory_manager_->method_allocator(), num_external, &constants));
  for (uint32_t i = 0; i < values.size(); ++i) {
    const char* name = name_of(*values[i]);
    if (name == nullptr) {
      continue;
    }
    const Result<const TensorLayout> layout = data_map->get_tensor_layout(name);
    if (!layout.ok()) {
      ET_LOG(Error, "The data map has no tensor '%s'", name);
      return layout.error();
    }
    ET_CHECK_OK_OR_RETURN_ERROR(
        deserialization::validateTensorLayout(values[i]->val_as_Tensor(), *layout));
    if (deserialization::get_data_by_key(name, external_constants_) == nullptr) {
      FreeableBuffer data = ET_UNWRAP(data_map->get_data(name));
      const size_t index = external_constants_.size();
      new (&constants[index]) NamedData{name, std::move(data)};
      external_constants_ = {constants, index + 1};
    }
  }
  return Error::Ok;
}

Error Method::init_values(const NamedDataMap* data_map) {
  const auto& sources = *plan_->values();
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  EValue* values = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, sources.size(), &values));
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, plan_->inputs()->size(), &input_set_));
  for (uint32_t i = 0; i < sources.size(); ++i) {
    new (&values[i]) EValue();
  }
  std::memset(input_set_, 0, plan_->inputs()->size());
  values_ = {values, sources.size()};
  // Lists refer to values before and after them, so they come second.
  for (const bool lists : {false, true}) {
    for (uint32_t i = 0; i < sources.size(); ++i) {
      const fb::KernelTypes type = sources[i]->val_type();
      const bool is_list =
          type == fb::KernelTypes::TensorList || type == fb::KernelTypes::OptionalTensorList;
      if (is_list != lists) {
        continue;
      }
      const Error error = is_list ? init_list(*sources[i], &values[i])
                                  : init_value(*sources[i], data_map, &values[i]);
      if (error != Error::Ok) {
        ET_LOG(Error, "Value %u of the method is invalid", static_cast<unsigned>(i));
        return error;
      }
    }
  }
  return Error::Ok;
}

Result<EValue*> Method::value_at(int64_t index) {
  ET_CHECK_OR_RETURN_ERROR(static_cast<uint64_t>(index) < values_.size(), InvalidProgram,
                           "Value %lld of %zu", static_cast<long long>(index), values_.size());
  return &values_[static_cast<size_t>(index)];
}

namespace {

// A list whose items stand in the program data.
template <typename T>
Error make_inline_list(MemoryAllocator* allocator, const T* items, size_t size, EValue* out) {
  ArrayRef<T>* list = allocator->allocateInstance<ArrayRef<T>>();
  if (list == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  *out = EValue(new (list) ArrayRef<T>(items, size));
  return Error::Ok;
}

}  // namespace

Error Method::init_value(const fb::EValue& source, const NamedDataMap* data_map, EValue* out) {
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  if (source.val_type() == fb::KernelTypes::Null) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(source.val() != nullptr, InvalidProgram, "A value has no content");
  switch (source.val_type()) {
    case fb::KernelTypes::Int:
      *out = EValue(source.val_as_Int()->int_val());
      return Error::Ok;
    case fb::KernelTypes::Bool:
      *out = EValue(source.val_as_Bool()->bool_val());
      return Error::Ok;
    case fb::KernelTypes::Double:
      *out = EValue(source.val_as_Double()->double_val());
      return Error::Ok;
    case fb::KernelTypes::Tensor:
      *out = EValue(ET_UNWRAP(deserialization::parseTensor(
          program_, memory_manager_, source.val_as_Tensor(), data_map, external_constants_)));
      return Error::Ok;
    case fb::KernelTypes::String: {
      const auto* text = source.val_as_String()->string_val();
      ET_CHECK_OR_RETURN_ERROR(text != nullptr, InvalidProgram, "A string has no content");
      return make_inline_list<char>(allocator, text->c_str(), text->size(), out);
    }
    case fb::KernelTypes::DoubleList: {
      const auto* items = source.val_as_DoubleList()->items();
      ET_CHECK_OR_RETURN_ERROR(items != nullptr, InvalidProgram, "A list has no items");
      return make_inline_list<double>(allocator, items->data(), items->size(), out);
    }
    case fb::KernelTypes::BoolList: {
      const auto* items = source.val_as_BoolList()->items();
      ET_CHECK_OR_RETURN_ERROR(items != nullptr, InvalidProgram, "A list has no items");
      return make_inline_list<bool>(allocator, reinterpret_cast<const bool*>(items->data()),
                                    items->size(), out);
    }
    case fb::KernelTypes::IntList: {
      const auto* items = source.val_as_IntList()->items();
      ET_CHECK_OR_RETURN_ERROR(items != nullptr, InvalidProgram, "A list has no items");
      EValue** members = nullptr;
      int64_t* flat = nullptr;
      auto* list = allocator->allocateInstance<BoxedEvalueList<int64_t>>();
      ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, items->size(), &members));
      ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, items->size(), &flat));
      if (list == nullptr) {
        return Error::MemoryAllocationFailed;
      }
      for (uint32_t i = 0; i < items->size(); ++i) {
        members[i] = ET_UNWRAP(value_at(items->Get(i)));
      }
      const int size = static_cast<int>(items->size());
      *out = EValue(new (list) BoxedEvalueList<int64_t>(members, flat, size));
      return Error::Ok;
    }
    default:
      ET_LOG(Error, "A value has the unknown type %d", static_cast<int>(source.val_type()));
      return Error::InvalidProgram;
  }
}

Error Method::init_list(const fb::EValue& source, EValue* out) {
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  ET_CHECK_OR_RETURN_ERROR(source.val() != nullptr, InvalidProgram, "A list has no content");
  if (source.val_type() == fb::KernelTypes::TensorList) {
    auto* list = allocator->allocateInstance<BoxedEvalueList<Tensor>>();
    if (list == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    *out = EValue(new (list) BoxedEvalueList<Tensor>(ET_UNWRAP(deserialization::parseTensorList(
        source.val_as_TensorList()->items(), values_.data(), values_.size(), memory_manager_))));
    return Error::Ok;
  }
  auto* list = allocator->allocateInstance<BoxedEvalueList<std::optional<Tensor>>>();
  if (list == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  *out = EValue(new (list) BoxedEvalueList<std::optional<Tensor>>(
      ET_UNWRAP(deserialization::parseListOptionalType<Tensor>(
          source.val_as_OptionalTensorList()->items(), values_.data(), values_.size(),
          memory_manager_))));
  return Error::Ok;
}

// ---- Delegates ----

namespace {

Result<ArrayRef<CompileSpec>> make_compile_specs(const fb::BackendDelegate& delegate,
                                                 MemoryAllocator* allocator) {
  const auto* sources = delegate.compile_specs();
  CompileSpec* specs = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, count(sources), &specs));
  for (uint32_t i = 0; i < count(sources); ++i) {
    const fb::CompileSpec* source = sources->Get(i);
    ET_CHECK_OR_RETURN_ERROR(source->key() != nullptr, InvalidProgram, "Compile spec %u has no key",
                             static_cast<unsigned>(i));
    const auto* value = source->value();
    void* bytes = value == nullptr ? nullptr : const_cast<uint8_t*>(value->data());
    new (&specs[i]) CompileSpec{source->key()->c_str(), {bytes, count(value)}};
  }
  return ArrayRef<CompileSpec>(specs, count(sources));
}

}  // namespace

Error Method::init_delegates(const LoadOptions& options) {
  const auto* sources = plan_->delegates();
  if (count(sources) == 0) {
    return Error::Ok;
  }
  MemoryAllocator* allocator = memory_manager_->method_allocator();
  LoadedDelegate* delegates = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, sources->size(), &delegates));
  const Result<const NamedDataMap*> named_data = program_->get_named_data_map();
  const NamedDataMap* own = named_data.ok() ? *named_data : nullptr;
  merged_data_map_ = own == nullptr ? options.named_data_map : own;
  if (own != nullptr && options.named_data_map != nullptr) {
    auto* merged = allocator->allocateInstance<internal::MergedDataMap>();
    if (merged == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    merged_data_map_ = new (merged) internal::MergedDataMap(options.named_data_map, own);
  }
  for (uint32_t i = 0; i < sources->size(); ++i) {
    const fb::BackendDelegate& source = *sources->Get(i);
    ET_CHECK_OR_RETURN_ERROR(source.id() != nullptr, InvalidProgram,
                             "Delegate %u has no backend name", static_cast<unsigned>(i));
    const char* name = source.id()->c_str();
    const BackendInterface* backend = get_backend_class(name);
    ET_CHECK_OR_RETURN_ERROR(backend != nullptr, NotFound, "Backend %s is not registered.", name);
    ET_CHECK_OR_RETURN_ERROR(backend->is_available(), NotFound,
                             "Backend %s is not available on this device.", name);
    FreeableBuffer data = ET_UNWRAP(program_->load_delegate_data(source));
    const ArrayRef<CompileSpec> specs = ET_UNWRAP(make_compile_specs(source, allocator));
    const Span<const BackendOption> runtime_specs =
        options.backend_options == nullptr ? Span<const BackendOption>()
                                           : options.backend_options->get_options(name);
    BackendInitContext context(allocator, event_tracer_, plan_->name()->c_str(), merged_data_map_,
                               runtime_specs);
    // The delegate may keep the buffer's address: it gets its final place before init().
    auto* delegate = new (&delegates[i]) LoadedDelegate{backend, nullptr, std::move(data)};
    const Result<DelegateHandle*> handle = backend->init(context, &delegate->data, specs);
    if (!handle.ok()) {
      ET_LOG(Error, "Backend %s failed to initialize delegate %u: error 0x%x", name,
             static_cast<unsigned>(i), static_cast<unsigned>(handle.error()));
      delegate->data.~FreeableBuffer();
      return handle.error();
    }
    delegate->handle = *handle;
    delegates_ = {delegates, i + 1};
  }
  return Error::Ok;
}

// ---- Instructions ----

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
                             "Chain %u has no instructions", static_cast<unsigned>(i));
    LoadedInstruction* loaded = nullptr;
    ET_CHECK_OK_OR_RETURN_ERROR(allocate(allocator, instructions->size(), &loaded));
    for (uint32_t j = 0; j < instructions->size(); ++j) {
      const Error error = init_instruction(*instructions->Get(j), kernels, &missing, &loaded[j]);
      if (error != Error::Ok) {
        ET_LOG(Error, "Instruction %u of chain %u is invalid", static_cast<unsigned>(j),
               static_cast<unsigned>(i));
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
                           "Operator %u of %u", static_cast<unsigned>(op_index),
                           static_cast<unsigned>(count(plan_->operators())));
  char name[kMaxOperatorName];
  ET_CHECK_OK_OR_RETURN_ERROR(compose_name(*plan_->operators()->Get(op_index), name));

  TensorMeta metas[kMaxKeyTensors];
  size_t num_metas = 0;
  for (uint32_t i = 0; i < instruction->num_args && num_metas <= kMaxKeyTensors; ++i) {
    if (!instruction->args[i]->isTensor()) {
      continue;
    }
    if (num_metas < kMaxKeyTensors) {
      const Tensor tensor = instruction->args[i]->toTensor();
      auto dim_order = tensor.dim_order();
      metas[num_metas] = TensorMeta(
          tensor.scalar_type(),
          {const_cast<executorch::aten::DimOrderType*>(dim_order.data()), dim_order.size()});
    }
    ++num_metas;
  }
  const Result<OpFunction> kernel = internal::get_op_function_from_registry(
      name, {metas, num_metas > kMaxKeyTensors ? 0 : num_metas}, kernels);
  if (kernel.ok()) {
    instruction->kernel = *kernel;
    const bool is_prim_op = starts_with(name, "executorch_prim::");
    instruction->writes_first = std::strcmp(name, "executorch_prim::et_copy_index.tensor") == 0;
    instruction->reads_data = !is_prim_op || instruction->writes_first;
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

bool same_tensors(ArrayRef<Tensor> first, ArrayRef<Tensor> second) {
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
    const ArrayRef<Tensor> list = last->toTensorList();
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
    ET_CHECK_OR_RETURN_ERROR(args[i] != last || last->toTensor().shape_dynamism() ==
                                                    executorch::aten::TensorShapeDynamism::STATIC,
                             InvalidProgram,
                             "Call of %s: operand %u is also its output and has a dynamic shape",
                             op.name()->c_str(), static_cast<unsigned>(i));
  }
  return Error::Ok;
}

void Method::report_missing_operators([[maybe_unused]] const MissingOperators& missing) {
#if ET_LOG_ENABLED
  static constexpr char kHint[] =
      ". Link a kernel library that has them: portable_ops_lib or optimized_native_cpu_ops_lib "
      "for aten and dim_order_ops, quantized_ops_lib for quantized_decomposed, or your own.";
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
