// SPDX-License-Identifier: BSD-3-Clause
// Verification of program data: flatbuffer structure, then the meaning of every field that the
// runtime follows.
#include <executorch/runtime/executor/program_validation.h>

#include <cinttypes>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/executor/program_structure.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

// ET_CHECK_OR_RETURN_FALSE without the condition's source text, which the message says in words.
#define VALID_OR_RETURN_FALSE(condition, ...) \
  {                                           \
    if (!(condition)) {                       \
      ET_LOG(Error, __VA_ARGS__);             \
      return false;                           \
    }                                         \
  }

namespace executorch::runtime {
namespace {

namespace fb = executorch_flatbuffer;

template <typename T>
uint32_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// Signed indices are compared as unsigned, so that negative ones are out of range.
bool in_range(int64_t index, uint64_t size) {
  return static_cast<uint64_t>(index) < size;
}

enum class ByteCount { kFits, kOverflows };

bool valid_scalar_type(const fb::Tensor& tensor) {
  return isValid(static_cast<executorch::aten::ScalarType>(tensor.scalar_type()));
}

// Multiplies sizes and element size; strides are 32 bits wide, so all but the outermost dimension
// must fit them.
ByteCount count_bytes(const fb::Tensor& tensor, uint64_t* nbytes) {
  const auto& sizes = *tensor.sizes();
  const auto& dim_order = *tensor.dim_order();
  uint64_t limit = INT32_MAX;
  uint64_t numel = 1;
  for (uint32_t i = sizes.size(); i-- > 0;) {
    const uint64_t dim = static_cast<uint64_t>(sizes[dim_order[i]]);
    if (i == 0) {
      limit = PTRDIFF_MAX /
              elementSize(static_cast<executorch::aten::ScalarType>(tensor.scalar_type()));
    }
    if (dim != 0 && numel > limit / dim) {
      return ByteCount::kOverflows;
    }
    numel *= dim == 0 && i != 0 ? 1 : dim;
  }
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    numel = sizes[i] == 0 ? 0 : numel;
  }
  *nbytes = numel * elementSize(static_cast<executorch::aten::ScalarType>(tensor.scalar_type()));
  return ByteCount::kFits;
}

// Everything about the shape but its byte count.
bool valid_shape(const fb::Tensor& tensor) {
  VALID_OR_RETURN_FALSE(valid_scalar_type(tensor), "Tensor: expected an element type, found %d",
                        static_cast<int>(tensor.scalar_type()));
  const auto* sizes = tensor.sizes();
  const auto* dim_order = tensor.dim_order();
  VALID_OR_RETURN_FALSE(
      sizes != nullptr && dim_order != nullptr && sizes->size() == dim_order->size(),
      "Tensor: expected as many dim order entries as sizes, found %" PRIu32 " and %" PRIu32,
      count(dim_order), count(sizes));
  const uint32_t rank = sizes->size();
  VALID_OR_RETURN_FALSE(rank <= kMaxTensorRank,
                        "Tensor: expected a rank of at most %zu, found %" PRIu32, kMaxTensorRank,
                        rank);
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    VALID_OR_RETURN_FALSE((*sizes)[i] >= 0,
                          "Tensor: expected sizes >= 0, found %d at dimension %" PRIu32,
                          static_cast<int>((*sizes)[i]), i);
    seen |= (*dim_order)[i] < rank ? 1u << (*dim_order)[i] : 0;
  }
  VALID_OR_RETURN_FALSE(seen == (1u << rank) - 1,
                        "Tensor: the dim order is not a permutation of its %" PRIu32 " dimensions",
                        rank);
  return true;
}

class ProgramVerifier {
 public:
  ProgramVerifier(const fb::Program& program, const ProgramExtent* extent)
      : program_(program), extent_(extent) {}

  bool verify();

 private:
  // Counts items that are about to be visited: one vector may be shared by many tables.
  bool charge(uint64_t items) {
    visited_ += items;
    VALID_OR_RETURN_FALSE(
        extent_ == nullptr || visited_ <= extent_->program_size,
        "Program: its lists have more items than the %zu bytes of program data can hold",
        extent_ == nullptr ? 0 : extent_->program_size);
    return true;
  }

