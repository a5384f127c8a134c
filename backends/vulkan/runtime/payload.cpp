// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/vulkan/runtime/payload.h>
#include <executorch/runtime/backend/payload_formats.h>

#include <algorithm>
#include <cinttypes>
#include <limits>

namespace executorch::backends::vulkan {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr flatbuffers::uoffset_t kMaxTables = 1 << 22;
/// Of all lists and texts together: several may share their bytes in the file.
constexpr size_t kMaxItems = size_t{1} << 24;
constexpr uint64_t kIsNamed = std::numeric_limits<uint64_t>::max();

/// What is read so far of lists.
struct Budget {
  size_t num_items = 0;

  Error take(size_t count) {
    num_items += std::min(count, kMaxItems);
    ET_CHECK_OR_RETURN_ERROR(num_items <= kMaxItems, InvalidProgram,
                             "Vulkan graph: more than %zu items in lists", kMaxItems);
    return Error::Ok;
  }
};

template <typename Out, typename List>
Error read_list(const List* list, Budget& budget, std::vector<Out>& out) {
  if (list == nullptr) {
    return Error::Ok;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(budget.take(list->size()));
  // The verifier looks at lengths alone; an empty list may stand anywhere.
  constexpr size_t kAlignment = alignof(typename List::return_type);
  const bool is_aligned = reinterpret_cast<uintptr_t>(list->data()) % kAlignment == 0;
  ET_CHECK_OR_RETURN_ERROR(is_aligned || list->size() == 0, InvalidProgram,
                           "Vulkan: expected items aligned to %zu bytes", kAlignment);
  out.assign(list->begin(), list->end());
  return Error::Ok;
}

Error read_text(const flatbuffers::String* text, Budget& budget, std::string& out) {
  if (text == nullptr) {
    return Error::Ok;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(budget.take(text->size()));
  out = text->str();
  return Error::Ok;
}

Error read_tensor(const vkgraph::VkTensor& from, size_t id, PayloadTensor& out) {
  ET_CHECK_OR_RETURN_ERROR(size_of(from.datatype()) > 0, InvalidProgram,
                           "Vulkan value %zu: datatype %d is not known", id,
                           static_cast<int>(from.datatype()));
  out.dtype = from.datatype();
  out.staging =
      from.staging_datatype() == VkDataType::UNSET ? from.datatype() : from.staging_datatype();
  ET_CHECK_OR_RETURN_ERROR(size_of(out.staging) > 0, InvalidProgram,
                           "Vulkan value %zu: staging datatype %d is not known", id,
                           static_cast<int>(out.staging));
  out.constant = from.constant_id();
  const size_t rank = from.dims() == nullptr ? 0 : from.dims()->size();
  ET_CHECK_OR_RETURN_ERROR(rank <= kMaxRank, NotSupported,
                           "Vulkan value %zu: %zu dimensions, expected at most %zu", id, rank,
                           kMaxRank);
  constexpr uint64_t kMaxElements = std::numeric_limits<int32_t>::max();
  uint64_t numel = 1;
  for (size_t i = 0; i < rank; ++i) {
    const uint32_t size = from.dims()->Get(static_cast<flatbuffers::uoffset_t>(i));
    ET_CHECK_OR_RETURN_ERROR(size <= kMaxElements, NotSupported,
                             "Vulkan value %zu: dimension %zu has %" PRIu32 " elements", id, i,
                             size);
    numel *= std::max<uint64_t>(size, 1);  // so that a zero hides nothing
    ET_CHECK_OR_RETURN_ERROR(numel <= kMaxElements, NotSupported,
                             "Vulkan value %zu: more than %" PRIu64 " elements", id, kMaxElements);
    out.bound.push(size);
  }
  return Error::Ok;
}

Error read_value(const vkgraph::VkValue& from, size_t id, Budget& budget, PayloadValue& out) {
  out.kind = from.value_type();
  ET_CHECK_OR_RETURN_ERROR(out.kind != GraphTypes::NONE && from.value() != nullptr, InvalidProgram,
                           "Vulkan value %zu says nothing", id);
  switch (out.kind) {
    case GraphTypes::Null:
      return Error::Ok;
    case GraphTypes::Int:
      out.integer = from.value_as_Int()->int_val();
      return Error::Ok;
    case GraphTypes::Double:
      out.number = from.value_as_Double()->double_val();
      return Error::Ok;
    case GraphTypes::Bool:
      out.integer = from.value_as_Bool()->bool_val() ? 1 : 0;
      return Error::Ok;
    case GraphTypes::SymInt:
      return Error::Ok;  // its value comes with a run
    case GraphTypes::VkTensor:
      return read_tensor(*from.value_as_VkTensor(), id, out.tensor);
    case GraphTypes::IntList:
      return read_list(from.value_as_IntList()->items(), budget, out.items);
    case GraphTypes::DoubleList:
      return read_list(from.value_as_DoubleList()->items(), budget, out.numbers);
    case GraphTypes::BoolList:
      return read_list(from.value_as_BoolList()->items(), budget, out.items);
    case GraphTypes::ValueList:
      return read_list(from.value_as_ValueList()->items(), budget, out.items);
    case GraphTypes::String:
      return read_text(from.value_as_String()->string_val(), budget, out.text);
    default:
      ET_LOG(Error, "Vulkan value %zu: kind %d: written by a newer exporter", id,
             static_cast<int>(out.kind));
      return Error::DelegateInvalidCompatibility;
  }
}

Error read_constant(const vkgraph::VkBytes& from, size_t id, Span<const uint8_t> region,
                    const runtime::NamedDataMap* named_data, PayloadConstant& out) {
  if (from.offset() != kIsNamed) {
    ET_CHECK_OR_RETURN_ERROR(
        from.offset() <= region.size() && from.length() <= region.size() - from.offset(),
        InvalidProgram, "Vulkan constant %zu: %" PRIu64 " bytes at %" PRIu64 ", the region has %zu",
        id, from.length(), from.offset(), region.size());
    out.bytes = {region.data() + from.offset(), static_cast<size_t>(from.length())};
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(from.named_key() != nullptr && named_data != nullptr, InvalidProgram,
                           "Vulkan constant %zu: expected a key of named data", id);
  auto found = named_data->get_data(from.named_key()->string_view());
  ET_CHECK_OR_RETURN_ERROR(found.ok(), NotFound, "Vulkan constant %zu: no named data \"%s\"", id,
                           from.named_key()->c_str());
  out.held = std::move(*found);
  out.bytes = {static_cast<const uint8_t*>(out.held.data()), out.held.size()};
  return Error::Ok;
}

/// Numbers of values, sizes of constants, and the order of calls.
class Checker {
 public:
  explicit Checker(const Payload& payload)
      : payload_(payload), is_defined_(payload.values.size(), false) {}

  Error run() {
    for (size_t id = 0; id < payload_.values.size(); ++id) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_value(id));
    }
    for (const uint32_t id : payload_.inputs) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_input(id));
    }
    for (const PayloadCall& call : payload_.calls) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_call(call));
    }
    for (const uint32_t id : payload_.outputs) {
      const bool is_known = id < payload_.values.size() && is_defined_[id];
      const GraphTypes kind = is_known ? payload_.values[id].kind : GraphTypes::NONE;
      ET_CHECK_OR_RETURN_ERROR(
          kind == GraphTypes::VkTensor || kind == GraphTypes::SymInt, InvalidProgram,
          "Vulkan output %" PRIu32 ": expected a tensor or a SymInt that is computed", id);
    }
    return Error::Ok;
  }

 private:
  Error check_value(size_t id) {
    const PayloadValue& value = payload_.values[id];
    is_defined_[id] = value.kind != GraphTypes::VkTensor && value.kind != GraphTypes::SymInt;
    if (value.kind == GraphTypes::ValueList) {
      for (const int64_t item : value.items) {
        ET_CHECK_OR_RETURN_ERROR(
            item >= 0 && static_cast<size_t>(item) < payload_.values.size() &&
                payload_.values[static_cast<size_t>(item)].kind != GraphTypes::ValueList,
            InvalidProgram, "Vulkan value %zu: its list names value %" PRId64, id, item);
      }
    }
    const int32_t constant = value.tensor.constant;
    if (value.kind != GraphTypes::VkTensor || constant < 0) {
      return Error::Ok;
    }
    ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(constant) < payload_.constants.size(),
                             InvalidProgram, "Vulkan value %zu: constant %" PRId32 " of %zu", id,
                             constant, payload_.constants.size());
    const size_t found = payload_.constants[static_cast<size_t>(constant)].bytes.size();
    const size_t expected =
        static_cast<size_t>(value.tensor.bound.numel()) * size_of(value.tensor.dtype);
    ET_CHECK_OR_RETURN_ERROR(found >= expected, InvalidProgram,
                             "Vulkan value %zu: constant %" PRId32
                             " has %zu bytes, its tensor %s expects %zu",
                             id, constant, found, value.tensor.bound.text().c_str(), expected);
    is_defined_[id] = true;
    return Error::Ok;
  }

  Error check_input(uint32_t id) {
    ET_CHECK_OR_RETURN_ERROR(id < payload_.values.size() && !is_defined_[id], InvalidProgram,
                             "Vulkan input %" PRIu32 ": expected a tensor or a SymInt, once", id);
    is_defined_[id] = true;
    return Error::Ok;
  }

  /// Calls `act(id)` for a value, and for those of its list.
  template <typename Act>
  Error each(int32_t id, Act act) {
    if (payload_.values[static_cast<size_t>(id)].kind != GraphTypes::ValueList) {
      return act(static_cast<size_t>(id));
    }
    for (const int64_t item : payload_.values[static_cast<size_t>(id)].items) {
      ET_CHECK_OK_OR_RETURN_ERROR(act(static_cast<size_t>(item)));
    }
    return Error::Ok;
  }

  Error check_call(const PayloadCall& call) {
    ET_CHECK_OR_RETURN_ERROR(!call.args.empty(), InvalidProgram,
                             "Vulkan call %" PRIu32 " (%s) has no arguments", call.node_id,
                             call.name.c_str());
    for (const int32_t id : call.args) {
      ET_CHECK_OR_RETURN_ERROR(id >= 0 && static_cast<size_t>(id) < payload_.values.size(),
                               InvalidProgram,
                               "Vulkan call %" PRIu32 " (%s): value %" PRId32 " of %zu",
                               call.node_id, call.name.c_str(), id, payload_.values.size());
    }
    for (size_t i = 0; i + 1 < call.args.size(); ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(each(call.args[i], [&](size_t id) {
        ET_CHECK_OR_RETURN_ERROR(is_defined_[id], InvalidProgram,
                                 "Vulkan call %" PRIu32
                                 " (%s) reads value %zu before it is written",
                                 call.node_id, call.name.c_str(), id);
        return Error::Ok;
      }));
    }
    return each(call.args.back(), [&](size_t id) {
      const GraphTypes kind = payload_.values[id].kind;
      ET_CHECK_OR_RETURN_ERROR(kind == GraphTypes::VkTensor || kind == GraphTypes::SymInt,
                               InvalidProgram,
                               "Vulkan call %" PRIu32 " (%s): output %zu is no tensor",
                               call.node_id, call.name.c_str(), id);
      is_defined_[id] = true;
      return Error::Ok;
    });
  }

  const Payload& payload_;
  std::vector<bool> is_defined_;
};

