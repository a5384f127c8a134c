// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/executor/program_structure.h>

#include <cstring>
#include <type_traits>

#include <executorch/schema/program_generated.h>

namespace executorch::runtime {
namespace {

namespace fb = executorch_flatbuffer;

// ---- The schema's tables and their fields ----

template <typename... Tables>
struct TableList {
  static constexpr uint8_t kCount = sizeof...(Tables);

  template <typename Table>
  static constexpr uint8_t index_of() {
    constexpr bool kIs[] = {std::is_same_v<Table, Tables>...};
    uint8_t index = 0;
    while (!kIs[index]) {
      ++index;
    }
    return index;
  }

  // Calls `body` with a null pointer to each table and its index.
  template <typename Body>
  static constexpr void each(const Body& body) {
    (body(static_cast<Tables*>(nullptr), index_of<Tables>()), ...);
  }
};

using Tables =
    TableList<fb::Program, fb::ExecutionPlan, fb::ContainerMetadata, fb::EValue, fb::Null, fb::Int,
              fb::Bool, fb::Double, fb::String, fb::IntList, fb::DoubleList, fb::BoolList,
              fb::TensorList, fb::OptionalTensorList, fb::Tensor, fb::AllocationDetails,
              fb::ExtraTensorInfo, fb::Chain, fb::Instruction, fb::KernelCall, fb::DelegateCall,
              fb::MoveCall, fb::JumpFalseCall, fb::FreeCall, fb::FrameList, fb::Frame, fb::Operator,
              fb::BackendDelegate, fb::BackendDelegateDataReference, fb::CompileSpec,
              fb::NonConstBufferDevice, fb::Buffer, fb::BackendDelegateInlineData, fb::DataSegment,
              fb::SubsegmentOffsets, fb::NamedData>;

enum class Kind : uint8_t { kScalar, kString, kScalars, kTable, kTables, kValue, kArguments };

// A field that may hold something: where its entry stands in the vtable, and bytes of a scalar or
// the index of a table.
struct Field {
  uint8_t owner;
  uint8_t entry;
  Kind kind;
  uint8_t of;
};

// What a field is, from the type that its accessor returns.
template <typename T>
struct KindOf {
  static constexpr Kind kKind = Kind::kScalar;
  static constexpr uint8_t kOf = sizeof(T);
};
template <typename T>
struct KindOf<const T*> {
  static constexpr Kind kKind = Kind::kTable;
  static constexpr uint8_t kOf = Tables::index_of<T>();
};
template <>
struct KindOf<const flatbuffers::String*> {
  static constexpr Kind kKind = Kind::kString;
  static constexpr uint8_t kOf = 1;
};
template <typename T>
struct KindOf<const flatbuffers::Vector<T>*> {
  static constexpr Kind kKind = Kind::kScalars;
  static constexpr uint8_t kOf = sizeof(T);
};
template <typename T>
struct KindOf<const flatbuffers::Vector<flatbuffers::Offset<T>>*> {
  static constexpr Kind kKind = Kind::kTables;
  static constexpr uint8_t kOf = Tables::index_of<T>();
};

template <typename Table, typename T>
constexpr Field field(T (Table::*)() const, uint8_t entry) {
  return {Tables::index_of<Table>(), entry, KindOf<T>::kKind, KindOf<T>::kOf};
}

// Content whose kind the entry before it says.
template <typename Table>
constexpr Field content(Kind kind, uint8_t entry) {
  return {Tables::index_of<Table>(), entry, kind, 0};
}

// Fields of a table stand together, tables as in the list above.
constexpr Field kFields[] = {
    field(&fb::Program::version, fb::Program::VT_VERSION),
    field(&fb::Program::execution_plan, fb::Program::VT_EXECUTION_PLAN),
    field(&fb::Program::constant_buffer, fb::Program::VT_CONSTANT_BUFFER),
    field(&fb::Program::backend_delegate_data, fb::Program::VT_BACKEND_DELEGATE_DATA),
    field(&fb::Program::segments, fb::Program::VT_SEGMENTS),
    field(&fb::Program::constant_segment, fb::Program::VT_CONSTANT_SEGMENT),
    field(&fb::Program::mutable_data_segments, fb::Program::VT_MUTABLE_DATA_SEGMENTS),
    field(&fb::Program::named_data, fb::Program::VT_NAMED_DATA),
    field(&fb::Program::user_metadata, fb::Program::VT_USER_METADATA),
    field(&fb::ExecutionPlan::name, fb::ExecutionPlan::VT_NAME),
    field(&fb::ExecutionPlan::container_meta_type, fb::ExecutionPlan::VT_CONTAINER_META_TYPE),
    field(&fb::ExecutionPlan::values, fb::ExecutionPlan::VT_VALUES),
    field(&fb::ExecutionPlan::inputs, fb::ExecutionPlan::VT_INPUTS),
    field(&fb::ExecutionPlan::outputs, fb::ExecutionPlan::VT_OUTPUTS),
    field(&fb::ExecutionPlan::chains, fb::ExecutionPlan::VT_CHAINS),
    field(&fb::ExecutionPlan::operators, fb::ExecutionPlan::VT_OPERATORS),
    field(&fb::ExecutionPlan::delegates, fb::ExecutionPlan::VT_DELEGATES),
    field(&fb::ExecutionPlan::non_const_buffer_sizes, fb::ExecutionPlan::VT_NON_CONST_BUFFER_SIZES),
    field(&fb::ExecutionPlan::non_const_buffer_device,
          fb::ExecutionPlan::VT_NON_CONST_BUFFER_DEVICE),
    field(&fb::ExecutionPlan::input_dimensions, fb::ExecutionPlan::VT_INPUT_DIMENSIONS),
    field(&fb::ExecutionPlan::input_name_lines, fb::ExecutionPlan::VT_INPUT_NAME_LINES),
    field(&fb::ExecutionPlan::output_name_lines, fb::ExecutionPlan::VT_OUTPUT_NAME_LINES),
    field(&fb::ExecutionPlan::output_dimensions, fb::ExecutionPlan::VT_OUTPUT_DIMENSIONS),
    field(&fb::ContainerMetadata::encoded_inp_str, fb::ContainerMetadata::VT_ENCODED_INP_STR),
    field(&fb::ContainerMetadata::encoded_out_str, fb::ContainerMetadata::VT_ENCODED_OUT_STR),
    field(&fb::EValue::val_type, fb::EValue::VT_VAL_TYPE),
    content<fb::EValue>(Kind::kValue, fb::EValue::VT_VAL),
    field(&fb::Int::int_val, fb::Int::VT_INT_VAL),
    field(&fb::Bool::bool_val, fb::Bool::VT_BOOL_VAL),
    field(&fb::Double::double_val, fb::Double::VT_DOUBLE_VAL),
    field(&fb::String::string_val, fb::String::VT_STRING_VAL),
    field(&fb::IntList::items, fb::IntList::VT_ITEMS),
    field(&fb::DoubleList::items, fb::DoubleList::VT_ITEMS),
    field(&fb::BoolList::items, fb::BoolList::VT_ITEMS),
    field(&fb::TensorList::items, fb::TensorList::VT_ITEMS),
    field(&fb::OptionalTensorList::items, fb::OptionalTensorList::VT_ITEMS),
    field(&fb::Tensor::scalar_type, fb::Tensor::VT_SCALAR_TYPE),
    field(&fb::Tensor::storage_offset, fb::Tensor::VT_STORAGE_OFFSET),
    field(&fb::Tensor::sizes, fb::Tensor::VT_SIZES),
    field(&fb::Tensor::dim_order, fb::Tensor::VT_DIM_ORDER),
    field(&fb::Tensor::requires_grad, fb::Tensor::VT_REQUIRES_GRAD),
    field(&fb::Tensor::data_buffer_idx, fb::Tensor::VT_DATA_BUFFER_IDX),
    field(&fb::Tensor::allocation_info, fb::Tensor::VT_ALLOCATION_INFO),
    field(&fb::Tensor::layout, fb::Tensor::VT_LAYOUT),
    field(&fb::Tensor::shape_dynamism, fb::Tensor::VT_SHAPE_DYNAMISM),
    field(&fb::Tensor::extra_tensor_info, fb::Tensor::VT_EXTRA_TENSOR_INFO),
    field(&fb::AllocationDetails::memory_id, fb::AllocationDetails::VT_MEMORY_ID),
    field(&fb::AllocationDetails::memory_offset_low, fb::AllocationDetails::VT_MEMORY_OFFSET_LOW),
    field(&fb::AllocationDetails::memory_offset_high, fb::AllocationDetails::VT_MEMORY_OFFSET_HIGH),
    field(&fb::ExtraTensorInfo::mutable_data_segments_idx,
          fb::ExtraTensorInfo::VT_MUTABLE_DATA_SEGMENTS_IDX),
    field(&fb::ExtraTensorInfo::fully_qualified_name, fb::ExtraTensorInfo::VT_FULLY_QUALIFIED_NAME),
    field(&fb::ExtraTensorInfo::location, fb::ExtraTensorInfo::VT_LOCATION),
    field(&fb::ExtraTensorInfo::device_type, fb::ExtraTensorInfo::VT_DEVICE_TYPE),
    field(&fb::ExtraTensorInfo::device_index, fb::ExtraTensorInfo::VT_DEVICE_INDEX),
    field(&fb::Chain::inputs, fb::Chain::VT_INPUTS),
    field(&fb::Chain::outputs, fb::Chain::VT_OUTPUTS),
    field(&fb::Chain::instructions, fb::Chain::VT_INSTRUCTIONS),
    field(&fb::Chain::stacktrace, fb::Chain::VT_STACKTRACE),
    field(&fb::Instruction::instr_args_type, fb::Instruction::VT_INSTR_ARGS_TYPE),
    content<fb::Instruction>(Kind::kArguments, fb::Instruction::VT_INSTR_ARGS),
    field(&fb::KernelCall::op_index, fb::KernelCall::VT_OP_INDEX),
    field(&fb::KernelCall::args, fb::KernelCall::VT_ARGS),
    field(&fb::DelegateCall::delegate_index, fb::DelegateCall::VT_DELEGATE_INDEX),
    field(&fb::DelegateCall::args, fb::DelegateCall::VT_ARGS),
    field(&fb::MoveCall::move_from, fb::MoveCall::VT_MOVE_FROM),
    field(&fb::MoveCall::move_to, fb::MoveCall::VT_MOVE_TO),
    field(&fb::JumpFalseCall::cond_value_index, fb::JumpFalseCall::VT_COND_VALUE_INDEX),
    field(&fb::JumpFalseCall::destination_instruction,
          fb::JumpFalseCall::VT_DESTINATION_INSTRUCTION),
    field(&fb::FreeCall::value_index, fb::FreeCall::VT_VALUE_INDEX),
    field(&fb::FrameList::items, fb::FrameList::VT_ITEMS),
    field(&fb::Frame::filename, fb::Frame::VT_FILENAME),
    field(&fb::Frame::lineno, fb::Frame::VT_LINENO),
    field(&fb::Frame::name, fb::Frame::VT_NAME),
    field(&fb::Frame::context, fb::Frame::VT_CONTEXT),
    field(&fb::Operator::name, fb::Operator::VT_NAME),
    field(&fb::Operator::overload, fb::Operator::VT_OVERLOAD),
    field(&fb::BackendDelegate::id, fb::BackendDelegate::VT_ID),
    field(&fb::BackendDelegate::processed, fb::BackendDelegate::VT_PROCESSED),
    field(&fb::BackendDelegate::compile_specs, fb::BackendDelegate::VT_COMPILE_SPECS),
    field(&fb::BackendDelegateDataReference::location,
          fb::BackendDelegateDataReference::VT_LOCATION),
    field(&fb::BackendDelegateDataReference::index, fb::BackendDelegateDataReference::VT_INDEX),
    field(&fb::CompileSpec::key, fb::CompileSpec::VT_KEY),
    field(&fb::CompileSpec::value, fb::CompileSpec::VT_VALUE),
    field(&fb::NonConstBufferDevice::buffer_idx, fb::NonConstBufferDevice::VT_BUFFER_IDX),
    field(&fb::NonConstBufferDevice::device_type, fb::NonConstBufferDevice::VT_DEVICE_TYPE),
    field(&fb::NonConstBufferDevice::device_index, fb::NonConstBufferDevice::VT_DEVICE_INDEX),
    field(&fb::Buffer::storage, fb::Buffer::VT_STORAGE),
    field(&fb::BackendDelegateInlineData::data, fb::BackendDelegateInlineData::VT_DATA),
    field(&fb::DataSegment::offset, fb::DataSegment::VT_OFFSET),
    field(&fb::DataSegment::size, fb::DataSegment::VT_SIZE),
    field(&fb::SubsegmentOffsets::segment_index, fb::SubsegmentOffsets::VT_SEGMENT_INDEX),
    field(&fb::SubsegmentOffsets::offsets, fb::SubsegmentOffsets::VT_OFFSETS),
    field(&fb::NamedData::key, fb::NamedData::VT_KEY),
    field(&fb::NamedData::segment_index, fb::NamedData::VT_SEGMENT_INDEX),
};

// Where the fields of each table begin, and one more for the end.
struct FirstFields {
  uint8_t of[Tables::kCount + 1] = {};
};

constexpr FirstFields first_fields() {
  FirstFields first;
  for (const Field& row : kFields) {
    first.of[row.owner + 1] += 1;
  }
  for (uint8_t i = 0; i < Tables::kCount; ++i) {
    first.of[i + 1] += first.of[i];
  }
  return first;
}

constexpr FirstFields kFirst = first_fields();

constexpr bool fields_are_in_order() {
  for (uint8_t i = 1; i < kFirst.of[Tables::kCount]; ++i) {
    if (kFields[i].owner < kFields[i - 1].owner) {
      return false;
    }
  }
  return true;
}
static_assert(fields_are_in_order(), "kFirst is of tables in the order of the list");

// The tables that a union may hold, by tag. 0 is none, and so are tags that the schema does not
// know.
struct Alternatives {
  static constexpr uint8_t kMax = 16;
  uint8_t table[kMax] = {};
};

template <template <typename> class Traits>
constexpr Alternatives alternatives() {
  Alternatives found;
  Tables::each([&found](auto* table, uint8_t index) {
    const auto tag = Traits<std::remove_pointer_t<decltype(table)>>::enum_value;
    if (static_cast<uint8_t>(tag) != 0) {
      found.table[static_cast<uint8_t>(tag)] = index;
    }
  });
  return found;
}

constexpr Alternatives kValues = alternatives<fb::KernelTypesTraits>();
constexpr Alternatives kArguments = alternatives<fb::InstructionArgumentsTraits>();

// ---- The walk ----

// Positions are bytes from the start of the data, which is below 2 GB: two of them add up to less
// than 2^32.
class Structure {
 public:
  Structure(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool follow_root(size_t* table) const { return follow(0, table); }
  bool open_table(size_t table, size_t* vtable, size_t* vtable_size) const;
  bool verify_table(size_t table, uint8_t type);

 private:
  bool is_inside(size_t at, size_t bytes) const { return bytes <= size_ && at <= size_ - bytes; }

  template <typename T>
  bool read(size_t at, T* value) const {
    const bool valid = at % sizeof(T) == 0 && is_inside(at, sizeof(T));
    if (valid) {
      *value = flatbuffers::ReadScalar<T>(data_ + at);
    }
    return valid;
  }

  // Where the offset at `at` leads: forward.
  bool follow(size_t at, size_t* target) const {
    uint32_t offset = 0;
    if (!read(at, &offset) || offset == 0 || offset >= size_) {
      return false;
    }
    *target = at + offset;
    return *target < size_;
  }

  // Whether the items of the vector at `at` lie inside.
  bool read_vector(size_t at, size_t item_bytes, uint32_t* count) const {
    return read(at, count) && *count <= size_ / item_bytes &&
           is_inside(at + sizeof(*count), *count * item_bytes);
  }

  bool verify_field(const Field& field, size_t at, uint8_t tag);
  bool verify_tables(size_t vector, uint8_t type);
  bool verify_content(const Alternatives& alternatives, size_t table, uint8_t tag);

  const uint8_t* data_;
  size_t size_;
  size_t num_tables_ = 0;
};

bool Structure::open_table(size_t table, size_t* vtable, size_t* vtable_size) const {
  int32_t back = 0;
  uint16_t bytes = 0;
  if (!read(table, &back)) {
    return false;
  }
  const int64_t start = static_cast<int64_t>(table) - back;
  if (start < 0 || static_cast<uint64_t>(start) >= size_ ||
      !read(static_cast<size_t>(start), &bytes)) {
    return false;
  }
  *vtable = static_cast<size_t>(start);
  *vtable_size = bytes;
  return bytes % sizeof(uint16_t) == 0 && is_inside(*vtable, bytes);
}

bool Structure::verify_table(size_t table, uint8_t type) {
  size_t vtable = 0;
  size_t vtable_size = 0;
  if (++num_tables_ > size_ || !open_table(table, &vtable, &vtable_size)) {
    return false;
  }
  uint8_t tag = 0;
  for (uint8_t i = kFirst.of[type]; i < kFirst.of[type + 1]; ++i) {
    const Field& field = kFields[i];
    const uint16_t place = field.entry < vtable_size
                               ? flatbuffers::ReadScalar<uint16_t>(data_ + vtable + field.entry)
                               : 0;
    if (place == 0) {
      tag = 0;
      continue;
    }
    if (!verify_field(field, table + place, tag)) {
      return false;
    }
    tag = data_[table + place];  // read where the next field is a union's content
  }
  return true;
}

bool Structure::verify_field(const Field& field, size_t at, uint8_t tag) {
  if (field.kind == Kind::kScalar) {
    return at % field.of == 0 && is_inside(at, field.of);
  }
  size_t target = 0;
  uint32_t count = 0;
  if (!follow(at, &target)) {
    return false;
  }
  switch (field.kind) {
    case Kind::kString:
      return read_vector(target, 1, &count) &&
             is_inside(target + sizeof(count), count + size_t{1}) &&
             data_[target + sizeof(count) + count] == 0;
    case Kind::kScalars:
      return read_vector(target, field.of, &count);
    case Kind::kTables:
      return verify_tables(target, field.of);
    case Kind::kValue:
      return verify_content(kValues, target, tag);
    case Kind::kArguments:
      return verify_content(kArguments, target, tag);
    default:
      return verify_table(target, field.of);
  }
}

bool Structure::verify_tables(size_t vector, uint8_t type) {
  uint32_t count = 0;
  if (!read_vector(vector, sizeof(uint32_t), &count)) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    size_t table = 0;
    if (!follow(vector + sizeof(uint32_t) * (i + 1), &table) || !verify_table(table, type)) {
      return false;
    }
  }
  return true;
}

bool Structure::verify_content(const Alternatives& alternatives, size_t table, uint8_t tag) {
  const uint8_t type = tag < Alternatives::kMax ? alternatives.table[tag] : 0;
  return type == 0 || verify_table(table, type);
}

}  // namespace

bool has_program_structure(const uint8_t* data, size_t size) {
  Structure structure(data, size);
  size_t root = 0;
  return size < FLATBUFFERS_MAX_BUFFER_SIZE && structure.follow_root(&root) &&
         structure.verify_table(root, Tables::index_of<fb::Program>());
}

bool has_root_table(const uint8_t* data, size_t size) {
  const Structure structure(data, size);
  size_t root = 0;
  size_t vtable = 0;
  size_t vtable_size = 0;
  return size < FLATBUFFERS_MAX_BUFFER_SIZE && structure.follow_root(&root) &&
         structure.open_table(root, &vtable, &vtable_size);
}

}  // namespace executorch::runtime
