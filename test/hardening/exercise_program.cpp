// SPDX-License-Identifier: BSD-3-Clause
// Loads and runs untrusted programs.
// Experimental and former calls are used, too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <executorch/test/hardening/exercise_program.h>

#include <memory>
#include <string_view>
#include <vector>

#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/test/memory_loader.h>

namespace executorch::runtime::testing {
namespace {

// More than any test needs; a file may ask for anything.
constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kPoolBytes = 1 << 20;
// A hostile loop ends soon.
constexpr size_t kMaxSteps = 2000;

struct Memory {
  std::vector<std::unique_ptr<uint8_t[]>> buffers;

  // Exactly as large as asked for, so that sanitizers see the first byte beyond; null if too large.
  uint8_t* allocate(size_t size) {
    if (size > kMaxBytes) {
      return nullptr;
    }
    buffers.emplace_back(new uint8_t[size == 0 ? 1 : size]());
    return buffers.back().get();
  }
};

bool make_arenas(const MethodMeta& meta, Memory& memory, std::vector<Span<uint8_t>>& arenas) {
  for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    const Result<int64_t> size = meta.memory_planned_buffer_size(i);
    uint8_t* arena = size.ok() ? memory.allocate(static_cast<size_t>(*size)) : nullptr;
    if (arena == nullptr) {
      return false;
    }
    arenas.emplace_back(arena, static_cast<size_t>(*size));
  }
  return true;
}

// Inputs keep the value they were exported with, or are zeros of their largest shape.
bool set_inputs(Method& method, const MethodMeta& meta, Memory& memory) {
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const Result<Tag> tag = meta.input_tag(i);
    if (!tag.ok()) {
      return false;
    }
    if (*tag != Tag::Tensor) {
      const EValue value = method.mutable_input(i);
      if (method.set_input(value, i) != Error::Ok) {
        return false;
      }
      continue;
    }
    const Result<TensorInfo> info = meta.input_tensor_meta(i);
    uint8_t* data = info.ok() ? memory.allocate(info->nbytes()) : nullptr;
    if (data == nullptr) {
      return false;
    }
    std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
    std::vector<uint8_t> dim_order(info->dim_order().begin(), info->dim_order().end());
    executorch::aten::TensorImpl impl(info->scalar_type(), static_cast<ssize_t>(sizes.size()),
                                      sizes.data(), data, dim_order.data());
    if (method.set_input(executorch::aten::Tensor(&impl), i) != Error::Ok) {
      return false;
    }
  }
  return true;
}

void set_outputs(Method& method, const MethodMeta& meta, Memory& memory) {
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    const Result<TensorInfo> info = meta.output_tensor_meta(i);
    if (info.ok() && !info->is_memory_planned()) {
      if (uint8_t* data = memory.allocate(info->nbytes())) {
        (void)method.set_output_data_ptr(data, info->nbytes(), i);
      }
    }
  }
}

// Touches every byte of an output.
unsigned read_output(const EValue& value) {
  if (!value.isTensor()) {
    return static_cast<unsigned>(value.tag);
  }
  const auto tensor = value.toTensor();
  const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
  unsigned sum = 0;
  for (size_t i = 0; bytes != nullptr && i < tensor.nbytes(); ++i) {
    sum += bytes[i];
  }
  return sum;
}

// Touches every byte of a text.
void read_text(std::string_view text) {
  unsigned sum = 0;
  for (const char each : text) {
    sum += static_cast<unsigned char>(each);
  }
  volatile unsigned sink = sum;
  (void)sink;
}

void ask_metadata(const MethodMeta& meta) {
  for (size_t i = 0; i <= meta.num_outputs(); ++i) {
    (void)meta.output_tag(i);
    (void)meta.output_tensor_meta(i);
    read_text(meta.output_name(i));
    (void)meta.output_size_range(i, 0);
  }
  for (size_t i = 0; i <= meta.num_inputs(); ++i) {
    read_text(meta.input_name(i));
    (void)meta.input_size_range(i, 0);
    (void)meta.input_size_range(i, 1);
  }
  for (size_t i = 0; i < meta.num_attributes() && i < 8; ++i) {
    (void)meta.attribute_tensor_meta(i);
  }
  for (size_t i = 0; i < meta.num_backends(); ++i) {
    (void)meta.uses_backend(*meta.get_backend_name(i));
  }
  for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    (void)meta.memory_planned_buffer_device(i);
  }
  (void)meta.num_instructions();
}

Outcome exercise_method(const Program& program, const char* name) {
  const Result<MethodMeta> meta = program.method_meta(name);
  if (!meta.ok()) {
    return Outcome::kMethodRefused;
  }
  ask_metadata(*meta);
  Memory memory;
  std::vector<Span<uint8_t>> arenas;
  if (!make_arenas(*meta, memory, arenas)) {
    return Outcome::kMethodRefused;
  }
  std::unique_ptr<uint8_t[]> pool(new uint8_t[kPoolBytes]);
  MemoryAllocator method_allocator(kPoolBytes, pool.get());
  HierarchicalAllocator planned({arenas.data(), arenas.size()});
  MemoryManager manager(&method_allocator, &planned);
  Result<Method> method = program.load_method(name, &manager);
  if (!method.ok()) {
    return Outcome::kMethodRefused;
  }
  method->set_step_limit(kMaxSteps, kMaxSteps);
  (void)method->get_attribute("weight");
  set_outputs(*method, *meta, memory);
  Outcome outcome = Outcome::kFailed;
  for (int i = 0; i < 2; ++i) {
    if (!set_inputs(*method, *meta, memory) || method->execute() != Error::Ok) {
      return Outcome::kFailed;
    }
    outcome = Outcome::kRan;
    for (size_t j = 0; j < method->outputs_size(); ++j) {
      volatile unsigned sink = read_output(method->get_output(j));
      (void)sink;
    }
  }
  return outcome;
}

}  // namespace

Outcome exercise_program(const uint8_t* data, size_t size) {
  const AlignedFile file(std::vector<uint8_t>(data, data + size));
  MemoryLoader loader(file);
  Outcome outcome = Outcome::kRefused;
  {
    Result<Program> program = Program::load(&loader);
    if (!program.ok()) {
      return outcome;
    }
    read_text(program->user_metadata());
    if (const Result<const NamedDataMap*> map = program->get_named_data_map(); map.ok()) {
      const Result<uint32_t> num_keys = (*map)->get_num_keys();
      for (uint32_t i = 0; num_keys.ok() && i < *num_keys && i < 8; ++i) {
        const Result<const char*> key = (*map)->get_key(i);
        (void)(key.ok() ? (*map)->get_data(*key).error() : key.error());
      }
    }
    for (size_t i = 0; i < program->num_methods(); ++i) {
      const Result<const char*> name = program->get_method_name(i);
      outcome = name.ok() ? exercise_method(*program, *name) : Outcome::kMethodRefused;
    }
  }
  return outcome;
}

}  // namespace executorch::runtime::testing