  // charge() for a list, whose items must be aligned: structural verification looks at its length
  // only.
  template <typename Item>
  bool admit(const flatbuffers::Vector<Item>* items) {
    VALID_OR_RETURN_FALSE(items != nullptr, "Program: a list is missing");
    VALID_OR_RETURN_FALSE(
        reinterpret_cast<uintptr_t>(items->data()) % sizeof(Item) == 0 || items->size() == 0,
        "Program: the items of a list are not aligned to %zu bytes", sizeof(Item));
    return charge(items->size());
  }

  // Says which item it was and where it lies; false, for the caller to return.
  bool invalid(const char* what, uint32_t index, const char* name, const void* item) const {
    const void* start = extent_ == nullptr || extent_->data == nullptr ? &program_ : extent_->data;
    ET_LOG(Error, "Program: %s %" PRIu32 "%s%s at byte %td is invalid", what,
           static_cast<uint32_t>(index), name[0] == '\0' ? "" : " ", name,
           static_cast<const char*>(item) - static_cast<const char*>(start));
    (void)start;  // read by the message alone, which a build may strip
    return false;
  }

  bool verify_segments();
  bool verify_bools(const flatbuffers::Vector<uint8_t>* items);
  bool verify_subsegments(const fb::SubsegmentOffsets& table);
  bool verify_subrange(const fb::SubsegmentOffsets* table, uint32_t index, uint64_t nbytes) const;
  bool verify_plan();
  bool verify_memory();
  bool verify_input_dimensions();
  bool verify_value(uint32_t index);
  bool verify_tensor(const fb::Tensor& tensor, uint32_t index);
  bool verify_tensor_data(const fb::Tensor& tensor, uint64_t nbytes) const;
  bool verify_delegate(const fb::BackendDelegate& delegate);
  bool verify_chain(const fb::Chain& chain);
  bool verify_instruction(const fb::Instruction& instruction);
  bool verify_jump(const fb::Chain& chain, uint32_t index);
  bool writes(const fb::Instruction& instruction, int32_t value);

  template <typename Item>
  bool verify_indices(const flatbuffers::Vector<Item>* items, bool may_be_none = false);
  template <typename Item>
  bool verify_list(const flatbuffers::Vector<Item>* items, fb::KernelTypes type, bool optional);

  bool is_input(uint32_t value);

  const fb::Program& program_;
  const ProgramExtent* extent_;
  const fb::ExecutionPlan* plan_ = nullptr;
  uint32_t num_values_ = 0;
  uint64_t visited_ = 0;
};

bool ProgramVerifier::verify() {
  const auto* plans = program_.execution_plan();
  VALID_OR_RETURN_FALSE(plans != nullptr, "Program: no methods");
  if (!verify_segments()) {
    return false;
  }
  for (uint32_t i = 0; i < plans->size(); ++i) {
    plan_ = plans->Get(i);
    if (!verify_plan()) {
      return invalid("method", i, plan_->name() == nullptr ? "" : plan_->name()->c_str(), plan_);
    }
  }
  return true;
}

// ---- Segments ----

bool ProgramVerifier::verify_segments() {
  const auto* segments = program_.segments();
  const uint32_t num_segments = count(segments);
  for (uint32_t i = 0; i < num_segments && extent_ != nullptr; ++i) {
    const uint64_t offset = segments->Get(i)->offset();
    const uint64_t limit = extent_->segment_data_size;
    VALID_OR_RETURN_FALSE(offset <= limit && segments->Get(i)->size() <= limit - offset,
                          "Program: segment %" PRIu32 " ends outside the %" PRIu64
                          " bytes of segment data",
                          i, static_cast<uint64_t>(limit));
  }
  const auto* constants = program_.constant_segment();
  if (constants != nullptr && count(constants->offsets()) > 0) {
    VALID_OR_RETURN_FALSE(
        count(constants->offsets()) == 1 || count(program_.constant_buffer()) == 0,
        "Program: constants both inline and in a segment");
    if (!verify_subsegments(*constants)) {
      return false;
    }
  }
  const auto* mutable_data = program_.mutable_data_segments();
  for (uint32_t i = 0; i < count(mutable_data); ++i) {
    if (!verify_subsegments(*mutable_data->Get(i))) {
      return false;
    }
  }
  const auto* named_data = program_.named_data();
  for (uint32_t i = 0; i < count(named_data); ++i) {
    const fb::NamedData& entry = *named_data->Get(i);
    VALID_OR_RETURN_FALSE(entry.key() != nullptr && entry.segment_index() < num_segments,
                          "Program: named data %" PRIu32 " has no key or names segment %" PRIu32
                          " of %" PRIu32,
                          i, static_cast<uint32_t>(entry.segment_index()), num_segments);
  }
  return true;
}

