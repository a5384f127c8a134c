// SPDX-License-Identifier: BSD-3-Clause
// A method of a program, ready to run: values, instructions, delegates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

// Instructions that one execution may run, and how often it may jump back.
#ifndef ET_MAX_INSTRUCTIONS
#define ET_MAX_INSTRUCTIONS 10000000
#endif
#ifndef ET_MAX_BACKWARD_JUMPS
#define ET_MAX_BACKWARD_JUMPS 100000
#endif

namespace executorch_flatbuffer {
struct Chain;
struct EValue;
struct ExecutionPlan;
struct Instruction;
}  // namespace executorch_flatbuffer

namespace executorch::runtime::internal {
class PlatformMemoryAllocator;
}  // namespace executorch::runtime::internal

namespace executorch::ET_RUNTIME_NAMESPACE {

class Program;
struct LoadedChain;
struct LoadedDelegate;
struct LoadedInstruction;
struct HeldList;
namespace deserialization {
struct NamedData;
}  // namespace deserialization
using InstructionArgs = Span<EValue*>;

// Made by Program::load_method(). Loading allocates what the method needs from the given
// allocators; nothing is allocated afterwards, but for what kernels and delegates take from the
// temporary allocator. Threads: a Method belongs to one thread at a time. Different Methods of one
// Program may run at the same time, each with its own memory manager. Lifetime: the program, the
// memory manager with its allocators, the event tracer and the data map must outlive it.
class Method final {
 public:
  Method(Method&& rhs) noexcept;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;

  // Destroys the delegates and gives back loaded data.
  ~Method();

  // ---- Inputs ----

  size_t inputs_size() const;

  // Sets an input. Its kind must be that of the method's input.
  //   Tensor: element type, rank and layout must agree, sizes must be equal or, if the input is
  //   dynamic, each within its range; in programs of other exporters, which hold no ranges, no more
  //   elements than the bounds have.
  //     If the input is memory-planned the bytes are copied; if not, its memory is used and must
  //     live as long as it is.
  //   Int, Bool, String: must be equal to the value the method was exported with; Double: nearly
  //   so.
  // InvalidArgument for all that disagrees, NotSupported for rank, static sizes and too many
  // elements, InvalidState while a stepped execution is in progress. After an error the input
  // counts as not set.
  ET_NODISCARD Error set_input(const EValue& input_evalue, size_t input_idx);

  // Sets all inputs; InvalidArgument unless there are exactly inputs_size().
  ET_NODISCARD Error set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues);

  // For writing into an input's own memory: each counts as set when its value was asked for. Abort
  // if there is no such input.
  ET_DEPRECATED const EValue& get_input(size_t i) const;
  ET_DEPRECATED EValue& mutable_input(size_t i);

  // Copies the inputs to the first elements of input_evalues and sets the rest to None.
  // InvalidArgument if too short.
  ET_DEPRECATED ET_NODISCARD Error get_inputs(EValue* input_evalues, size_t length);

  // ---- Outputs ----

  size_t outputs_size() const;

  // Gives an output tensor its memory, of `size` bytes: enough for its largest shape, until the
  // next call. Null takes it away: execution then needs another. InvalidState if it has memory from
  // the plan or a constant, InvalidArgument if the memory is too small or the output is not a
  // tensor.
  ET_NODISCARD Error set_output_data_ptr(void* buffer, size_t size, size_t output_idx);

  // Owned by the method and overwritten by the next execution. Aborts if there is no such output.
  const EValue& get_output(size_t i) const;
  ET_DEPRECATED EValue& mutable_output(size_t i);

  // Copies the outputs to the first elements of output_evalues and sets the rest to None.
  // InvalidArgument if too short.
  ET_NODISCARD Error get_outputs(EValue* output_evalues, size_t length);

  // ---- Execution ----

  // Runs all instructions. InvalidArgument if an input is not set or sizes of inputs that depend on
  // each other disagree, InvalidState if a stepped
  // execution is in progress, InvalidProgram if the step limit is reached, else what a kernel or
  // delegate returns. The error log says which instruction failed and, if the file knows, from
  // which line of the model it comes.
  ET_NODISCARD Error execute();

  // Runs the next instruction, or passes over a chain that has none. EndOfMethod at the end;
  // reset_execution() then starts again, as every failure does.
  ET_EXPERIMENTAL ET_NODISCARD Error step();

  // InvalidState unless all instructions have been run.
  ET_EXPERIMENTAL ET_NODISCARD Error reset_execution();

  // Whether a stepped execution has begun and was not reset.
  ET_EXPERIMENTAL ET_NODISCARD bool in_progress() const { return is_stepping(); }

  // Older names.
  ET_DEPRECATED ET_NODISCARD Error experimental_step();
  ET_DEPRECATED ET_NODISCARD Error experimental_reset_execution();

