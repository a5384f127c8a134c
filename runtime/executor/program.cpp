// SPDX-License-Identifier: BSD-3-Clause
// Loads program files: header, verification, constants, named data.
#include <executorch/runtime/executor/program.h>

#include <cinttypes>
#include <cstring>
#include <string_view>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/executor/program_structure.h>
#include <executorch/runtime/executor/program_validation.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/schema/extended_header.h>
#include <executorch/schema/program_generated.h>

// 0 leaves full verification out of the program: every load is Minimal.
#ifndef ET_ENABLE_PROGRAM_VERIFICATION
#define ET_ENABLE_PROGRAM_VERIFICATION 1
#endif
// 0 refuses files with their constants in the program data, as before 2024-09.
#ifndef ET_ENABLE_DEPRECATED_CONSTANT_BUFFER
#define ET_ENABLE_DEPRECATED_CONSTANT_BUFFER 1
#endif

namespace executorch::ET_RUNTIME_NAMESPACE {
namespace {

namespace fb = executorch_flatbuffer;
using SegmentInfo = DataLoader::SegmentInfo;

static_assert(Program::kMinHeadBytes >= ExtendedHeader::kNumHeadBytes, "load() reads the header");

constexpr size_t kIdentifierOffset = 4;
constexpr size_t kIdentifierSize = 4;

// Where things are in the file.
struct FileLayout {
  size_t program_size;
  size_t segment_base_offset;
  size_t segment_data_size;
};

template <typename T>
uint32_t count(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// Reads the header, if there is one, and checks it against the size of the file.
Result<FileLayout> read_layout(DataLoader* loader) {
  const size_t file_size = ET_UNWRAP(loader->size());
  FreeableBuffer head =
      ET_UNWRAP(loader->load(0, Program::kMinHeadBytes, SegmentInfo(SegmentInfo::Type::Program)));
  const Result<ExtendedHeader> header = ExtendedHeader::Parse(head.data(), head.size());
  if (header.error() == Error::NotFound) {
    return FileLayout{file_size, 0, 0};
  }
  if (!header.ok()) {
    return header.error();
  }
  const uint64_t base = header->segment_base_offset;
  // Old headers do not say how long the segments are: at most up to the end of the file.
  const uint64_t segments = header->segment_data_size != 0 || base == 0 || base > file_size
                                ? header->segment_data_size
                                : file_size - base;
  ET_CHECK_OR_RETURN_ERROR(
      header->program_size <= file_size && base <= file_size && segments <= file_size - base &&
          (base == 0 || base >= header->program_size) && (base != 0 || segments == 0),
      InvalidProgram,
      "Program file of %zu bytes is truncated or its header is wrong: it announces %" PRIu64
      " bytes of "
      "program data, and %" PRIu64 " bytes of segments from byte %" PRIu64,
      file_size, static_cast<uint64_t>(header->program_size), static_cast<uint64_t>(segments),
      static_cast<uint64_t>(base));
  return FileLayout{static_cast<size_t>(header->program_size), static_cast<size_t>(base),
                    static_cast<size_t>(segments)};
}

Error check_identifier(const uint8_t* data, size_t size) {
  ET_CHECK_OR_RETURN_ERROR(size >= kIdentifierOffset + kIdentifierSize, InvalidProgram,
                           "Program data has %zu bytes, which is too short", size);
  const char* found = reinterpret_cast<const char*>(data) + kIdentifierOffset;
  ET_CHECK_OR_RETURN_ERROR(
      std::memcmp(found, fb::ProgramIdentifier(), kIdentifierSize) == 0, InvalidProgram,
      "Not a program this runtime can load: expected file identifier %s, found %.4s",
      fb::ProgramIdentifier(), found);
  return Error::Ok;
}

Error verify(const uint8_t* data, const FileLayout& layout, Program::Verification verification) {
  if (verification == Program::Verification::Minimal || !ET_ENABLE_PROGRAM_VERIFICATION) {
    ET_CHECK_OR_RETURN_ERROR(has_root_table(data, layout.program_size), InvalidProgram,
                             "Program data of %zu bytes is corrupted: no root table",
                             layout.program_size);
    return Error::Ok;
  }
#if ET_ENABLE_PROGRAM_VERIFICATION
  ET_CHECK_OK_OR_RETURN_ERROR(verify_flatbuffer(data, layout.program_size));
  return verify_program(fb::GetProgram(data),
                        {layout.program_size, layout.segment_data_size, data});
#else
  return Error::Ok;
#endif
}

}  // namespace

Result<Program> Program::load(DataLoader* loader, Verification verification) {
  ET_CHECK_OR_RETURN_ERROR(loader != nullptr, InvalidArgument, "Program::load: no data loader");
  const FileLayout layout = ET_UNWRAP(read_layout(loader));
  FreeableBuffer buffer =
      ET_UNWRAP(loader->load(0, layout.program_size, SegmentInfo(SegmentInfo::Type::Program)));
  const uint8_t* data = static_cast<const uint8_t*>(buffer.data());
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(data) % alignof(std::max_align_t) == 0,
                           InvalidArgument,
                           "Program data at %p: expected an address aligned to %zu",
                           static_cast<const void*>(data), alignof(std::max_align_t));
  ET_CHECK_OR_RETURN_ERROR(buffer.size() >= layout.program_size, InvalidProgram,
                           "Program data: expected %zu bytes, the loader gave %zu",
                           layout.program_size, buffer.size());
  ET_CHECK_OK_OR_RETURN_ERROR(check_identifier(data, layout.program_size));
  ET_CHECK_OK_OR_RETURN_ERROR(verify(data, layout, verification));

