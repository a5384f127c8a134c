// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/etdump_flatcc.h>

#include <executorch/devtools/etdump/dump_builder.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::etdump {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::AllocatorID;
using runtime::ArrayRef;
using runtime::ChainID;
using runtime::DebugHandle;
using runtime::DelegateDebugIdType;
using runtime::DelegateDebugIntId;
using runtime::Error;
using runtime::EValue;
using runtime::EventTracerEntry;
using runtime::kUnsetChainId;
using runtime::kUnsetDelegateDebugIntId;
using runtime::LoggedEValueType;
using runtime::Result;
using runtime::Span;

namespace {

constexpr size_t kMinStaticBytes = size_t{128} << 10;
constexpr size_t kBuilderAlignment = 64;
/// An event without names, metadata and values: two tables and what they are padded with.
constexpr size_t kEventBytes = 128;
constexpr size_t kTensorBytes = 128;
constexpr size_t kDimBytes = 2 * sizeof(int64_t);
constexpr int64_t kNoData = -1;

uint8_t* aligned(uint8_t* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  return address + (kBuilderAlignment - value % kBuilderAlignment) % kBuilderAlignment;
}

/// Whether readers of ETDumps know the element type.
bool is_stored(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Short:
    case ScalarType::Int:
    case ScalarType::Long:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float:
    case ScalarType::Double:
    case ScalarType::Bool:
    case ScalarType::Bits16:
    case ScalarType::UInt16:
      return true;
    default:
      return false;
  }
}

void check_delegate_id(const char* name, DelegateDebugIntId index) {
  ET_CHECK_MSG((name == nullptr) != (index == kUnsetDelegateDebugIntId),
               "a delegate's event has either a name or a number, not both or none");
}

/// What an entry refers to: a name or a number in the low half, the builder's generation above.
int64_t make_event_id(uint32_t generation, uint32_t id) {
  return static_cast<int64_t>(uint64_t{generation} << 32 | id);
}
uint32_t generation_of(const EventTracerEntry& entry) {
  return static_cast<uint32_t>(static_cast<uint64_t>(entry.event_id) >> 32);
}

}  // namespace

/// A value to be logged, and how it is named.
struct ETDumpGen::Logged {
  fb::ValueType kind = fb::ValueType::Null;
  const Tensor* tensors = nullptr;  // Tensor: one; TensorList: num_tensors
  size_t num_tensors = 0;
  int64_t int_value = 0;  // Int, Bool
  double double_value = 0;
  bool is_output = false;
  const char* delegate_name = nullptr;
  DelegateDebugIntId delegate_index = kUnsetDelegateDebugIntId;
};

ETDumpGen::ETDumpGen(Span<uint8_t> buffer) : buffer_(buffer) {
  if (buffer.data() == nullptr) {
    builder_ = new DumpBuilder({});
    return;
  }
  uint8_t* const place = aligned(buffer.data());
  const size_t used = static_cast<size_t>(place - buffer.data()) + sizeof(DumpBuilder);
  ET_CHECK_MSG(buffer.size() > used + kMinStaticBytes,
               "an ETDump needs a buffer of more than %zu bytes, got %zu", used + kMinStaticBytes,
               buffer.size());
  uint8_t* const memory = aligned(place + sizeof(DumpBuilder));
  builder_ = new (place)
      DumpBuilder({memory, static_cast<size_t>(buffer.data() + buffer.size() - memory)});
}

ETDumpGen::~ETDumpGen() {
  if (is_static_etdump()) {
    builder_->~DumpBuilder();
  } else {
    delete builder_;
  }
}

bool ETDumpGen::is_static_etdump() {
  return buffer_.data() != nullptr;
}

void ETDumpGen::clear_builder() {
  builder_->clear();
}

void ETDumpGen::reset() {
  builder_->clear();
  state_ = State::Init;
  num_blocks_ = 0;
  data_sink_ = nullptr;
}

