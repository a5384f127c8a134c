// SPDX-License-Identifier: BSD-3-Clause
// Builds .pte files for tests.
#include <executorch/runtime/executor/test/program_builder.h>

#include <cstdlib>
#include <cstring>

namespace executorch::runtime::testing {
namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kSegmentAlignment = 128;
constexpr size_t kConstantAlignment = 16;

size_t round_up(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

void append_bytes(std::vector<uint8_t>& out, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

template <typename T>
void put(std::vector<uint8_t>& out, size_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof(T));
}

template <typename T>
T get(const std::vector<uint8_t>& in, size_t offset) {
  T value;
  std::memcpy(&value, in.data() + offset, sizeof(T));
  return value;
}

size_t element_size(fb::ScalarType type) {
  switch (type) {
    case fb::ScalarType::LONG:
    case fb::ScalarType::DOUBLE:
      return 8;
    case fb::ScalarType::INT:
    case fb::ScalarType::FLOAT:
      return 4;
    case fb::ScalarType::SHORT:
    case fb::ScalarType::HALF:
    case fb::ScalarType::BFLOAT16:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

// ---- MethodBuilder ----

MethodBuilder::MethodBuilder(const std::string& name)
    : plan_(std::make_unique<fb::ExecutionPlanT>()) {
  plan_->name = name;
  plan_->container_meta_type = std::make_unique<fb::ContainerMetadataT>();
  plan_->non_const_buffer_sizes = {0};
  begin_chain();
}

template <typename T>
int32_t MethodBuilder::add(T value) {
  auto entry = std::make_unique<fb::EValueT>();
  entry->val.Set(std::move(value));
  plan_->values.push_back(std::move(entry));
  return static_cast<int32_t>(plan_->values.size()) - 1;
}

int32_t MethodBuilder::add_none() {
  return add(fb::NullT());
}

int32_t MethodBuilder::add_int(int64_t value) {
  fb::IntT table;
  table.int_val = value;
  return add(std::move(table));
}

int32_t MethodBuilder::add_bool(bool value) {
  fb::BoolT table;
  table.bool_val = value;
  return add(std::move(table));
}

int32_t MethodBuilder::add_double(double value) {
  fb::DoubleT table;
  table.double_val = value;
  return add(std::move(table));
}

int32_t MethodBuilder::add_string(const std::string& value) {
  fb::StringT table;
  table.string_val = value;
  return add(std::move(table));
}

int32_t MethodBuilder::add_tensor(const TensorSpec& spec) {
  fb::TensorT table;
  table.scalar_type = spec.scalar_type;
  table.sizes = spec.sizes;
  size_t nbytes = element_size(spec.scalar_type);
  for (size_t i = 0; i < spec.sizes.size(); ++i) {
    table.dim_order.push_back(static_cast<uint8_t>(i));
    nbytes *= static_cast<size_t>(spec.sizes[i]);
  }
  table.shape_dynamism =
      spec.dynamic ? fb::TensorShapeDynamism::DYNAMIC_BOUND : fb::TensorShapeDynamism::STATIC;
  table.data_buffer_idx = spec.data_buffer_idx;
  if (spec.planned) {
    auto& sizes = plan_->non_const_buffer_sizes;
    sizes.resize(2);
    table.allocation_info = std::make_unique<fb::AllocationDetailsT>();
    table.allocation_info->memory_id = 1;
    table.allocation_info->memory_offset_low = static_cast<uint32_t>(sizes[1]);
    sizes[1] += static_cast<int64_t>(round_up(nbytes, 16));
  }
  if (!spec.name.empty()) {
    table.extra_tensor_info = std::make_unique<fb::ExtraTensorInfoT>();
    table.extra_tensor_info->fully_qualified_name = spec.name;
    table.extra_tensor_info->location =
        spec.external ? fb::TensorDataLocation::EXTERNAL : fb::TensorDataLocation::SEGMENT;
  }
  return add(std::move(table));
}

int32_t MethodBuilder::add_int_list(std::vector<int64_t> items) {
  fb::IntListT table;
  table.items = std::move(items);
  return add(std::move(table));
}

int32_t MethodBuilder::add_double_list(std::vector<double> items) {
  fb::DoubleListT table;
  table.items = std::move(items);
  return add(std::move(table));
}

int32_t MethodBuilder::add_bool_list(std::vector<bool> items) {
  fb::BoolListT table;
  table.items = std::move(items);
  return add(std::move(table));
}

int32_t MethodBuilder::add_tensor_list(std::vector<int32_t> items) {
  fb::TensorListT table;
  table.items = std::move(items);
  return add(std::move(table));
}

int32_t MethodBuilder::add_optional_tensor_list(std::vector<int32_t> items) {
  fb::OptionalTensorListT table;
  table.items = std::move(items);
  return add(std::move(table));
}

MethodBuilder& MethodBuilder::inputs(std::vector<int32_t> values) {
  plan_->inputs = std::move(values);
  return *this;
}

MethodBuilder& MethodBuilder::outputs(std::vector<int32_t> values) {
  plan_->outputs = std::move(values);
  return *this;
}

template <typename T>
int32_t MethodBuilder::append(T instruction) {
  auto entry = std::make_unique<fb::InstructionT>();
  entry->instr_args.Set(std::move(instruction));
  auto& instructions = plan_->chains.back()->instructions;
  instructions.push_back(std::move(entry));
  return static_cast<int32_t>(instructions.size()) - 1;
}

MethodBuilder& MethodBuilder::vary(int32_t input, int32_t dimension, int32_t min, int32_t scale,
                                   int32_t offset, int32_t same_n_as) {
  for (const int32_t number : {input, dimension, min, scale, offset, same_n_as}) {
    plan_->input_dimensions.push_back(number);
  }
  return *this;
}

MethodBuilder& MethodBuilder::names(const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs) {
  const auto join = [](const std::vector<std::string>& names) {
    std::string lines;
    for (size_t i = 0; i < names.size(); ++i) {
      lines += (i == 0 ? "" : "\n") + names[i];
    }
    return lines;
  };
  plan_->input_name_lines = join(inputs);
  plan_->output_name_lines = join(outputs);
  return *this;
}

int32_t MethodBuilder::call(const std::string& op, const std::string& overload,
                            std::vector<int32_t> args) {
  fb::KernelCallT instruction;
  instruction.args = std::move(args);
  auto& operators = plan_->operators;
  size_t index = 0;
  while (index < operators.size() &&
         (operators[index]->name != op || operators[index]->overload != overload)) {
    ++index;
  }
  if (index == operators.size()) {
    auto entry = std::make_unique<fb::OperatorT>();
    entry->name = op;
    entry->overload = overload;
    operators.push_back(std::move(entry));
  }
  instruction.op_index = static_cast<int32_t>(index);
  return append(std::move(instruction));
}

int32_t MethodBuilder::call_delegate(int32_t delegate, std::vector<int32_t> args) {
  fb::DelegateCallT instruction;
  instruction.delegate_index = delegate;
  instruction.args = std::move(args);
  return append(std::move(instruction));
}

int32_t MethodBuilder::move(int32_t from, int32_t to) {
  fb::MoveCallT instruction;
  instruction.move_from = from;
  instruction.move_to = to;
  return append(std::move(instruction));
}

int32_t MethodBuilder::jump_false(int32_t condition, int32_t target) {
  fb::JumpFalseCallT instruction;
  instruction.cond_value_index = condition;
  instruction.destination_instruction = target;
  return append(std::move(instruction));
}

int32_t MethodBuilder::free(int32_t value) {
  fb::FreeCallT instruction;
  instruction.value_index = value;
  return append(std::move(instruction));
}

void MethodBuilder::begin_chain() {
  plan_->chains.push_back(std::make_unique<fb::ChainT>());
}

int32_t MethodBuilder::add_delegate(const std::string& backend, fb::DataLocation location,
                                    uint32_t index) {
  auto delegate = std::make_unique<fb::BackendDelegateT>();
  delegate->id = backend;
  delegate->processed = std::make_unique<fb::BackendDelegateDataReferenceT>();
  delegate->processed->location = location;
  delegate->processed->index = index;
  plan_->delegates.push_back(std::move(delegate));
  return static_cast<int32_t>(plan_->delegates.size()) - 1;
}

// ---- ProgramBuilder ----

ProgramBuilder::ProgramBuilder() {
  program_.constant_segment = std::make_unique<fb::SubsegmentOffsetsT>();
  program_.constant_segment->offsets = {0};
  segments_.emplace_back();
}

MethodBuilder& ProgramBuilder::add_method(const std::string& name) {
  methods_.push_back(std::make_unique<MethodBuilder>(name));
  return *methods_.back();
}

uint32_t ProgramBuilder::add_constant(const void* data, size_t size) {
  constants_.resize(round_up(constants_.size(), kConstantAlignment));
  auto& offsets = program_.constant_segment->offsets;
  offsets.push_back(constants_.size());
  append_bytes(constants_, data, size);
  return static_cast<uint32_t>(offsets.size()) - 1;
}

uint32_t ProgramBuilder::add_inline_constant(const void* data, size_t size) {
  program_.constant_segment->offsets.clear();
  auto& buffers = program_.constant_buffer;
  if (buffers.empty()) {
    buffers.push_back(std::make_unique<fb::BufferT>());  // entry 0 is reserved
  }
  buffers.push_back(std::make_unique<fb::BufferT>());
  append_bytes(buffers.back()->storage, data, size);
  return static_cast<uint32_t>(buffers.size()) - 1;
}

uint32_t ProgramBuilder::add_initial_data(const void* data, size_t size) {
  if (program_.mutable_data_segments.empty()) {
    program_.mutable_data_segments.push_back(std::make_unique<fb::SubsegmentOffsetsT>());
    program_.mutable_data_segments[0]->offsets = {0};
    initial_data_segment_ = add_segment(nullptr, 0);
    program_.mutable_data_segments[0]->segment_index = initial_data_segment_;
  }
  auto& offsets = program_.mutable_data_segments[0]->offsets;
  offsets.push_back(initial_data_.size());
  append_bytes(initial_data_, data, size);
  return static_cast<uint32_t>(offsets.size()) - 1;
}

uint32_t ProgramBuilder::add_segment(const void* data, size_t size) {
  segments_.emplace_back();
  append_bytes(segments_.back(), data, size);
  return static_cast<uint32_t>(segments_.size()) - 1;
}

uint32_t ProgramBuilder::add_inline_delegate_data(const void* data, size_t size) {
  auto blob = std::make_unique<fb::BackendDelegateInlineDataT>();
  append_bytes(blob->data, data, size);
  program_.backend_delegate_data.push_back(std::move(blob));
  return static_cast<uint32_t>(program_.backend_delegate_data.size()) - 1;
}

void ProgramBuilder::add_named_data(const std::string& key, uint32_t segment) {
  auto entry = std::make_unique<fb::NamedDataT>();
  entry->key = key;
  entry->segment_index = segment;
  program_.named_data.push_back(std::move(entry));
}

void ProgramBuilder::place_segments() {
  segments_[0] = constants_;
  if (initial_data_segment_ != 0) {
    segments_[initial_data_segment_] = initial_data_;
  }
  for (const std::vector<uint8_t>& bytes : segments_) {
    if (!bytes.empty()) {
      segment_bytes_.resize(round_up(segment_bytes_.size(), kSegmentAlignment));
    }
    auto segment = std::make_unique<fb::DataSegmentT>();
    segment->offset = segment_bytes_.size();
    segment->size = bytes.size();
    program_.segments.push_back(std::move(segment));
    append_bytes(segment_bytes_, bytes.data(), bytes.size());
  }
}

std::vector<uint8_t> ProgramBuilder::build() {
  for (auto& method : methods_) {
    program_.execution_plan.push_back(std::move(method->plan_));
  }
  if (layout) {
    place_segments();
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Program::Pack(builder, &program_), fb::ProgramIdentifier());
  std::vector<uint8_t> file(builder.GetBufferPointer(),
                            builder.GetBufferPointer() + builder.GetSize());
  if (segment_bytes_.empty()) {
    return file;
  }
  file.insert(file.begin() + 8, kHeaderBytes, 0);
  put<uint32_t>(file, 0, get<uint32_t>(file, 0) + kHeaderBytes);
  const size_t program_size = file.size();
  const size_t segment_base = round_up(program_size, kSegmentAlignment);
  std::memcpy(file.data() + 8, "eh00", 4);
  put<uint32_t>(file, 12, kHeaderBytes);
  put<uint64_t>(file, 16, program_size);
  put<uint64_t>(file, 24, segment_base);
  put<uint64_t>(file, 32, segment_bytes_.size());
  file.resize(segment_base);
  append_bytes(file, segment_bytes_.data(), segment_bytes_.size());
  return file;
}

// ---- AlignedFile ----

AlignedFile::AlignedFile(const std::vector<uint8_t>& bytes) : size_(bytes.size()) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, size_ == 0 ? 1 : size_) != 0) {
    std::abort();
  }
  data_ = static_cast<uint8_t*>(memory);
  if (size_ > 0) {
    std::memcpy(data_, bytes.data(), size_);
  }
}

AlignedFile::~AlignedFile() {
  std::free(data_);
}

}  // namespace executorch::runtime::testing