  const fb::Program* root = fb::GetProgram(data);
  Program program(loader, std::move(buffer), root, layout.segment_base_offset);
  if (count(root->named_data()) > 0) {
    ET_CHECK_OR_RETURN_ERROR(root->segments() != nullptr, InvalidArgument,
                             "Program: named data but no segments");
    program.pte_data_map_.emplace(loader, layout.segment_base_offset, root->named_data(),
                                  root->segments());
  }
  ET_CHECK_OK_OR_RETURN_ERROR(program.load_constants());
  return program;
}

Error Program::load_constants() {
  const fb::SubsegmentOffsets* constants = internal_program_->constant_segment();
  const uint32_t num_constants = constants == nullptr ? 0 : count(constants->offsets());
  if (num_constants <= 1) {
    ET_CHECK_OR_RETURN_ERROR(
        ET_ENABLE_DEPRECATED_CONSTANT_BUFFER || count(internal_program_->constant_buffer()) == 0,
        InvalidProgram,
        "Program: its constants are in the program data, as before 2024-09: export it again");
    return Error::Ok;
  }
  Result<FreeableBuffer> segment =
      load_segment(SegmentInfo(SegmentInfo::Type::Constant, constants->segment_index()));
  // A program whose constants are missing is corrupted.
  ET_CHECK_OR_RETURN_ERROR(segment.error() != Error::NotFound, InvalidProgram,
                           "Program: no segment of constants");
  constant_segment_ = ET_UNWRAP(std::move(segment));
  return Error::Ok;
}

// ---- Methods ----

namespace {

Result<const fb::ExecutionPlan*> find_plan(const fb::Program& program, const char* name) {
  ET_CHECK_OR_RETURN_ERROR(name != nullptr, InvalidArgument, "The method name is null");
  const auto* plans = program.execution_plan();
  for (uint32_t i = 0; i < count(plans); ++i) {
    const fb::ExecutionPlan* plan = plans->Get(i);
    if (plan->name() == nullptr || plan->name()->string_view() != name) {
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(
        plan->inputs() != nullptr && plan->outputs() != nullptr && plan->values() != nullptr &&
            plan->non_const_buffer_sizes() != nullptr,
        InvalidProgram, "Method %s has no inputs, outputs, values or buffer sizes", name);
    return plan;
  }
  ET_LOG(Error, "No method named '%s' in program with %" PRIu32 " methods", name, count(plans));
  return Error::InvalidArgument;
}

}  // namespace

size_t Program::num_methods() const {
  return count(internal_program_->execution_plan());
}

Result<const char*> Program::get_method_name(size_t method_index) const {
  ET_CHECK_OR_RETURN_ERROR(method_index < num_methods(), InvalidArgument,
                           "Method %zu of %zu does not exist", method_index, num_methods());
  const auto* name =
      internal_program_->execution_plan()->Get(static_cast<uint32_t>(method_index))->name();
  ET_CHECK_OR_RETURN_ERROR(name != nullptr, InvalidProgram, "Method %zu has no name", method_index);
  return name->c_str();
}

Result<MethodMeta> Program::method_meta(const char* method_name) const {
  return MethodMeta(ET_UNWRAP(find_plan(*internal_program_, method_name)));
}

Result<Method> Program::load_method(const char* method_name, MemoryManager* memory_manager,
                                    EventTracer* event_tracer, const NamedDataMap* named_data_map,
                                    const LoadBackendOptionsMap* backend_options,
                                    Span<const Kernel> kernel_registry) const {
  ET_CHECK_OR_RETURN_ERROR(
      memory_manager != nullptr && memory_manager->method_allocator() != nullptr, InvalidArgument,
      "load_method: no memory manager or no method allocator");
  internal::event_tracer_create_event_block(event_tracer, "Default");
  const internal::EventTracerProfileMethodScope scope(event_tracer, "Program::load_method");
  const fb::ExecutionPlan* plan = ET_UNWRAP(find_plan(*internal_program_, method_name));
  return Method::load(plan, this, memory_manager, event_tracer,
                      {named_data_map, backend_options, kernel_registry});
}

std::string_view Program::user_metadata() const {
  const auto* text = internal_program_->user_metadata();
  return text == nullptr ? std::string_view() : text->string_view();
}

Result<const char*> Program::get_output_flattening_encoding(const char* method_name) const {
  const fb::ExecutionPlan* plan = ET_UNWRAP(find_plan(*internal_program_, method_name));
  const fb::ContainerMetadata* containers = plan->container_meta_type();
  ET_CHECK_OR_RETURN_ERROR(containers != nullptr && containers->encoded_out_str() != nullptr,
                           InvalidProgram, "Method %s does not say how its outputs nest",
                           method_name);
  return containers->encoded_out_str()->c_str();
}

// ---- Data ----

Result<const NamedDataMap*> Program::get_named_data_map() const {
  if (!pte_data_map_.has_value()) {
    return Error::NotFound;
  }
  return &*pte_data_map_;
}

Result<FreeableBuffer> Program::load_segment(const DataLoader::SegmentInfo& info) const {
  const auto* segments = internal_program_->segments();
  ET_CHECK_OR_RETURN_ERROR(segment_base_offset_ != 0 && info.segment_index < count(segments),
                           NotFound, "Segment %zu of %" PRIu32 " does not exist",
                           info.segment_index,
                           static_cast<uint32_t>(segment_base_offset_ == 0 ? 0 : count(segments)));
  const fb::DataSegment* segment = segments->Get(static_cast<uint32_t>(info.segment_index));
  return loader_->load(segment_base_offset_ + segment->offset(), segment->size(), info);
}

Result<FreeableBuffer> Program::load_delegate_data(const fb::BackendDelegate& delegate) const {
  const auto* reference = delegate.processed();
  ET_CHECK_OR_RETURN_ERROR(reference != nullptr, InvalidProgram, "A delegate has no data");
  if (reference->location() == fb::DataLocation::SEGMENT) {
    return load_segment(
        SegmentInfo(SegmentInfo::Type::Backend, reference->index(), delegate.id()->c_str()));
  }
  ET_CHECK_OR_RETURN_ERROR(reference->location() == fb::DataLocation::INLINE, Internal,
                           "Delegate data is in the unknown place %d",
                           static_cast<int>(reference->location()));
  const auto* blobs = internal_program_->backend_delegate_data();
  ET_CHECK_OR_RETURN_ERROR(reference->index() < count(blobs), NotFound,
                           "Inline delegate data %" PRIu32 " of %" PRIu32 " does not exist",
                           static_cast<uint32_t>(reference->index()), count(blobs));
  const auto* data = blobs->Get(reference->index())->data();
  return data == nullptr ? FreeableBuffer() : FreeableBuffer(data->data(), data->size(), nullptr);
}

Error Program::load_mutable_subsegment_into(size_t mutable_data_segments_index, size_t offset_index,
                                            size_t size, void* buffer) const {
  const auto* tables = internal_program_->mutable_data_segments();
  const fb::SubsegmentOffsets* table =
      mutable_data_segments_index < count(tables)
          ? tables->Get(static_cast<uint32_t>(mutable_data_segments_index))
          : nullptr;
  ET_CHECK_OR_RETURN_ERROR(segment_base_offset_ != 0 && table != nullptr &&
                               offset_index < count(table->offsets()) &&
                               table->segment_index() < count(internal_program_->segments()),
                           NotFound, "Initial data %zu does not exist", offset_index);
  const fb::DataSegment* segment = internal_program_->segments()->Get(table->segment_index());
  const uint64_t offset = table->offsets()->Get(static_cast<uint32_t>(offset_index));
  ET_CHECK_OR_RETURN_ERROR(
      offset <= segment->size() && size <= segment->size() - offset, InvalidArgument,
      "Initial data %zu is shorter than the %zu bytes of its tensor", offset_index, size);
  return loader_->load_into(segment_base_offset_ + segment->offset() + offset, size,
                            SegmentInfo(SegmentInfo::Type::Mutable, table->segment_index()),
                            buffer);
}

Error Program::load_mutable_data_into(size_t buffer_idx, size_t nbytes, void* out) const {
  const Error error = load_mutable_subsegment_into(0, buffer_idx, nbytes, out);
  return error == Error::NotFound || error == Error::InvalidArgument ? Error::InvalidProgram
                                                                     : error;
}

Result<const void*> Program::get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const {
  const fb::SubsegmentOffsets* constants = internal_program_->constant_segment();
  const uint32_t num_constants = constants == nullptr ? 0 : count(constants->offsets());
  if (num_constants > 0) {
    const uint64_t size = constant_segment_.size();
    const uint64_t offset = buffer_idx < num_constants
                                ? constants->offsets()->Get(static_cast<uint32_t>(buffer_idx))
                                : UINT64_MAX;
    ET_CHECK_OR_RETURN_ERROR(offset <= size && nbytes <= size - offset, InvalidArgument,
                             "Constant %zu of %" PRIu32
                             " does not exist or is shorter than %zu bytes",
                             buffer_idx, static_cast<uint32_t>(num_constants), nbytes);
    return static_cast<const void*>(static_cast<const uint8_t*>(constant_segment_.data()) + offset);
  }
  const auto* buffers = internal_program_->constant_buffer();
  const auto* storage = buffer_idx < count(buffers)
                            ? buffers->Get(static_cast<uint32_t>(buffer_idx))->storage()
                            : nullptr;
  ET_CHECK_OR_RETURN_ERROR(storage != nullptr && nbytes <= storage->size(), InvalidArgument,
                           "Inline constant %zu of %" PRIu32
                           " does not exist or is shorter than %zu bytes",
                           buffer_idx, count(buffers), nbytes);
  return static_cast<const void*>(storage->data());
}

bool Program::is_constant_data(const void* address) const {
  const uintptr_t byte = reinterpret_cast<uintptr_t>(address);
  return byte - reinterpret_cast<uintptr_t>(constant_segment_.data()) < constant_segment_.size() ||
         byte - reinterpret_cast<uintptr_t>(program_data_.data()) < program_data_.size();
}

Program::HeaderStatus Program::check_header(const void* data, size_t size) {
  if (size < kMinHeadBytes) {
    return HeaderStatus::ShortData;
  }
  const char* identifier = static_cast<const char*>(data) + kIdentifierOffset;
  if (std::memcmp(identifier, fb::ProgramIdentifier(), kIdentifierSize) == 0) {
    return HeaderStatus::CompatibleVersion;
  }
  return std::memcmp(identifier, fb::ProgramIdentifier(), 2) == 0
             ? HeaderStatus::IncompatibleVersion
             : HeaderStatus::NotPresent;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