bool ProgramVerifier::verify_subsegments(const fb::SubsegmentOffsets& table) {
  const uint32_t index = table.segment_index();
  VALID_OR_RETURN_FALSE(index < count(program_.segments()),
                        "Program: segment %" PRIu32 " of %" PRIu32 " does not exist",
                        static_cast<uint32_t>(index), count(program_.segments()));
  const uint64_t segment_size = program_.segments()->Get(index)->size();
  if (table.offsets() != nullptr && !admit(table.offsets())) {
    return false;
  }
  for (uint32_t i = 0; i < count(table.offsets()); ++i) {
    VALID_OR_RETURN_FALSE(table.offsets()->Get(i) <= segment_size,
                          "Program: item %" PRIu32 " of segment %" PRIu32 " starts outside it", i,
                          static_cast<uint32_t>(index));
  }
  return true;
}

// Item `index` of a segment has `nbytes` bytes. The table itself has been verified.
bool ProgramVerifier::verify_subrange(const fb::SubsegmentOffsets* table, uint32_t index,
                                      uint64_t nbytes) const {
  VALID_OR_RETURN_FALSE(table != nullptr && index < count(table->offsets()),
                        "Tensor: data buffer %" PRIu32 " of %" PRIu32 " does not exist",
                        static_cast<uint32_t>(index),
                        static_cast<uint32_t>(table == nullptr ? 0 : count(table->offsets())));
  const uint64_t size = program_.segments()->Get(table->segment_index())->size();
  VALID_OR_RETURN_FALSE(nbytes <= size - table->offsets()->Get(index),
                        "Tensor: its %" PRIu64 " bytes at data buffer %" PRIu32
                        " end outside the segment",
                        static_cast<uint64_t>(nbytes), static_cast<uint32_t>(index));
  return true;
}

// ---- Methods ----

bool ProgramVerifier::verify_plan() {
  VALID_OR_RETURN_FALSE(
      plan_->name() != nullptr && plan_->values() != nullptr && plan_->inputs() != nullptr &&
          plan_->outputs() != nullptr && plan_->chains() != nullptr &&
          plan_->non_const_buffer_sizes() != nullptr,
      "Method: name, values, inputs, outputs, chains or non_const_buffer_sizes is missing");
  num_values_ = plan_->values()->size();
  if (!charge(num_values_) || !verify_memory() || !verify_indices(plan_->inputs()) ||
      !verify_indices(plan_->outputs())) {
    return false;
  }
  for (uint32_t i = 0; i < num_values_; ++i) {
    if (!verify_value(i)) {
      return invalid("value", i, "", plan_->values()->Get(i));
    }
  }
  // What names and least sizes of outputs say is for callers alone, who read no further than they
  // go.
  if (!verify_input_dimensions() ||
      (plan_->output_dimensions() != nullptr && !admit(plan_->output_dimensions()))) {
    return false;
  }
  for (uint32_t i = 0; i < count(plan_->operators()); ++i) {
    VALID_OR_RETURN_FALSE(plan_->operators()->Get(i)->name() != nullptr,
                          "Method: operator %" PRIu32 " has no name", i);
  }
  for (uint32_t i = 0; i < count(plan_->delegates()); ++i) {
    if (!verify_delegate(*plan_->delegates()->Get(i))) {
      return invalid("delegate", i, "", plan_->delegates()->Get(i));
    }
  }
  for (uint32_t i = 0; i < plan_->chains()->size(); ++i) {
    if (!verify_chain(*plan_->chains()->Get(i))) {
      return false;
    }
  }
  return true;
}

