// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a VGF file point into each other's tables: each is compared with the table's size
// before the library is asked for what it points to.
#include <executorch/backends/arm/runtime/vgf/decoders.h>
#include <executorch/backends/arm/runtime/vgf/payload.h>
#include <executorch/backends/vulkan_device/data_graph_extensions.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <limits>

namespace executorch::backends::arm::vgf {

using executorch::aten::ScalarType;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr auto kNone = ScalarType::Undefined;
constexpr Format kFormats[] = {
    {VK_FORMAT_R8_BOOL_ARM, "R8_BOOL", 1, {ScalarType::Bool, kNone, kNone}},
    {VK_FORMAT_R8_SINT, "R8_SINT", 1, {ScalarType::Char, ScalarType::Byte, ScalarType::Bool}},
    {VK_FORMAT_R8_UINT, "R8_UINT", 1, {ScalarType::Byte, ScalarType::Char, ScalarType::Bool}},
    {VK_FORMAT_R16_SINT, "R16_SINT", 2, {ScalarType::Short, kNone, kNone}},
    {VK_FORMAT_R32_SINT, "R32_SINT", 4, {ScalarType::Int, kNone, kNone}},
    {VK_FORMAT_R64_SINT, "R64_SINT", 8, {ScalarType::Long, kNone, kNone}},
    {VK_FORMAT_R16_SFLOAT, "R16_SFLOAT", 2, {ScalarType::Half, kNone, kNone}},
    {VK_FORMAT_R32_SFLOAT, "R32_SFLOAT", 4, {ScalarType::Float, kNone, kNone}},
};

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kSpirvHeaderWords = 5;
/// More than any device takes.
constexpr uint32_t kMaxSets = 32;

const Format* find_format(int32_t number) {
  for (const Format& each : kFormats) {
    if (each.number == number) {
      return &each;
    }
  }
  return nullptr;
}

/// Whether strides in bytes, or none, are those of a tensor without gaps.
bool is_packed(const mlsdk_decoder_tensor_dimensions& strides, const Resource& resource) {
  if (strides.size == 0) {
    return true;
  }
  int64_t expected = static_cast<int64_t>(resource.format->element_size);
  for (size_t i = strides.size; i-- > 0 && strides.size == resource.sizes.size();) {
    if (strides.data[i] != expected) {
      return false;
    }
    expected *= resource.sizes[i];
  }
  return strides.size == resource.sizes.size();
}

/// Reads tables into a payload.
class Reader final {
 public:
  Reader(const Decoders& decoders, Payload& out)
      : modules_(decoders.modules.get()),
        sequence_(decoders.sequence.get()),
        resources_(decoders.resources.get()),
        constants_(decoders.constants.get()),
        out_(out) {}

  Error read() {
    ET_CHECK_OK_OR_RETURN_ERROR(read_resources());
    ET_CHECK_OK_OR_RETURN_ERROR(read_constants());
    const size_t count = mlsdk_decoder_get_model_sequence_table_size(sequence_);
    ET_CHECK_OR_RETURN_ERROR(count > 0, Internal, "%s: the VGF file has no segment", kName);
    for (uint32_t i = 0; i < count; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_segment(i));
    }
    ET_CHECK_OK_OR_RETURN_ERROR(read_ports(
        mlsdk_decoder_model_sequence_get_input_binding_slot(sequence_), "input", out_.inputs));
    return read_ports(mlsdk_decoder_model_sequence_get_output_binding_slot(sequence_), "output",
                      out_.outputs);
  }