size_t ETDumpGen::get_num_blocks() {
  return num_blocks_;
}

size_t ETDumpGen::get_num_lost_events() const {
  return builder_->num_lost();
}

void ETDumpGen::end_block() {
  if (state_ != State::Init && state_ != State::Done) {
    builder_->end_block(bundled_input_index_);
  }
}

void ETDumpGen::create_event_block(const char* name) {
  if (state_ == State::Done) {
    reset();
  }
  end_block();
  ++num_blocks_;
  builder_->begin_block(name);
  state_ = State::BlockCreated;
}

void ETDumpGen::check_and_start_event() {
  ET_CHECK_MSG(state_ != State::Init, "create_event_block() comes before the first event");
  if (state_ != State::Done) {
    state_ = State::AddingEvents;
  }
}

EventTracerEntry ETDumpGen::start_profiling(const char* name, ChainID chain_id,
                                            DebugHandle debug_handle) {
  check_and_start_event();
  EventTracerEntry entry{};
  entry.delegate_event_id_type = DelegateDebugIdType::kNone;
  entry.event_id =
      make_event_id(builder_->generation(), name == nullptr ? 0 : builder_->add_name(name).o);
  entry.chain_id = chain_id == kUnsetChainId ? chain_id_ : chain_id;
  entry.debug_handle = chain_id == kUnsetChainId ? debug_handle_ : debug_handle;
  entry.start_time = runtime::pal_current_ticks();
  return entry;
}

void ETDumpGen::end_profiling(EventTracerEntry prof_entry) {
  const et_timestamp_t end_time = runtime::pal_current_ticks();
  ET_CHECK_MSG(prof_entry.delegate_event_id_type == DelegateDebugIdType::kNone,
               "a delegate's event is ended with end_profiling_delegate()");
  check_and_start_event();
  if (generation_of(prof_entry) != builder_->generation()) {
    builder_->count_loss();  // begun in a dump that is over
    return;
  }
  if (!builder_->has_room(kEventBytes)) {
    return;
  }
  TimedEvent event;
  event.name = DumpBuilder::Name(static_cast<uint32_t>(prof_entry.event_id));
  event.chain_index = prof_entry.chain_id;
  event.instruction_id = static_cast<int32_t>(prof_entry.debug_handle);
  event.start_time = prof_entry.start_time;
  event.end_time = end_time;
  builder_->add_event(event);
}

EventTracerEntry ETDumpGen::start_profiling_delegate(const char* name,
                                                     DelegateDebugIntId delegate_debug_index) {
  EventTracerEntry entry = make_delegate_entry(name, delegate_debug_index);
  entry.start_time = runtime::pal_current_ticks();
  return entry;
}

EventTracerEntry ETDumpGen::make_delegate_entry(const char* name,
                                                DelegateDebugIntId delegate_debug_index) {
  check_delegate_id(name, delegate_debug_index);
  check_and_start_event();
  EventTracerEntry entry{};
  entry.delegate_event_id_type =
      name == nullptr ? DelegateDebugIdType::kInt : DelegateDebugIdType::kStr;
  entry.event_id = make_event_id(
      builder_->generation(),
      name == nullptr ? static_cast<uint32_t>(delegate_debug_index) : builder_->add_name(name).o);
  entry.chain_id = chain_id_;
  entry.debug_handle = debug_handle_;
  return entry;
}

void ETDumpGen::add_delegate_event(const EventTracerEntry& entry, et_timestamp_t end_time,
                                   const void* metadata, size_t metadata_len) {
  if (generation_of(entry) != builder_->generation()) {
    builder_->count_loss();
    return;
  }
  if (!builder_->has_room(kEventBytes + metadata_len)) {
    return;
  }
  const auto id = static_cast<uint32_t>(entry.event_id);
  const bool has_name = entry.delegate_event_id_type == DelegateDebugIdType::kStr;
  TimedEvent event;
  event.chain_index = entry.chain_id;
  event.instruction_id = static_cast<int32_t>(entry.debug_handle);
  event.delegate_id = has_name ? kUnsetDelegateDebugIntId : static_cast<DelegateDebugIntId>(id);
  event.delegate_name = DumpBuilder::Name(has_name ? id : 0);
  event.metadata = builder_->flatbuffer().CreateVector(static_cast<const uint8_t*>(metadata),
                                                       metadata == nullptr ? 0 : metadata_len);
  event.start_time = entry.start_time;
  event.end_time = end_time;
  builder_->add_event(event);
}