// Rows are of dimensions that vary, and later ones refer to earlier ones. Values have been
// verified.
bool ProgramVerifier::verify_input_dimensions() {
  if (plan_->input_dimensions() == nullptr) {
    return true;
  }
  if (!admit(plan_->input_dimensions())) {
    return false;
  }
  const auto rows = input_dimensions(*plan_);
  bool valid =
      plan_->input_dimensions()->size() * sizeof(int32_t) == rows.size() * sizeof(InputDimension);
  for (size_t i = 0; valid && i < rows.size(); ++i) {
    const InputDimension& row = rows[i];
    const fb::Tensor* tensor = nullptr;
    if (in_range(row.input, plan_->inputs()->size())) {
      const int32_t value = plan_->inputs()->Get(static_cast<uint32_t>(row.input));
      tensor = plan_->values()->Get(static_cast<uint32_t>(value))->val_as_Tensor();
    }
    valid = tensor != nullptr && tensor->shape_dynamism() != fb::TensorShapeDynamism::STATIC &&
            in_range(row.dimension, tensor->sizes()->size()) && row.min >= 0 &&
            row.min <= tensor->sizes()->Get(static_cast<uint32_t>(row.dimension)) &&
            row.scale != 0 && row.same_n_as >= -1 && row.same_n_as < static_cast<int64_t>(i);
  }
  VALID_OR_RETURN_FALSE(valid,
                        "Method: input_dimensions has no rows of six, or one that is of no "
                        "dimension that varies, has scale 0, a minimum that the sizes do not "
                        "allow, or refers to no earlier row");
  return true;
}

bool ProgramVerifier::verify_memory() {
  const auto& sizes = *plan_->non_const_buffer_sizes();
  if (!admit(&sizes)) {
    return false;
  }
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    VALID_OR_RETURN_FALSE(sizes[i] >= 0 && static_cast<uint64_t>(sizes[i]) <= PTRDIFF_MAX,
                          "Method: planned buffer %" PRIu32 " has an impossible size", i);
  }
  const auto* devices = plan_->non_const_buffer_device();
  for (uint32_t i = 0; i < count(devices); ++i) {
    const int32_t index = devices->Get(i)->buffer_idx();
    VALID_OR_RETURN_FALSE(index > 0 && in_range(index, sizes.size()),
                          "Method: planned buffer %d of %" PRIu32 " has a device",
                          static_cast<int>(index), static_cast<uint32_t>(sizes.size()));
  }
  return true;
}

template <typename Item>
bool ProgramVerifier::verify_indices(const flatbuffers::Vector<Item>* items, bool may_be_none) {
  if (!admit(items)) {
    return false;
  }
  for (uint32_t i = 0; i < items->size(); ++i) {
    const Item index = items->Get(i);
    VALID_OR_RETURN_FALSE(in_range(index, num_values_) || (may_be_none && index == -1),
                          "Method: expected indices of values, found item %" PRIu32
                          " to be %" PRId64 " of %" PRIu32,
                          i, static_cast<int64_t>(index), static_cast<uint32_t>(num_values_));
  }
  return true;
}

// Members of a list have the type of the list, or are None in an optional one.
template <typename Item>
bool ProgramVerifier::verify_list(const flatbuffers::Vector<Item>* items, fb::KernelTypes type,
                                  bool optional) {
  if (!verify_indices(items, optional)) {
    return false;
  }
  for (uint32_t i = 0; i < items->size(); ++i) {
    const Item index = items->Get(i);
    if (index == -1) {
      continue;
    }
    const fb::KernelTypes found = plan_->values()->Get(static_cast<uint32_t>(index))->val_type();
    VALID_OR_RETURN_FALSE(found == type || (optional && found == fb::KernelTypes::Null),
                          "List: item %" PRIu32 " is a value of type %d, expected type %d", i,
                          static_cast<int>(found), static_cast<int>(type));
  }
  return true;
}

bool ProgramVerifier::verify_value(uint32_t index) {
  const fb::EValue& value = *plan_->values()->Get(index);
  if (value.val_type() == fb::KernelTypes::Null) {
    return true;
  }
  VALID_OR_RETURN_FALSE(value.val() != nullptr, "Value: it has no content");
  switch (value.val_type()) {
    case fb::KernelTypes::Int:
    case fb::KernelTypes::Bool:
    case fb::KernelTypes::Double:
      return true;
    case fb::KernelTypes::Tensor:
      return verify_tensor(*value.val_as_Tensor(), index);
    case fb::KernelTypes::String:
      VALID_OR_RETURN_FALSE(value.val_as_String()->string_val() != nullptr,
                            "String: it has no content");
      return true;
    case fb::KernelTypes::IntList:
      return verify_list(value.val_as_IntList()->items(), fb::KernelTypes::Int, false);
    case fb::KernelTypes::DoubleList:
      return admit(value.val_as_DoubleList()->items());
    case fb::KernelTypes::BoolList:
      return verify_bools(value.val_as_BoolList()->items());
    case fb::KernelTypes::TensorList:
      return verify_list(value.val_as_TensorList()->items(), fb::KernelTypes::Tensor, false);
    case fb::KernelTypes::OptionalTensorList:
      return verify_list(value.val_as_OptionalTensorList()->items(), fb::KernelTypes::Tensor, true);
    default:
      ET_LOG(Error, "Value: unknown type %d", static_cast<int>(value.val_type()));
      return false;
  }
}