 private:
  Error read_resources() {
    const size_t count = mlsdk_decoder_get_model_resource_table_num_entries(resources_);
    out_.resources.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_resource(i, out_.resources[i]));
    }
    return Error::Ok;
  }

  Error read_resource(uint32_t i, Resource& out) {
    mlsdk_vk_descriptor_type type = VK_DESCRIPTOR_TYPE_TENSOR_ARM;  // constants have none
    mlsdk_decoder_get_vk_descriptor_type(resources_, i, &type);
    ET_CHECK_OR_RETURN_ERROR(type == VK_DESCRIPTOR_TYPE_TENSOR_ARM, NotSupported,
                             "%s: resource %" PRIu32
                             ": expected a tensor, found descriptor type %" PRId32
                             " (images and buffers are not run)",
                             kName, i, type);
    const mlsdk_vk_format format = mlsdk_decoder_get_vk_format(resources_, i);
    out.format = find_format(format);
    ET_CHECK_OR_RETURN_ERROR(out.format != nullptr, NotSupported,
                             "%s: resource %" PRIu32 ": VkFormat %" PRId32
                             " is not one of tensors that are run",
                             kName, i, format);
    mlsdk_decoder_tensor_dimensions shape{};
    mlsdk_decoder_model_resource_table_get_tensor_shape(resources_, i, &shape);
    out.sizes.assign(shape.data, shape.data + shape.size);
    if (out.sizes.empty()) {
      out.sizes.push_back(1);
    }
    uint64_t num_bytes = out.format->element_size;
    for (const int64_t size : out.sizes) {
      ET_CHECK_OR_RETURN_ERROR(size > 0 && num_bytes <= std::numeric_limits<int64_t>::max() /
                                                            static_cast<uint64_t>(size),
                               Internal,
                               "%s: resource %" PRIu32 ": size %" PRId64 " is none of a tensor",
                               kName, i, size);
      num_bytes *= static_cast<uint64_t>(size);
    }
    out.num_bytes = static_cast<size_t>(num_bytes);
    mlsdk_decoder_tensor_dimensions strides{};
    mlsdk_decoder_model_resource_table_get_tensor_strides(resources_, i, &strides);
    ET_CHECK_OR_RETURN_ERROR(is_packed(strides, out), NotSupported,
                             "%s: resource %" PRIu32
                             ": expected a tensor without gaps, found "
                             "other strides",
                             kName, i);
    mlsdk_alias_group_id group = 0;
    if (mlsdk_decoder_model_resource_table_get_alias_group_id(resources_, i, &group)) {
      out.alias_group = group;
    }
    return Error::Ok;
  }

  Error read_constants() {
    const size_t count = mlsdk_decoder_get_constant_table_num_entries(constants_);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t resource = mlsdk_decoder_constant_table_get_mrt_index(constants_, i);
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_index("constant", i, "resource", resource, out_.resources.size()));
      const Resource& tensor = out_.resources[resource];
      mlsdk_decoder_constant_data bytes{};
      mlsdk_decoder_constant_table_get_data(constants_, i, &bytes);
      ET_CHECK_OR_RETURN_ERROR(bytes.data != nullptr && bytes.size == tensor.num_bytes, Internal,
                               "%s: constant %" PRIu32 ": expected %zu bytes, found %zu", kName, i,
                               tensor.num_bytes, bytes.size);
      int64_t dim = -1;
      if (mlsdk_decoder_constant_table_is_sparse(constants_, i)) {
        dim = mlsdk_decoder_constant_table_get_sparsity_dimension(constants_, i);
        ET_CHECK_OR_RETURN_ERROR(
            dim >= 0 && dim < static_cast<int64_t>(tensor.sizes.size()) &&
                tensor.sizes[static_cast<size_t>(dim)] % 4 == 0,
            Internal, "%s: constant %" PRIu32 " cannot be sparse along %" PRId64, kName, i, dim);
      }
      out_.constants.push_back({&tensor, bytes.data, dim});
    }
    return Error::Ok;
  }

  Error read_segment(uint32_t i) {
    Segment segment;
    const char* name = mlsdk_decoder_model_sequence_get_segment_name(sequence_, i);
    segment.name = name == nullptr ? "" : name;
    ET_CHECK_OR_RETURN_ERROR(mlsdk_decoder_model_sequence_get_segment_type(sequence_, i) ==
                                 mlsdk_decoder_module_type_graph,
                             NotSupported,
                             "%s: segment %" PRIu32
                             " (%s) is a compute shader: graphs are run, "
                             "shaders are not",
                             kName, i, segment.name.c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(read_module(i, segment));
    const size_t num_sets =
        mlsdk_decoder_model_sequence_get_segment_descriptorset_info_size(sequence_, i);
    for (uint32_t set = 0; set < num_sets; ++set) {
      ET_CHECK_OK_OR_RETURN_ERROR(read_set(i, set, segment));
    }
    ET_CHECK_OR_RETURN_ERROR(!segment.bindings.empty(), Internal,
                             "%s: segment %" PRIu32 " has no resource", kName, i);
    ET_CHECK_OK_OR_RETURN_ERROR(read_segment_constants(i, segment));
    out_.segments.push_back(std::move(segment));
    return Error::Ok;
  }

  Error read_module(uint32_t i, Segment& out) {
    const uint32_t module = mlsdk_decoder_model_sequence_get_segment_module_index(sequence_, i);
    ET_CHECK_OK_OR_RETURN_ERROR(check_index("segment", i, "module", module,
                                            mlsdk_decoder_get_module_table_num_entries(modules_)));
    ET_CHECK_OR_RETURN_ERROR(
        mlsdk_decoder_get_module_type(modules_, module) == mlsdk_decoder_module_type_graph &&
            mlsdk_decoder_module_has_spirv_code(modules_, module),
        Internal, "%s: segment %" PRIu32 ": module %" PRIu32 " is no graph with SPIR-V", kName, i,
        module);
    mlsdk_decoder_spirv_code code{};
    mlsdk_decoder_get_spirv_module_code(modules_, module, &code);
    const char* entry_point = mlsdk_decoder_get_module_entry_point(modules_, module);
    ET_CHECK_OR_RETURN_ERROR(code.code != nullptr && code.words > kSpirvHeaderWords &&
                                 code.code[0] == kSpirvMagic && entry_point != nullptr,
                             Internal, "%s: module %" PRIu32 ": expected SPIR-V, found other words",
                             kName, module);
    out.code = {code.code, code.words};
    out.entry_point = entry_point;
    return Error::Ok;
  }

  Error read_set(uint32_t i, uint32_t place, Segment& out) {
    const uint32_t set =
        mlsdk_decoder_model_sequence_get_segment_descriptorset_index(sequence_, i, place);
    ET_CHECK_OK_OR_RETURN_ERROR(check_index("segment", i, "descriptor set", set, kMaxSets));
    const mlsdk_decoder_binding_slots_handle slots =
        mlsdk_decoder_model_sequence_get_segment_descriptor_binding_slot(sequence_, i, place);
    for (uint32_t slot = 0; slot < size_of(slots); ++slot) {
      const Binding binding{set, mlsdk_decoder_binding_slot_binding_id(sequence_, slots, slot),
                            mlsdk_decoder_binding_slot_mrt_index(sequence_, slots, slot)};
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_index("segment", i, "resource", binding.resource, out_.resources.size()));
      const bool is_new = std::none_of(
          out.bindings.begin(), out.bindings.end(),
          [&](const Binding& other) { return other.set == set && other.number == binding.number; });
      ET_CHECK_OR_RETURN_ERROR(is_new, Internal,
                               "%s: segment %" PRIu32 ": two resources at set %" PRIu32
                               ", binding %" PRIu32,
                               kName, i, set, binding.number);
      out.bindings.push_back(binding);
    }
    return Error::Ok;
  }

  Error read_segment_constants(uint32_t i, Segment& out) {
    const mlsdk_decoder_graph_constant_bindings_handle handle =
        mlsdk_decoder_model_sequence_get_segment_constant_bindings(sequence_, i);
    const size_t count =
        handle == nullptr ? 0 : mlsdk_decoder_graph_constant_binding_size(sequence_, handle);
    for (uint32_t k = 0; k < count; ++k) {
      mlsdk_decoder_graph_constant_binding found{};
      mlsdk_decoder_graph_constant_binding_get(sequence_, handle, k, &found);
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_index("segment", i, "constant", found.constant_table_index, out_.constants.size()));
      out.constants.push_back({found.graph_constant_id, found.constant_table_index});
    }
    return Error::Ok;
  }

  Error read_ports(mlsdk_decoder_binding_slots_handle slots, const char* kind,
                   std::vector<uint32_t>& out) {
    for (uint32_t slot = 0; slot < size_of(slots); ++slot) {
      const uint32_t resource = mlsdk_decoder_binding_slot_mrt_index(sequence_, slots, slot);
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_index(kind, slot, "resource", resource, out_.resources.size()));
      out.push_back(resource);
    }
    return Error::Ok;
  }

  size_t size_of(mlsdk_decoder_binding_slots_handle slots) const {
    return slots == nullptr ? 0 : mlsdk_decoder_binding_slot_size(sequence_, slots);
  }

  static Error check_index(const char* owner, uint32_t i, const char* what, uint32_t index,
                           size_t count) {
    ET_CHECK_OR_RETURN_ERROR(index < count, Internal,
                             "%s: %s %" PRIu32 ": expected one of %zu %ss, found %" PRIu32, kName,
                             owner, i, count, what, index);
    return Error::Ok;
  }

  mlsdk_decoder_module_table_decoder* modules_;
  mlsdk_decoder_model_sequence_decoder* sequence_;
  mlsdk_decoder_model_resource_table_decoder* resources_;
  mlsdk_decoder_constant_table_decoder* constants_;
  Payload& out_;
};

}  // namespace

Result<Payload> open_payload(Span<const uint8_t> bytes) {
  Payload out;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
    out.aligned_copy.resize(bytes.size() / sizeof(uint64_t) + 1);
    std::memcpy(out.aligned_copy.data(), bytes.data(), bytes.size());
    bytes = {reinterpret_cast<const uint8_t*>(out.aligned_copy.data()), bytes.size()};
  }
  const Decoders decoders = ET_UNWRAP(open_decoders(bytes));
  ET_CHECK_OK_OR_RETURN_ERROR(Reader(decoders, out).read());
  return out;
}

}  // namespace executorch::backends::arm::vgf
