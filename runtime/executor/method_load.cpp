// SPDX-License-Identifier: BSD-3-Clause
// Life of methods: the order of loading, planned memory, moving, destruction.
#include <cinttypes>
#include <cstring>
#include <new>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/instruction.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_load.h>
#include <executorch/runtime/executor/platform_memory_allocator.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace fb = executorch_flatbuffer;
using deserialization::NamedData;
using internal::allocate;
using internal::count;

Result<Method> Method::load(const fb::ExecutionPlan* plan, const Program* program,
                            MemoryManager* memory_manager, EventTracer* event_tracer,
                            const LoadOptions& options) {
  Method method(program, plan, memory_manager, event_tracer);
  const Error error = method.init(options);
  if (error != Error::Ok) {
    ET_LOG(Error, "Method %s was not loaded: error 0x%" PRIx32, plan->name()->c_str(),
           static_cast<uint32_t>(error));
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
      held_lists_(rhs.held_lists_),
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
  if constexpr (kTensorsCountReferences) {
    rhs.held_lists_ = nullptr;
  }
  rhs.own_temp_allocator_ = nullptr;
  rhs.values_ = {};
  rhs.external_constants_ = {};
  rhs.delegates_ = {};
  rhs.chains_ = {};
  rhs.init_state_ = InitializationState::Uninitialized;
}

Method::~Method() {
  if constexpr (kTensorsCountReferences) {
    for (HeldList* held = held_lists_; held != nullptr; held = held->next) {
      held->destroy(held->list);
    }
  }
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
    ET_CHECK_OR_RETURN_ERROR(arena.ok(), MemoryAllocationFailed,
                             "Planned buffer %" PRIu32
                             " is missing or has less than the %zu bytes that the method needs",
                             static_cast<uint32_t>(i - 1), size);
    const Result<etensor::Device> device = meta.memory_planned_buffer_device(i - 1);
    if (device.ok() && device->is_cpu() && !planned->is_zeroed()) {
      std::memset(*arena, 0, used[i] < size ? static_cast<size_t>(used[i]) : size);
    }
  }
  return Error::Ok;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