// They are used in place as bool, which has two values.
bool ProgramVerifier::verify_bools(const flatbuffers::Vector<uint8_t>* items) {
  if (!admit(items)) {
    return false;
  }
  for (uint32_t i = 0; i < items->size(); ++i) {
    VALID_OR_RETURN_FALSE(items->Get(i) <= 1, "BoolList: item %" PRIu32 " is %" PRIu32, i,
                          static_cast<uint32_t>(items->Get(i)));
  }
  return true;
}

// ---- Tensors ----

bool ProgramVerifier::is_input(uint32_t value) {
  const auto& inputs = *plan_->inputs();
  if (!charge(inputs.size())) {
    return false;
  }
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (static_cast<uint32_t>(inputs[i]) == value) {
      return true;
    }
  }
  return false;
}

bool ProgramVerifier::verify_tensor(const fb::Tensor& tensor, uint32_t index) {
  if (!valid_shape(tensor)) {
    return false;
  }
  const fb::TensorShapeDynamism dynamism = tensor.shape_dynamism();
  VALID_OR_RETURN_FALSE(in_range(static_cast<int>(dynamism), 3),
                        "Tensor: unknown shape dynamism %d", static_cast<int>(dynamism));
  uint64_t nbytes = 0;
  if (count_bytes(tensor, &nbytes) == ByteCount::kOverflows) {
    // An input whose bounds are open-ended gets its real sizes, and their check, with each input.
    VALID_OR_RETURN_FALSE(dynamism != fb::TensorShapeDynamism::STATIC &&
                              tensor.allocation_info() == nullptr &&
                              tensor.data_buffer_idx() == 0 && is_input(index),
                          "Tensor: its byte count overflows");
  }
  return verify_tensor_data(tensor, nbytes);
}

bool ProgramVerifier::verify_tensor_data(const fb::Tensor& tensor, uint64_t nbytes) const {
  const fb::AllocationDetails* planned = tensor.allocation_info();
  if (planned != nullptr) {
    const uint32_t num_buffers = plan_->non_const_buffer_sizes()->size();
    VALID_OR_RETURN_FALSE(planned->memory_id() > 0 && planned->memory_id() < num_buffers,
                          "Tensor: planned buffer %" PRIu32 " of %" PRIu32 " does not exist",
                          static_cast<uint32_t>(planned->memory_id()),
                          static_cast<uint32_t>(num_buffers));
  }
  const fb::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  if (extra != nullptr) {
    VALID_OR_RETURN_FALSE(in_range(static_cast<int>(extra->location()), 2) &&
                              in_range(static_cast<int>(extra->device_type()), 2),
                          "Tensor: unknown data location %d or device type %d",
                          static_cast<int>(extra->location()),
                          static_cast<int>(extra->device_type()));
    if (extra->location() == fb::TensorDataLocation::EXTERNAL) {
      VALID_OR_RETURN_FALSE(extra->fully_qualified_name() != nullptr,
                            "Tensor: external data without a name");
      return true;
    }
  }
  const uint32_t buffer = tensor.data_buffer_idx();
  if (buffer == 0) {
    return true;
  }
  if (planned != nullptr) {
    const auto* tables = program_.mutable_data_segments();
    return verify_subrange(count(tables) == 0 ? nullptr : tables->Get(0), buffer, nbytes);
  }
  const auto* constants = program_.constant_segment();
  if (constants != nullptr && count(constants->offsets()) > 0) {
    return verify_subrange(constants, buffer, nbytes);
  }
  VALID_OR_RETURN_FALSE(buffer < count(program_.constant_buffer()) &&
                            nbytes <= count(program_.constant_buffer()->Get(buffer)->storage()),
                        "Tensor: constant buffer %" PRIu32
                        " does not exist or is shorter than the tensor",
                        static_cast<uint32_t>(buffer));
  return true;
}