void ETDumpGen::end_profiling_delegate(EventTracerEntry prof_entry, const void* metadata,
                                       size_t metadata_len) {
  const et_timestamp_t end_time = runtime::pal_current_ticks();
  check_and_start_event();
  add_delegate_event(prof_entry, end_time, metadata, metadata_len);
}

void ETDumpGen::log_profiling_delegate(const char* name, DelegateDebugIntId delegate_debug_index,
                                       et_timestamp_t start_time, et_timestamp_t end_time,
                                       const void* metadata, size_t metadata_len) {
  EventTracerEntry entry = make_delegate_entry(name, delegate_debug_index);
  entry.start_time = start_time;
  add_delegate_event(entry, end_time, metadata, metadata_len);
}

AllocatorID ETDumpGen::track_allocator(const char* name) {
  ET_CHECK_MSG(state_ == State::BlockCreated || state_ == State::AddingAllocators,
               "track_allocator() comes after create_event_block() and before the first event");
  state_ = State::AddingAllocators;
  (void)builder_->add_allocator(name);
  return static_cast<AllocatorID>(builder_->num_allocators());
}

void ETDumpGen::track_allocation(AllocatorID id, size_t size) {
  check_and_start_event();
  if (builder_->has_room(kEventBytes)) {
    flatbuffers::FlatBufferBuilder& flatbuffer = builder_->flatbuffer();
    const auto event = fb::CreateAllocationEvent(flatbuffer, static_cast<int32_t>(id), size);
    builder_->add_event(fb::CreateEvent(flatbuffer, 0, event));
  }
}

namespace {

// Before anything is written.
Error check_tensors(const Tensor* tensors, size_t num_tensors) {
  for (size_t i = 0; i < num_tensors; ++i) {
    const Tensor& tensor = tensors[i];
    ET_CHECK_OR_RETURN_ERROR(is_stored(tensor.scalar_type()), InvalidArgument,
                             "an ETDump holds no tensors of element type %d",
                             static_cast<int>(tensor.scalar_type()));
    ET_CHECK_OR_RETURN_ERROR(tensor.nbytes() == 0 || tensor.const_data_ptr() != nullptr,
                             InvalidState, "a tensor of %zu bytes has no data", tensor.nbytes());
  }
  return Error::Ok;
}

Result<flatbuffers::Offset<fb::Tensor>> add_tensor(DumpBuilder& builder, DataSinkBase& sink,
                                                   const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  ET_CHECK_OR_RETURN_ERROR(builder.has_room(kTensorBytes + rank * kDimBytes), OutOfResources,
                           "the ETDump is full");
  int64_t offset = kNoData;
  if (tensor.nbytes() > 0) {
    const Result<size_t> written = sink.write(tensor.const_data_ptr(), tensor.nbytes());
    if (!written.ok()) {
      builder.count_loss();
      return written.error();
    }
    offset = static_cast<int64_t>(*written);
  }
  flatbuffers::FlatBufferBuilder& flatbuffer = builder.flatbuffer();
  std::array<int64_t, runtime::kTensorDimensionLimit> dims;
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), dims.begin());
  const auto sizes = flatbuffer.CreateVector(dims.data(), rank);
  std::copy(tensor.strides().begin(), tensor.strides().end(), dims.begin());
  const auto strides = flatbuffer.CreateVector(dims.data(), rank);
  const auto type = static_cast<executorch_flatbuffer::ScalarType>(tensor.scalar_type());
  return fb::CreateTensor(flatbuffer, type, sizes, strides, offset);
}

}  // namespace

