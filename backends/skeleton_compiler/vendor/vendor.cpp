// SPDX-License-Identifier: BSD-3-Clause
// The SDK that does not exist, as small as may be. A context binary is a head with a checksum, the
// graphs as they were given, and the constants of all, equal ones once.
#include <executorch/backends/skeleton_compiler/vendor/vendor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr size_t kAlignment = 16;
constexpr struct Device {
  const char* name;
  size_t max_rank;
  bool has_integers;
} kDevices[] = {{"v1", 4, false}, {"v2", 5, true}};
constexpr const Device& kThisDevice = kDevices[1];

thread_local std::string last_error;

vendor_status status_of(const std::string& why, vendor_status status = VENDOR_REFUSED) {
  last_error = why;
  return why.empty() ? VENDOR_OK : status;
}

struct Tensor {
  uint32_t role, dtype;
  uint64_t rank, num_scales, scales, data;  // the last two: where they begin among the constants
  int64_t sizes[8];

  std::vector<int64_t> shape() const { return {sizes, sizes + rank}; }
  size_t numel() const {
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i) {
      count *= static_cast<size_t>(sizes[i]);
    }
    return count;
  }
  size_t nbytes() const {
    constexpr size_t kHalfBytes[] = {8, 4, 8, 1};
    return (numel() * kHalfBytes[dtype] + 1) / 2;
  }
  bool is(uint32_t wanted, const std::vector<int64_t>& sizes) const {
    return dtype == wanted && shape() == sizes;
  }
};
struct Op {
  uint32_t kind, num_inputs, inputs[3], output;
};
struct GraphHead {
  char name[16];
  uint64_t num_tensors, num_ops, num_outputs;
};
struct Head {
  uint64_t checksum, num_graphs, constants;  // where these begin
  char device[8];
};

/// Of all behind itself, and of the size.
uint64_t checksum_of(const char* bytes, size_t size) {
  uint64_t sum = size, next = 0;
  for (size_t i = sizeof(sum); i < size; i += sizeof(next)) {
    std::memcpy(&next, bytes + i, std::min(sizeof(next), size - i));
    sum = (sum ^ next) * 0x100000001b3 + (sum >> 32);
  }
  return sum;
}

/// Appended, aligned; where it begins.
size_t put(std::string& bytes, const void* data, size_t size) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  bytes.append(static_cast<const char*>(data), size);
  return bytes.size() - size;
}

/// What put() wrote at `at`, which goes behind it.
template <typename T>
std::vector<T> next(const char* bytes, size_t count, size_t& at) {
  at = (at + kAlignment - 1) / kAlignment * kAlignment;
  const T* found = reinterpret_cast<const T*>(bytes + at);
  at += count * sizeof(T);
  return {found, found + count};
}

}  // namespace

struct vendor_graph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<uint32_t> outputs;
  std::string constants;
};

struct vendor_context {
  std::map<std::string, vendor_graph> graphs;
  std::map<std::string, std::vector<vendor_tensor>> ports;
  const char* constants;
};