// ---- Delegates ----

bool ProgramVerifier::verify_delegate(const fb::BackendDelegate& delegate) {
  const auto* data = delegate.processed();
  VALID_OR_RETURN_FALSE(delegate.id() != nullptr && data != nullptr,
                        "Delegate: no backend name or no data");
  const bool is_inline = data->location() == fb::DataLocation::INLINE;
  const uint32_t size =
      is_inline ? count(program_.backend_delegate_data()) : count(program_.segments());
  VALID_OR_RETURN_FALSE(
      (is_inline || data->location() == fb::DataLocation::SEGMENT) && data->index() < size,
      "Delegate: data %" PRIu32 " of %" PRIu32 " does not exist",
      static_cast<uint32_t>(data->index()), static_cast<uint32_t>(size));
  const auto* specs = delegate.compile_specs();
  if (!charge(count(specs))) {
    return false;
  }
  for (uint32_t i = 0; i < count(specs); ++i) {
    VALID_OR_RETURN_FALSE(specs->Get(i)->key() != nullptr,
                          "Delegate: compile spec %" PRIu32 " has no key", i);
  }
  return true;
}

// ---- Instructions ----

bool ProgramVerifier::verify_chain(const fb::Chain& chain) {
  VALID_OR_RETURN_FALSE(chain.instructions() != nullptr, "Chain: it has no instructions");
  const auto& instructions = *chain.instructions();
  if (!charge(instructions.size())) {
    return false;
  }
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const fb::Instruction& instruction = *instructions[i];
    if (!verify_instruction(instruction) ||
        (instruction.instr_args_type() == fb::InstructionArguments::JumpFalseCall &&
         !verify_jump(chain, i))) {
      return invalid("instruction", i, "", &instruction);
    }
  }
  return true;
}

bool ProgramVerifier::verify_instruction(const fb::Instruction& instruction) {
  VALID_OR_RETURN_FALSE(instruction.instr_args() != nullptr, "Instruction: it has no content");
  switch (instruction.instr_args_type()) {
    case fb::InstructionArguments::KernelCall: {
      const auto& call = *instruction.instr_args_as_KernelCall();
      VALID_OR_RETURN_FALSE(in_range(call.op_index(), count(plan_->operators())),
                            "KernelCall: expected the index of an operator, found %d of %" PRIu32,
                            static_cast<int>(call.op_index()), count(plan_->operators()));
      return verify_indices(call.args());
    }
    case fb::InstructionArguments::DelegateCall: {
      const auto& call = *instruction.instr_args_as_DelegateCall();
      VALID_OR_RETURN_FALSE(in_range(call.delegate_index(), count(plan_->delegates())),
                            "DelegateCall: expected the index of a delegate, found %d of %" PRIu32,
                            static_cast<int>(call.delegate_index()), count(plan_->delegates()));
      return verify_indices(call.args());
    }
    case fb::InstructionArguments::MoveCall: {
      const auto& call = *instruction.instr_args_as_MoveCall();
      VALID_OR_RETURN_FALSE(
          in_range(call.move_from(), num_values_) && in_range(call.move_to(), num_values_),
          "MoveCall: expected indices of values, found %d and %d of %" PRIu32,
          static_cast<int>(call.move_from()), static_cast<int>(call.move_to()),
          static_cast<uint32_t>(num_values_));
      return true;
    }
    case fb::InstructionArguments::JumpFalseCall: {
      const int32_t condition = instruction.instr_args_as_JumpFalseCall()->cond_value_index();
      VALID_OR_RETURN_FALSE(
          in_range(condition, num_values_),
          "JumpFalseCall: expected the index of a condition, found %d of %" PRIu32,
          static_cast<int>(condition), static_cast<uint32_t>(num_values_));
      return true;
    }
    case fb::InstructionArguments::FreeCall: {
      const int32_t index = instruction.instr_args_as_FreeCall()->value_index();
      VALID_OR_RETURN_FALSE(in_range(index, num_values_) &&
                                plan_->values()->Get(static_cast<uint32_t>(index))->val_type() ==
                                    fb::KernelTypes::Tensor,
                            "FreeCall: expected a tensor, found value %d", static_cast<int>(index));
      return true;
    }
    default:
      ET_LOG(Error, "Instruction: unknown type %d",
             static_cast<int>(instruction.instr_args_type()));
      return false;
  }
}