Error ETDumpGen::add_value(const Logged& logged) {
  const bool is_list = logged.kind == fb::ValueType::TensorList;
  OffsetList<fb::Tensor>& tensors = builder_->tensors();
  tensors.clear();
  for (size_t i = 0; i < logged.num_tensors; ++i) {
    ET_CHECK_OR_RETURN_ERROR(tensors.reserve(), OutOfResources, "a list of %zu tensors is too long",
                             logged.num_tensors);
    tensors.push_back(ET_UNWRAP(add_tensor(*builder_, *data_sink_, logged.tensors[i])));
  }
  const DumpBuilder::Name name = logged.delegate_name == nullptr
                                     ? DumpBuilder::Name()
                                     : builder_->add_name(logged.delegate_name);
  ET_CHECK_OR_RETURN_ERROR(builder_->has_room(2 * kEventBytes + tensors.size() * sizeof(uint32_t)),
                           OutOfResources, "the ETDump is full");
  flatbuffers::FlatBufferBuilder& flatbuffer = builder_->flatbuffer();
  flatbuffers::Offset<fb::TensorList> list;
  if (is_list) {
    list =
        fb::CreateTensorList(flatbuffer, flatbuffer.CreateVector(tensors.data(), tensors.size()));
  }
  const auto int_value = logged.kind == fb::ValueType::Int
                             ? fb::CreateInt(flatbuffer, logged.int_value)
                             : flatbuffers::Offset<fb::Int>();
  const auto double_value = logged.kind == fb::ValueType::Double
                                ? fb::CreateDouble(flatbuffer, logged.double_value)
                                : flatbuffers::Offset<fb::Double>();
  const auto bool_value = logged.kind == fb::ValueType::Bool
                              ? fb::CreateBool(flatbuffer, logged.int_value != 0)
                              : flatbuffers::Offset<fb::Bool>();
  const auto output =
      logged.is_output ? fb::CreateBool(flatbuffer, true) : flatbuffers::Offset<fb::Bool>();
  const auto value = fb::CreateValue(
      flatbuffer, logged.kind,
      logged.kind == fb::ValueType::Tensor ? tensors.data()[0] : flatbuffers::Offset<fb::Tensor>(),
      list, int_value, 0, double_value, bool_value, output);
  const auto event =
      fb::CreateDebugEvent(flatbuffer, static_cast<uint64_t>(chain_id_),
                           static_cast<int32_t>(debug_handle_), value, logged.delegate_index, name);
  builder_->add_event(fb::CreateEvent(flatbuffer, 0, 0, event));
  return Error::Ok;
}

Result<bool> ETDumpGen::log_value(const Logged& logged) {
  ET_CHECK_OR_RETURN_ERROR(data_sink_ != nullptr, InvalidArgument,
                           "values need a place for their data: call set_debug_buffer() or "
                           "set_data_sink() first");
  check_and_start_event();
  ET_CHECK_OK_OR_RETURN_ERROR(check_tensors(logged.tensors, logged.num_tensors));
  ET_CHECK_OK_OR_RETURN_ERROR(add_value(logged));
  return true;
}

