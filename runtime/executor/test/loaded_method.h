// SPDX-License-Identifier: BSD-3-Clause
// A program in memory, and a method of it with the memory it needs.
#pragma once

#include <memory>
#include <vector>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/test/memory_loader.h>
#include <executorch/runtime/executor/test/program_builder.h>

namespace executorch::runtime::testing {

// Keeps a file, its loader and its program together.
struct LoadedProgram {
  explicit LoadedProgram(
      const std::vector<uint8_t>& bytes,
      Program::Verification verification = Program::Verification::InternalConsistency)
      : file(bytes), loader(file), program(Program::load(&loader, verification)) {}
  explicit LoadedProgram(ProgramBuilder& builder) : LoadedProgram(builder.build()) {}

  bool ok() const { return program.ok(); }
  Error error() const { return program.error(); }
  Program* operator->() { return &program.get(); }

  AlignedFile file;
  MemoryLoader loader;
  Result<Program> program;
};

// Loads a method with a pool of its own; planned arenas start full of garbage.
struct LoadedMethod {
  static constexpr size_t kDefaultPool = 1 << 18;
  static constexpr size_t kMaxArena = 1 << 24;

  struct Options {
    const NamedDataMap* data_map = nullptr;
    EventTracer* event_tracer = nullptr;
    size_t pool_size = kDefaultPool;
    Span<const Kernel> kernels = {};
    const LoadBackendOptionsMap* backend_options = nullptr;
  };

  LoadedMethod(const Program& program, const char* name, const Options& options)
      : pool(options.pool_size),
        temp_pool(1 << 16),
        method_allocator(static_cast<uint32_t>(pool.size()), pool.data()),
        temp_allocator(static_cast<uint32_t>(temp_pool.size()), temp_pool.data()),
        planned_memory(make_arenas(program, name)),
        memory_manager(&method_allocator, &planned_memory, &temp_allocator),
        method(program.load_method(name, &memory_manager, options.event_tracer, options.data_map,
                                   options.backend_options, options.kernels)) {}
  explicit LoadedMethod(const Program& program, const char* name = "forward")
      : LoadedMethod(program, name, Options()) {}
  explicit LoadedMethod(LoadedProgram& program, const char* name = "forward")
      : LoadedMethod(program.program.get(), name) {}

  bool ok() const { return method.ok(); }
  Error error() const { return method.error(); }
  Method* operator->() { return &method.get(); }

  std::vector<uint8_t> pool;
  std::vector<uint8_t> temp_pool;
  MemoryAllocator method_allocator;
  MemoryAllocator temp_allocator;
  std::vector<std::vector<uint8_t>> arenas;
  std::vector<Span<uint8_t>> spans;
  HierarchicalAllocator planned_memory;
  MemoryManager memory_manager;
  Result<Method> method;

 private:
  // Sizes that no test means are cut; loading then says so.
  Span<Span<uint8_t>> make_arenas(const Program& program, const char* name) {
    arenas.clear();
    spans.clear();
    const Result<MethodMeta> meta = program.method_meta(name);
    for (size_t i = 0; meta.ok() && i < meta->num_memory_planned_buffers(); ++i) {
      const Result<int64_t> size = meta->memory_planned_buffer_size(i);
      const size_t bytes = size.ok() && *size >= 0 ? static_cast<size_t>(*size) : 0;
      arenas.emplace_back(bytes < kMaxArena ? bytes : kMaxArena, 0xAB);
    }
    for (std::vector<uint8_t>& arena : arenas) {
      spans.emplace_back(arena.data(), arena.size());
    }
    return {spans.data(), spans.size()};
  }
};

// A tensor over the elements of a vector.
template <typename T>
struct TensorOf {
  TensorOf(executorch::aten::ScalarType type, std::vector<int32_t> shape, std::vector<T> elements)
      : sizes(shape.begin(), shape.end()),
        data(std::move(elements)),
        dim_order(sizes.size()),
        strides(sizes.size()),
        borrowed(type, sizes.size(), sizes.data(), data.data(), fill_layout(), strides.data()) {}

  executorch::aten::Tensor tensor() { return borrowed.get(); }
  EValue value() { return EValue(tensor()); }

  std::vector<executorch::aten::SizesType> sizes;
  std::vector<T> data;
  std::vector<uint8_t> dim_order;
  std::vector<executorch::aten::StridesType> strides;
  internal::BorrowedTensor borrowed;

 private:
  uint8_t* fill_layout() {
    for (size_t i = 0; i < dim_order.size(); ++i) {
      dim_order[i] = static_cast<uint8_t>(i);
    }
    dim_order_to_stride_nocheck(sizes.data(), dim_order.data(), sizes.size(), strides.data());
    return dim_order.data();
  }
};

inline TensorOf<float> floats(std::vector<int32_t> sizes, std::vector<float> data) {
  return {executorch::aten::ScalarType::Float, std::move(sizes), std::move(data)};
}

}  // namespace executorch::runtime::testing