// A loop ends only if something in it can change its condition. Instructions after this one may not
// be verified yet, but those before it are.
bool ProgramVerifier::verify_jump(const fb::Chain& chain, uint32_t index) {
  const auto& instructions = *chain.instructions();
  const auto& jump = *instructions[index]->instr_args_as_JumpFalseCall();
  const int32_t target = jump.destination_instruction();
  VALID_OR_RETURN_FALSE(target >= 0 && static_cast<uint32_t>(target) <= instructions.size(),
                        "JumpFalseCall: expected the index of an instruction, found %d of %" PRIu32,
                        static_cast<int>(target), static_cast<uint32_t>(instructions.size()));
  if (static_cast<uint32_t>(target) > index) {
    return true;
  }
  for (uint32_t i = static_cast<uint32_t>(target); i < index; ++i) {
    if (writes(*instructions[i], jump.cond_value_index())) {
      return true;
    }
  }
  ET_LOG(Error,
         "JumpFalseCall: nothing between %d and %" PRIu32
         " changes the condition, so it never ends",
         static_cast<int>(target), static_cast<uint32_t>(index));
  return false;
}

// Whether the instruction may write the value: operators write only values that they are given.
bool ProgramVerifier::writes(const fb::Instruction& instruction, int32_t value) {
  const flatbuffers::Vector<int32_t>* args = nullptr;
  switch (instruction.instr_args_type()) {
    case fb::InstructionArguments::KernelCall:
      args = instruction.instr_args_as_KernelCall()->args();
      break;
    case fb::InstructionArguments::DelegateCall:
      args = instruction.instr_args_as_DelegateCall()->args();
      break;
    case fb::InstructionArguments::MoveCall:
      return instruction.instr_args_as_MoveCall()->move_to() == value;
    default:
      return false;
  }
  if (!charge(count(args))) {
    return false;
  }
  for (uint32_t i = 0; i < count(args); ++i) {
    if (args->Get(i) == value) {
      return true;
    }
  }
  return false;
}

Error run(const fb::Program* program, const ProgramExtent* extent) {
  ET_CHECK_OR_RETURN_ERROR(program != nullptr, InvalidProgram, "No program");
  return ProgramVerifier(*program, extent).verify() ? Error::Ok : Error::InvalidProgram;
}

}  // namespace

Error verify_flatbuffer(const void* data, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(
      has_program_structure(static_cast<const uint8_t*>(data), size), InvalidProgram,
      "Program data is corrupted: an offset, vector or string leaves its %zu bytes", size);
  return Error::Ok;
}

Error verify_program(const fb::Program* program, const ProgramExtent& extent) {
  return run(program, &extent);
}

Error validate_program(const fb::Program* program) {
  return run(program, nullptr);
}

Error validate_tensor_shape(const fb::Tensor* tensor) {
  ET_CHECK_OR_RETURN_ERROR(tensor != nullptr, InvalidProgram, "No tensor");
  return valid_shape(*tensor) ? Error::Ok : Error::InvalidProgram;
}

Error validate_tensor(const fb::Tensor* tensor) {
  ET_CHECK_OK_OR_RETURN_ERROR(validate_tensor_shape(tensor));
  ET_CHECK_OR_RETURN_ERROR(tensor_nbytes(tensor) != SIZE_MAX, InvalidProgram,
                           "Tensor: its byte count overflows");
  return Error::Ok;
}

size_t tensor_nbytes(const fb::Tensor* tensor) {
  uint64_t nbytes = 0;
  return count_bytes(*tensor, &nbytes) == ByteCount::kFits ? static_cast<size_t>(nbytes) : SIZE_MAX;
}

Span<const InputDimension> input_dimensions(const fb::ExecutionPlan& plan) {
  const auto* numbers = plan.input_dimensions();
  if (numbers == nullptr) {
    return {};
  }
  return {reinterpret_cast<const InputDimension*>(numbers->data()),
          numbers->size() * sizeof(int32_t) / sizeof(InputDimension)};
}

}  // namespace executorch::runtime
