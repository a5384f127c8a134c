// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include "model_memory.h"

#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <executorch/examples/raspberry_pi/pico2/hal.h>
#include <executorch/examples/raspberry_pi/pico2/network.h>

using namespace executorch::runtime;

extern const uint8_t model_pte[];
extern const size_t model_pte_size;

namespace {

constexpr size_t kMaxArenas = std::max(1, MODEL_FORWARD_ARENAS);
alignas(16) uint8_t method_pool[METHOD_POOL_BYTES];
alignas(16) uint8_t temp_pool[1024];
alignas(16) uint8_t arena_pool[std::max(16, MODEL_FORWARD_ARENA_BYTES)];

class ArrayLoader final : public DataLoader {
 public:
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    if (offset > model_pte_size || size > model_pte_size - offset) {
      return Error::InvalidArgument;
    }
    return FreeableBuffer(model_pte + offset, size, nullptr);
  }
  Result<size_t> size() const override { return model_pte_size; }
};

// Objects that live as long as the firmware.
struct Network {
  ArrayLoader loader;
  MemoryAllocator arenas{sizeof(arena_pool), arena_pool};
  MemoryAllocator method_allocator{sizeof(method_pool), method_pool};
  MemoryAllocator temp_allocator{sizeof(temp_pool), temp_pool};
  Span<uint8_t> spans[kMaxArenas];
  std::optional<Program> program;
  std::optional<HierarchicalAllocator> planned;
  std::optional<MemoryManager> manager;
  std::optional<Method> method;
};

Network& network() {
  static Network instance;
  return instance;
}

Error load(Network& net) {
  Result<Program> program = Program::load(&net.loader);
  ET_CHECK_OK_OR_RETURN_ERROR(program.error());
  net.program.emplace(std::move(*program));
  const Result<const char*> name = net.program->get_method_name(0);
  ET_CHECK_OK_OR_RETURN_ERROR(name.error());
  const Result<MethodMeta> meta = net.program->method_meta(*name);
  ET_CHECK_OK_OR_RETURN_ERROR(meta.error());
  const size_t count = meta->num_memory_planned_buffers();
  ET_CHECK_OR_RETURN_ERROR(count <= kMaxArenas, NotSupported,
                           "expected at most %zu arenas, found %zu", kMaxArenas, count);
  for (size_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<size_t>(*meta->memory_planned_buffer_size(i));
    auto* arena = static_cast<uint8_t*>(net.arenas.allocate(bytes, 16));
    ET_CHECK_OR_RETURN_ERROR(arena != nullptr, MemoryAllocationFailed,
                             "arena %zu has %zu bytes, more than arena_pool has left", i, bytes);
    net.spans[i] = {arena, bytes};
  }
  net.planned.emplace(Span<Span<uint8_t>>(net.spans, count));
  net.manager.emplace(&net.method_allocator, &*net.planned, &net.temp_allocator);
  Result<Method> method = net.program->load_method(*name, &*net.manager);
  ET_CHECK_OK_OR_RETURN_ERROR(method.error());
  net.method.emplace(std::move(*method));
  return Error::Ok;
}

// The input's own memory, in the arena: no second copy of it is kept. It is written before each
// run, which is what the deprecation of mutable_input() warns of.
float* input_of(Method& method) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return method.mutable_input(0).toTensor().mutable_data_ptr<float>();
#pragma GCC diagnostic pop
}

Error run(Method& method, const float*& scores) {
  ET_CHECK_OK_OR_RETURN_ERROR(method.execute());
  scores = method.get_output(0).toTensor().const_data_ptr<float>();
  return Error::Ok;
}

}  // namespace

uint32_t network_load() {
  runtime_init();
  const Error error = load(network());
  if (error == Error::MemoryAllocationFailed) {
    hal_write("Memory allocation failed: the model needs larger pools\n");
  }
  if (error == Error::OperatorMissing) {
    hal_write("Operator missing: build_firmware_pico.sh --operators=... names what is linked\n");
  }
  return static_cast<uint32_t>(error);
}

float* network_input() {
  return input_of(*network().method);
}

uint32_t network_run(const float*& scores) {
  return static_cast<uint32_t>(run(*network().method, scores));
}

NetworkBytes network_bytes(bool is_output, size_t index) {
  Method& method = *network().method;
  if (index >= (is_output ? method.outputs_size() : method.inputs_size())) {
    return {};
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const auto& tensor =
      (is_output ? method.get_output(index) : method.mutable_input(index)).toTensor();
#pragma GCC diagnostic pop
  return {tensor.mutable_data_ptr<uint8_t>(), tensor.nbytes()};
}