Error read_graph(const vkgraph::VkGraph& graph, Span<const uint8_t> region,
                 const runtime::NamedDataMap* named_data, Payload& out) {
  ET_CHECK_OR_RETURN_ERROR(graph.values() != nullptr && graph.chain() != nullptr, InvalidProgram,
                           "Vulkan graph without values or calls");
  Budget budget;
  out.values.resize(graph.values()->size());
  for (size_t i = 0; i < out.values.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_value(
        *graph.values()->Get(static_cast<flatbuffers::uoffset_t>(i)), i, budget, out.values[i]));
  }
  out.constants.resize(graph.constants() == nullptr ? 0 : graph.constants()->size());
  for (size_t i = 0; i < out.constants.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(
        read_constant(*graph.constants()->Get(static_cast<flatbuffers::uoffset_t>(i)), i, region,
                      named_data, out.constants[i]));
  }
  for (const vkgraph::OperatorCall* from : *graph.chain()) {
    PayloadCall call;
    call.node_id = from->node_id();
    ET_CHECK_OK_OR_RETURN_ERROR(read_text(from->name(), budget, call.name));
    ET_CHECK_OK_OR_RETURN_ERROR(read_list(from->args(), budget, call.args));
    out.calls.push_back(std::move(call));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(read_list(graph.input_ids(), budget, out.inputs));
  ET_CHECK_OK_OR_RETURN_ERROR(read_list(graph.output_ids(), budget, out.outputs));
  return Checker(out).run();
}

}  // namespace