namespace {

const Device* device_of(const char* name) {
  const auto found = std::find_if(std::begin(kDevices), std::end(kDevices),
                                  [&](const Device& each) { return !strcmp(each.name, name); });
  return found == std::end(kDevices) ? nullptr : found;
}

std::string why_not(const vendor_graph& graph, const char* device, const vendor_op& op) {
  const Device* target = device_of(device);
  if (target == nullptr) {
    return "there is no such device";
  }
  const Tensor &x = graph.tensors[op.inputs[0]], &y = graph.tensors[op.inputs[1]];
  const Tensor& out = graph.tensors[op.output];
  std::vector<int64_t> sizes = x.shape();
  if (x.rank > target->max_rank) {
    return "at most " + std::to_string(target->max_rank) + " dimensions, found " +
           std::to_string(x.rank);
  }
  if (op.kind != VENDOR_FULLY_CONNECTED) {
    const bool fits =
        x.is(VENDOR_FLOAT32, sizes) && y.is(VENDOR_FLOAT32, sizes) && out.is(VENDOR_FLOAT32, sizes);
    return fits ? "" : "float32 of one shape is expected";
  }
  if (!target->has_integers) {
    return "it has no integers";
  }
  if (x.rank == 0 || y.rank != 2 || sizes.back() > 4096) {
    return "a matrix of at most 4096 columns is expected";
  }
  const bool is_right = x.is(VENDOR_INT16, sizes) && y.is(VENDOR_INT4, {y.sizes[0], sizes.back()});
  sizes.back() = y.sizes[0];
  const bool fits = is_right && out.is(VENDOR_INT16, sizes) && x.num_scales == 1 &&
                    out.num_scales == 1 && y.num_scales == static_cast<size_t>(y.sizes[0]);
  return fits ? "" : "int16 with one scale, and int4 with one for each row, are expected";
}

int64_t int4_at(const char* data, size_t i) {
  const int byte = static_cast<uint8_t>(data[i / 2]);
  const int half = i % 2 == 0 ? byte & 15 : byte >> 4;
  return half < 8 ? half : half - 16;
}

/// round(sum * factor), by a multiplier of 31 bits and a shift.
int16_t requantized(int64_t sum, double factor) {
  int exponent = 0;
  const auto multiplier = static_cast<int64_t>(std::ldexp(std::frexp(factor, &exponent), 31));
  const int shift = std::clamp(31 - exponent, 1, 62);
  const int64_t scaled = (sum * multiplier + (int64_t{1} << (shift - 1))) >> shift;
  return static_cast<int16_t>(std::clamp<int64_t>(scaled, INT16_MIN, INT16_MAX));
}

/// Element `i` of the result.
void compute(const vendor_graph& graph, const Op& op, const char* constants,
             const std::vector<const char*>& values, size_t i, char* out) {
  const char *left = values[op.inputs[0]], *right = values[op.inputs[1]];
  if (op.kind != VENDOR_FULLY_CONNECTED) {
    const float x = reinterpret_cast<const float*>(left)[i];
    const float y = reinterpret_cast<const float*>(right)[i];
    reinterpret_cast<float*>(out)[i] = op.kind == VENDOR_ADD ? x + y : x * y;
    return;
  }
  const Tensor& weight = graph.tensors[op.inputs[1]];
  const auto rows = static_cast<size_t>(weight.sizes[0]);
  const auto columns = static_cast<size_t>(weight.sizes[1]);
  const size_t row = i % rows;
  const auto* x = reinterpret_cast<const int16_t*>(left) + i / rows * columns;
  const bool has_bias = op.num_inputs == 3;
  int64_t sum = has_bias ? reinterpret_cast<const int32_t*>(values[op.inputs[2]])[row] : 0;
  for (size_t k = 0; k < columns; ++k) {
    sum += x[k] * int4_at(right, row * columns + k);
  }
  const auto scale = [&](uint32_t id, size_t place) {
    return double{reinterpret_cast<const float*>(constants + graph.tensors[id].scales)[place]};
  };
  const double factor = scale(op.inputs[0], 0) * scale(op.inputs[1], row) / scale(op.output, 0);
  reinterpret_cast<int16_t*>(out)[i] = requantized(sum, factor);
}

}  // namespace

uint32_t vendor_version() {
  return VENDOR_VERSION;
}
const char* vendor_device() {
  return kThisDevice.name;
}
const char* vendor_last_error() {
  return last_error.c_str();
}

vendor_status vendor_graph_create(const char* name, vendor_graph** out) {
  *out = new vendor_graph{name, {}, {}, {}, {}};
  return VENDOR_OK;
}
void vendor_graph_free(vendor_graph* graph) {
  delete graph;
}
vendor_status vendor_graph_add_tensor(vendor_graph* graph, const vendor_tensor* tensor,
                                      uint32_t* out_id) {
  if (tensor->rank > std::size(Tensor().sizes)) {
    return status_of("at most 8 dimensions");
  }
  Tensor made{tensor->role, tensor->dtype, tensor->rank, tensor->num_scales, 0, 0, {}};
  std::copy_n(tensor->sizes, tensor->rank, made.sizes);
  made.scales = put(graph->constants, tensor->scales, tensor->num_scales * sizeof(float));
  if (tensor->data != nullptr) {
    made.data = put(graph->constants, tensor->data, made.nbytes());
  }
  *out_id = static_cast<uint32_t>(graph->tensors.size());
  graph->tensors.push_back(made);
  return VENDOR_OK;
}
vendor_status vendor_graph_validate(const vendor_graph* graph, const char* device,
                                    const vendor_op* op) {
  return status_of(why_not(*graph, device, *op));
}
vendor_status vendor_graph_add_op(vendor_graph* graph, const vendor_op* op) {
  Op made{op->kind, static_cast<uint32_t>(op->num_inputs), {}, op->output};
  std::copy_n(op->inputs, op->num_inputs, made.inputs);
  graph->ops.push_back(made);
  return VENDOR_OK;
}
vendor_status vendor_graph_set_outputs(vendor_graph* graph, const uint32_t* ids, size_t count) {
  graph->outputs.assign(ids, ids + count);
  return VENDOR_OK;
}