Result<bool> ETDumpGen::log_evalue(const EValue& evalue, LoggedEValueType evalue_type) {
  Logged logged;
  logged.is_output = evalue_type == LoggedEValueType::kProgramOutput;
  switch (evalue.tag) {
    case runtime::Tag::Tensor: {
      const Tensor tensor = evalue.toTensor();
      logged.kind = fb::ValueType::Tensor;
      logged.tensors = &tensor;
      logged.num_tensors = 1;
      return log_value(logged);
    }
    case runtime::Tag::ListTensor: {
      const auto tensors = evalue.toTensorList();
      logged.kind = fb::ValueType::TensorList;
      logged.tensors = tensors.data();
      logged.num_tensors = tensors.size();
      return log_value(logged);
    }
    case runtime::Tag::Int:
      logged.kind = fb::ValueType::Int;
      logged.int_value = evalue.toInt();
      return log_value(logged);
    case runtime::Tag::Double:
      logged.kind = fb::ValueType::Double;
      logged.double_value = evalue.toDouble();
      return log_value(logged);
    case runtime::Tag::Bool:
      logged.kind = fb::ValueType::Bool;
      logged.int_value = evalue.toBool() ? 1 : 0;
      return log_value(logged);
    default:
      return Error::InvalidArgument;  // None and lists of numbers: an ETDump has no form for them
  }
}

Result<bool> ETDumpGen::log_delegate_value(const char* name, DelegateDebugIntId index,
                                           Logged logged) {
  ET_CHECK_OR_RETURN_ERROR((name == nullptr) != (index == kUnsetDelegateDebugIntId),
                           InvalidArgument,
                           "a delegate's value has either a name or a number, not both or none");
  if (filter_ != nullptr && ET_UNWRAP(filter_->filter(name, index))) {
    return false;
  }
  logged.delegate_name = name;
  logged.delegate_index = index;
  return log_value(logged);
}

Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const Tensor& output) {
  Logged logged;
  logged.kind = fb::ValueType::Tensor;
  logged.tensors = &output;
  logged.num_tensors = 1;
  return log_delegate_value(name, index, logged);
}

Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const ArrayRef<Tensor> output) {
  Logged logged;
  logged.kind = fb::ValueType::TensorList;
  logged.tensors = output.data();
  logged.num_tensors = output.size();
  return log_delegate_value(name, index, logged);
}

Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const int& output) {
  Logged logged;
  logged.kind = fb::ValueType::Int;
  logged.int_value = output;
  return log_delegate_value(name, index, logged);
}

Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const bool& output) {
  Logged logged;
  logged.kind = fb::ValueType::Bool;
  logged.int_value = output ? 1 : 0;
  return log_delegate_value(name, index, logged);
}

Result<bool> ETDumpGen::log_intermediate_output_delegate(const char* name, DelegateDebugIntId index,
                                                         const double& output) {
  Logged logged;
  logged.kind = fb::ValueType::Double;
  logged.double_value = output;
  return log_delegate_value(name, index, logged);
}

void ETDumpGen::set_delegation_intermediate_output_filter(
    runtime::EventTracerFilterBase* event_tracer_filter) {
  filter_ = event_tracer_filter;
}

Result<bool> ETDumpGen::set_debug_buffer(Span<uint8_t> buffer) {
  Result<BufferDataSink> sink = BufferDataSink::create(buffer);
  ET_CHECK_OK_OR_RETURN_ERROR(sink.error());
  buffer_sink_ = std::move(*sink);
  data_sink_ = &buffer_sink_;
  return true;
}

void ETDumpGen::set_data_sink(DataSinkBase* data_sink) {
  data_sink_ = data_sink;
}

ETDumpResult ETDumpGen::get_etdump_data() {
  if (state_ == State::Init) {
    return {nullptr, 0};
  }
  end_block();
  state_ = State::Done;
  const Span<uint8_t> bytes = builder_->finish();
  if (builder_->num_lost() > 0) {
    ET_LOG(
        Error,
        "%zu events of this ETDump were lost: it, or the buffer of values, was full. Give larger "
        "buffers, or dump after fewer executions",
        builder_->num_lost());
  }
  if (is_static_etdump()) {
    return {bytes.data(), bytes.size()};
  }
  void* const copy = std::malloc(bytes.size());
  if (copy == nullptr) {
    ET_LOG(Error, "No memory for the %zu bytes of an ETDump", bytes.size());
    return {nullptr, 0};
  }
  std::memcpy(copy, bytes.data(), bytes.size());
  return {copy, bytes.size()};
}

}  // namespace executorch::etdump