bool Shape::operator==(const Shape& other) const {
  return rank == other.rank && std::equal(sizes, sizes + rank, other.sizes);
}

std::string Shape::text() const {
  std::string out = "[";
  for (size_t i = 0; i < rank; ++i) {
    out += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  }
  return out + "]";
}

size_t size_of(VkDataType dtype) {
  switch (dtype) {
    case VkDataType::BOOL:
    case VkDataType::UINT8:
    case VkDataType::INT8:
      return 1;
    case VkDataType::FLOAT16:
      return 2;
    case VkDataType::INT32:
    case VkDataType::FLOAT32:
      return 4;
    case VkDataType::FLOAT64:
    case VkDataType::INT64:
      return 8;
    default:
      return 0;
  }
}

Result<Payload> open_payload(const void* data, size_t size,
                             const runtime::NamedDataMap* named_data) {
  ET_CHECK_OR_RETURN_ERROR(data != nullptr, InvalidArgument, "Vulkan payload without data");
  const auto found = ET_UNWRAP(runtime::read_regions(
      Span<const uint8_t>(static_cast<const uint8_t*>(data), size), runtime::kVulkanHeader));
  const Span<const uint8_t> flatbuffer = found.regions[0];
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(flatbuffer.data()) % alignof(uint64_t) == 0,
                           InvalidArgument,
                           "Vulkan payload: expected its flatbuffer at an address aligned to 8");
  flatbuffers::Verifier::Options options;
  options.max_tables = kMaxTables;
  flatbuffers::Verifier verifier(flatbuffer.data(), flatbuffer.size(), options);
  ET_CHECK_OR_RETURN_ERROR(vkgraph::VerifyVkGraphBuffer(verifier), DelegateInvalidCompatibility,
                           "Vulkan payload of %zu bytes: expected a flatbuffer VK00", size);
  Payload payload;
  ET_CHECK_OK_OR_RETURN_ERROR(
      read_graph(*vkgraph::GetVkGraph(flatbuffer.data()), found.regions[1], named_data, payload));
  return payload;
}

}  // namespace executorch::backends::vulkan