  // Changes how long one execution may take: ET_MAX_INSTRUCTIONS and ET_MAX_BACKWARD_JUMPS unless
  // set.
  void set_step_limit(size_t max_instructions, size_t max_backward_jumps);

  // ---- Other ----

  MethodMeta method_meta() const;

  // The parameter or buffer of this name; NotFound if the program has none. Writing to a constant
  // is not allowed.
  ET_NODISCARD Result<executorch::aten::Tensor> get_attribute(std::string_view name);

  // Null if there is none.
  EventTracer* get_event_tracer();

 private:
  friend class Program;

  enum class InitializationState : uint8_t { Uninitialized, Initialized, InitializationFailed };

  // The next instruction of a stepped execution.
  struct StepState {
    size_t chain_idx;
    size_t instr_idx;
  };

  // What load() needs besides the plan; borrowed, may be null or empty.
  struct LoadOptions {
    const NamedDataMap* named_data_map;
    const LoadBackendOptionsMap* backend_options;
    Span<const Kernel> kernels;
  };

  // Names of operators that no registry knows, by index; allocated when the first one is found.
  struct MissingOperators {
    bool* is_missing = nullptr;
    size_t count = 0;
  };

  Method(const Program* program, const executorch_flatbuffer::ExecutionPlan* plan,
         MemoryManager* memory_manager, EventTracer* event_tracer)
      : program_(program),
        plan_(plan),
        memory_manager_(memory_manager),
        temp_allocator_(memory_manager->temp_allocator()),
        event_tracer_(event_tracer) {}

  static Result<Method> load(const executorch_flatbuffer::ExecutionPlan* plan,
                             const Program* program, MemoryManager* memory_manager,
                             EventTracer* event_tracer, const LoadOptions& options);

  // Loading, in this order.
  Error init(const LoadOptions& options);
  Error init_temp_allocator();
  Error clear_planned_memory();
  Error load_external_constants(const NamedDataMap* data_map);
  Error init_values(const NamedDataMap* data_map);
  Error init_value(const executorch_flatbuffer::EValue& source, const NamedDataMap* data_map,
                   EValue* out);
  Error init_list(const executorch_flatbuffer::EValue& source, EValue* out);
  template <typename T>
  Error make_list(Result<BoxedEvalueList<T>> made, EValue* out);
  Error init_delegates(const LoadOptions& options);
  Error init_chains(Span<const Kernel> kernels);
  Error init_instruction(const executorch_flatbuffer::Instruction& source,
                         Span<const Kernel> kernels, MissingOperators* missing,
                         LoadedInstruction* out);
  Error resolve_operator(uint32_t op_index, Span<const Kernel> kernels, MissingOperators* missing,
                         LoadedInstruction* instruction);
  Error check_outputs(uint32_t op_index, const LoadedInstruction& instruction);
  Error check_aliases();
  void report_missing_operators(const MissingOperators& missing);

  // Execution.
  bool is_stepping() const { return step_state_.chain_idx != 0 || step_state_.instr_idx != 0; }
  Error run_next_step();
  Error end_steps();
  Error run_instruction(size_t chain_idx, size_t instr_idx, size_t* next);
  Error run_kernel(const LoadedInstruction& instruction, size_t chain_idx, size_t instr_idx);
  Error run_delegate(const LoadedInstruction& instruction);
  Error check_arguments(const LoadedInstruction& instruction) const;
  bool is_input(const EValue& value) const;
  Error check_inputs() const;
  void begin_execution();
  Error count_step(size_t instr_idx, size_t next);
  void log_outputs() const;
  void report_failure(size_t chain_idx, size_t instr_idx, Error error) const;
  bool is_read_only(const void* data) const;

  Error set_tensor_input(const executorch::aten::Tensor& input, size_t input_idx);
  EValue& input(size_t i) const;
  EValue& output(size_t i) const;
  Result<EValue*> value_at(int64_t index);
  // What the program says of a value.
  const executorch_flatbuffer::EValue& source_of(const EValue* value) const;

  const Program* program_;
  const executorch_flatbuffer::ExecutionPlan* plan_;
  MemoryManager* memory_manager_;
  MemoryAllocator* temp_allocator_;
  EventTracer* event_tracer_;
  internal::PlatformMemoryAllocator* own_temp_allocator_ = nullptr;
  const NamedDataMap* merged_data_map_ = nullptr;
  Span<EValue> values_;
  HeldList* held_lists_ = nullptr;
  bool* input_set_ = nullptr;
  Span<deserialization::NamedData> external_constants_;
  Span<LoadedDelegate> delegates_;
  Span<LoadedChain> chains_;
  StepState step_state_{0, 0};
  size_t steps_left_ = 0;
  size_t backward_jumps_left_ = 0;
  size_t max_instructions_ = ET_MAX_INSTRUCTIONS;
  size_t max_backward_jumps_ = ET_MAX_BACKWARD_JUMPS;
  InitializationState init_state_ = InitializationState::Uninitialized;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Method;
}  // namespace torch::executor