vendor_status vendor_compile(vendor_graph* const* graphs, size_t count, const char* device,
                             uint64_t max_bytes, void** out, size_t* out_size) {
  Head head{0, count, 0, {}};
  std::strncpy(head.device, device, sizeof(head.device) - 1);
  std::string bytes, constants;
  std::map<std::string, size_t> known;
  const auto once = [&](std::string item) {
    const auto [place, is_new] = known.emplace(std::move(item), 0);
    if (is_new) {
      place->second = put(constants, place->first.data(), place->first.size());
    }
    return place->second;
  };
  put(bytes, &head, sizeof(head));
  for (size_t i = 0; i < count; ++i) {
    vendor_graph graph = *graphs[i];
    for (Tensor& tensor : graph.tensors) {
      const size_t size = tensor.role == VENDOR_CONSTANT ? tensor.nbytes() : 0;
      tensor.scales =
          once(graph.constants.substr(tensor.scales, tensor.num_scales * sizeof(float)));
      tensor.data = once(graph.constants.substr(tensor.data, size));
    }
    GraphHead part{{}, graph.tensors.size(), graph.ops.size(), graph.outputs.size()};
    graph.name.copy(part.name, sizeof(part.name) - 1);
    put(bytes, &part, sizeof(part));
    put(bytes, graph.tensors.data(), graph.tensors.size() * sizeof(Tensor));
    put(bytes, graph.ops.data(), graph.ops.size() * sizeof(Op));
    put(bytes, graph.outputs.data(), graph.outputs.size() * sizeof(uint32_t));
  }
  head.constants = put(bytes, constants.data(), constants.size());
  bytes.replace(0, sizeof(head), reinterpret_cast<const char*>(&head), sizeof(head));
  head.checksum = checksum_of(bytes.data(), bytes.size());
  bytes.replace(0, sizeof(head), reinterpret_cast<const char*>(&head), sizeof(head));
  if (max_bytes > 0 && bytes.size() > max_bytes) {
    return status_of("a context of " + std::to_string(bytes.size()) + " bytes, at most " +
                     std::to_string(max_bytes) + " are allowed");
  }
  *out_size = bytes.size();
  *out = std::memcpy(new char[bytes.size()], bytes.data(), bytes.size());
  return VENDOR_OK;
}
void vendor_bytes_free(void* bytes) {
  delete[] static_cast<char*>(bytes);
}

vendor_status vendor_context_create(const void* bytes, size_t size, int32_t performance,
                                    vendor_context** out) {
  const char* begin = static_cast<const char*>(bytes);
  Head head{};
  std::memcpy(&head, begin, std::min(size, sizeof(head)));
  if (size < sizeof(head) || head.checksum != checksum_of(begin, size)) {
    return status_of("bytes that are no context binary", VENDOR_CORRUPTED);
  }
  if (std::strcmp(head.device, kThisDevice.name) != 0 || performance < 0 || performance > 1) {
    return status_of("a context for another device, or a performance that is not known");
  }
  auto* context = new vendor_context{{}, {}, begin + head.constants};
  size_t at = sizeof(head);
  for (uint64_t i = 0; i < head.num_graphs; ++i) {
    const GraphHead part = next<GraphHead>(begin, 1, at)[0];
    vendor_graph& graph = context->graphs[part.name];
    graph.tensors = next<Tensor>(begin, part.num_tensors, at);
    graph.ops = next<Op>(begin, part.num_ops, at);
    graph.outputs = next<uint32_t>(begin, part.num_outputs, at);
    const auto add = [&](const Tensor& of) {
      context->ports[part.name].push_back({static_cast<vendor_role>(of.role),
                                           static_cast<vendor_dtype>(of.dtype), of.rank, 0,
                                           of.sizes, nullptr, nullptr});
    };
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.role == VENDOR_INPUT) {
        add(tensor);
      }
    }
    for (const uint32_t id : graph.outputs) {
      add(graph.tensors[id]);
    }
  }
  *out = context;
  return VENDOR_OK;
}
void vendor_context_free(vendor_context* context) {
  delete context;
}
vendor_status vendor_context_ports(const vendor_context* context, const char* graph,
                                   const vendor_tensor** out, size_t* out_num_inputs,
                                   size_t* out_num_outputs) {
  const auto found = context->graphs.find(graph);
  if (found == context->graphs.end()) {
    return status_of("there is no graph " + std::string(graph));
  }
  *out = context->ports.at(graph).data();
  *out_num_outputs = found->second.outputs.size();
  *out_num_inputs = context->ports.at(graph).size() - *out_num_outputs;
  return VENDOR_OK;
}
vendor_status vendor_context_run(const vendor_context* context, const char* name,
                                 const void* const* inputs, void* const* outputs) {
  const vendor_graph& graph = context->graphs.at(name);
  std::vector<const char*> values;
  for (const Tensor& tensor : graph.tensors) {
    const bool is_input = tensor.role == VENDOR_INPUT;
    values.push_back(is_input ? static_cast<const char*>(*inputs++)
                              : context->constants + tensor.data);
  }
  std::vector<std::string> memory(graph.tensors.size());
  for (const Op& op : graph.ops) {
    memory[op.output].resize(graph.tensors[op.output].nbytes());
    char* out = memory[op.output].data();
    for (size_t i = 0; i < graph.tensors[op.output].numel(); ++i) {
      compute(graph, op, context->constants, values, i, out);
    }
    values[op.output] = out;
  }
  for (const uint32_t id : graph.outputs) {
    std::copy_n(values[id], graph.tensors[id].nbytes(), static_cast<char*>(*outputs++));
  }
  return VENDOR_OK;
}
