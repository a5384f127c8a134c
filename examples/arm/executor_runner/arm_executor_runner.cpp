// SPDX-License-Identifier: BSD-3-Clause
// Runs a program on a Cortex-M, with an Ethos-U or without one, and says what memory it took. Ends
// with byte 04, for scripts that watch a serial line.
#include <cinttypes>
#include <cstring>

#include <executorch/backends/arm/runtime/ethosu_driver_api.h>
#include <executorch/examples/arm/executor_runner/recording.h>
#include <executorch/examples/arm/executor_runner/runner.h>
#include <executorch/examples/arm/executor_runner/test_case.h>
#include <executorch/examples/raspberry_pi/pico2/hal.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;

namespace {

constexpr size_t kMaxArenas = 8;
alignas(16) [[gnu::section(".bss.input_data_sec")]] uint8_t method_pool[METHOD_POOL_BYTES];
alignas(16) [[gnu::section(".bss.tensor_arena")]] uint8_t scratch_pool[SCRATCH_BYTES];
alignas(16) [[gnu::section(
    ".bss.ethosu_scratch")]] uint8_t fast_pool[FAST_SCRATCH_BYTES > 0 ? FAST_SCRATCH_BYTES : 1];

/// For messages: not every C library without an operating system knows %zu.
uint32_t number(size_t value) {
  return static_cast<uint32_t>(value);
}

/// What of a pool is taken, and by what.
void report(const char* name, size_t used, size_t size) {
  ET_LOG(Info, "%s_used: %" PRIu32 " / %" PRIu32 " free: %" PRIu32 " ( used: %" PRIu32 " %% )",
         name, number(used), number(size), number(size - used), number(used * 100 / size));
}

class Runner final {
 public:
  Error run() {
    const Bytes file = ET_UNWRAP(program_bytes());
    Bytes bytes = file;
    if constexpr (HAS_TEST_CASE) {
      bytes = ET_UNWRAP(program_in_bundle(file));
    }
    ET_LOG(Info, "PTE @ 0x%" PRIx32 " [----%.4s]",
           static_cast<uint32_t>(reinterpret_cast<uintptr_t>(bytes.data())),
           reinterpret_cast<const char*>(bytes.data()) + 4);
    ET_LOG(Info, "PTE Model data loaded. Size: %" PRIu32 " bytes.", number(bytes.size()));
    executorch::extension::BufferDataLoader loader(bytes.data(), bytes.size());
    const Program program = ET_UNWRAP(Program::load(&loader));
    const char* name = ET_UNWRAP(program.get_method_name(0));
    ET_LOG(Info, "Setup Method allocator pool. Size: %" PRIu32 " bytes.",
           number(sizeof(method_pool)));
    ET_CHECK_OK_OR_RETURN_ERROR(plan(ET_UNWRAP(program.method_meta(name))));
    HierarchicalAllocator planned({arenas_, num_arenas_});
    MemoryManager manager(&method_allocator_, &planned, &temp_allocator_);
    const size_t before = method_allocator_.used_size();
    EventTracer* tracer = nullptr;
    if constexpr (HAS_EVENTS) {
      tracer = start_recording();
    }
    Method method = ET_UNWRAP(program.load_method(name, &manager, tracer));
    ET_LOG(Info, "Method '%s' loaded.", name);
    loaded_ = method_allocator_.used_size() - before;
    ET_LOG(Info, "Preparing inputs...");
    if constexpr (HAS_TEST_CASE) {
      ET_CHECK_OK_OR_RETURN_ERROR(give_case_inputs(method, file));
    } else {
      ET_CHECK_OK_OR_RETURN_ERROR(fill_inputs(method));
    }
    ET_LOG(Info, "Input prepared.");
    ET_LOG(Info, "Starting running %d inferences...", NUM_INFERENCES);
    for (int i = 0; i < NUM_INFERENCES; ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(method.execute());
    }
    ET_LOG(Info, "%d inferences finished", NUM_INFERENCES);
    report_memory(bytes.size());
    ET_CHECK_OK_OR_RETURN_ERROR(take_outputs(method));
    if constexpr (HAS_EVENTS) {
      ET_CHECK_OK_OR_RETURN_ERROR(finish_recording());
    }
    if constexpr (HAS_TEST_CASE) {
      return verify_case(method, file);
    }
    return Error::Ok;
  }

 private:
  Error plan(const MethodMeta& meta) {
    num_arenas_ = meta.num_memory_planned_buffers();
    ET_CHECK_OR_RETURN_ERROR(num_arenas_ <= kMaxArenas, NotSupported,
                             "expected at most %" PRIu32 " planned buffers, found %" PRIu32 "",
                             number(kMaxArenas), number(num_arenas_));
    for (size_t i = 0; i < num_arenas_; ++i) {
      const auto size = static_cast<size_t>(ET_UNWRAP(meta.memory_planned_buffer_size(i)));
      ET_LOG(Info, "Setting up planned buffer %" PRIu32 ", size %" PRIu32 ".", number(i),
             number(size));
      auto* arena = static_cast<uint8_t*>(method_allocator_.allocate(size, 16));
      ET_CHECK_OR_RETURN_ERROR(arena != nullptr, MemoryAllocationFailed,
                               "planned buffer %" PRIu32 " has %" PRIu32
                               " bytes, more than the pool has left: set "
                               "ET_ARM_BAREMETAL_METHOD_ALLOCATOR_POOL_SIZE",
                               number(i), number(size));
      arenas_[i] = {arena, size};
      planned_ += size;
    }
    return Error::Ok;
  }

  Error fill_inputs(Method& method) {
    for (size_t i = 0; i < method.inputs_size(); ++i) {
// The input's own memory, in the arena: no second copy of it is kept.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      EValue& value = method.mutable_input(i);
#pragma GCC diagnostic pop
      ET_CHECK_OR_RETURN_ERROR(value.isTensor(), NotSupported,
                               "input %" PRIu32 ": expected a tensor", number(i));
      Tensor& tensor = value.toTensor();
      ET_CHECK_OR_RETURN_ERROR(
          tensor.mutable_data_ptr() != nullptr, NotSupported,
          "input %" PRIu32 " has no planned memory: export with alloc_graph_input", number(i));
      const Error error =
          read_input(i, {static_cast<uint8_t*>(tensor.mutable_data_ptr()), tensor.nbytes()});
      if (error == Error::NotFound) {
        ET_CHECK_OK_OR_RETURN_ERROR(fill_with_ones(tensor));
      } else {
        ET_CHECK_OK_OR_RETURN_ERROR(error);
      }
    }
    return Error::Ok;
  }

  template <typename T>
  static void fill(Tensor& tensor) {
    for (int64_t i = 0; i < static_cast<int64_t>(tensor.numel()); ++i) {
      tensor.mutable_data_ptr<T>()[i] = T(1);
    }
  }

  static Error fill_with_ones(Tensor& tensor) {
    switch (tensor.scalar_type()) {
      case ScalarType::Float:
        fill<float>(tensor);
        return Error::Ok;
      case ScalarType::Int:
        fill<int32_t>(tensor);
        return Error::Ok;
      case ScalarType::Short:
        fill<int16_t>(tensor);
        return Error::Ok;
      case ScalarType::Char:
      case ScalarType::Byte:
      case ScalarType::Bool:
        std::memset(tensor.mutable_data_ptr(), 1, tensor.nbytes());
        return Error::Ok;
      default:
        ET_LOG(Error, "inputs of dtype %d: give their bytes by semihosting",
               static_cast<int>(tensor.scalar_type()));
        return Error::NotSupported;
    }
  }

  Error take_outputs(Method& method) {
    ET_LOG(Info, "%" PRIu32 " outputs:", number(method.outputs_size()));
    for (size_t i = 0; i < method.outputs_size(); ++i) {
      const EValue& value = method.get_output(i);
      if (!value.isTensor()) {
        continue;
      }
      const Tensor& tensor = value.toTensor();
      for (size_t j = 0; PRINTS_OUTPUTS && j < static_cast<size_t>(tensor.numel()); ++j) {
        print(tensor, i, j);
      }
      const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
      ET_CHECK_OK_OR_RETURN_ERROR(write_output(i, {bytes, tensor.nbytes()}));
    }
    return Error::Ok;
  }

  static void print(const Tensor& tensor, size_t i, size_t j) {
    switch (tensor.scalar_type()) {
      case ScalarType::Float:
        ET_LOG(Info, "Output[%" PRIu32 "][%" PRIu32 "]: (float) %f", number(i), number(j),
               static_cast<double>(tensor.const_data_ptr<float>()[j]));
        return;
      case ScalarType::Int:
        ET_LOG(Info, "Output[%" PRIu32 "][%" PRIu32 "]: (int) %" PRId32, number(i), number(j),
               tensor.const_data_ptr<int32_t>()[j]);
        return;
      case ScalarType::Bool:
        ET_LOG(Info, "Output[%" PRIu32 "][%" PRIu32 "]: (bool) %s", number(i), number(j),
               tensor.const_data_ptr<bool>()[j] ? "true" : "false");
        return;
      case ScalarType::Char:
        ET_LOG(Info, "Output[%" PRIu32 "][%" PRIu32 "]: (char) %d", number(i), number(j),
               tensor.const_data_ptr<int8_t>()[j]);
        return;
      default:
        return;
    }
  }

  void report_memory(size_t program_size) const {
    const size_t size = sizeof(method_pool);
    ET_LOG(Info, "model_pte_program_size: %" PRIu32 " bytes.", number(program_size));
    ET_LOG(Info, "model_pte_loaded_size: %" PRIu32 " bytes.", number(program_size));
    report("method_allocator", method_allocator_.used_size(), size);
    ET_LOG(Info, "method_allocator_planned: %" PRIu32 " bytes", number(planned_));
    ET_LOG(Info, "method_allocator_loaded: %" PRIu32 " bytes", number(loaded_));
    report("temp_allocator", temp_allocator_.used_size(), sizeof(scratch_pool));
  }

  MemoryAllocator method_allocator_{sizeof(method_pool), method_pool};
  MemoryAllocator temp_allocator_{sizeof(scratch_pool), scratch_pool};
  Span<uint8_t> arenas_[kMaxArenas];
  size_t num_arenas_ = 0;
  size_t planned_ = 0;
  size_t loaded_ = 0;
};

}  // namespace

int main() {
  hal_init();
  runtime_init();
  if constexpr (FAST_SCRATCH_BYTES > 0) {
    ethosu_fast_scratch = fast_pool;
    ethosu_fast_scratch_size = FAST_SCRATCH_BYTES;
  }
  static Runner runner;
  const Error error = runner.run();
  if (error != Error::Ok) {
    ET_LOG(Error, "the program ended with error %" PRIu32, static_cast<uint32_t>(error));
  } else {
    ET_LOG(Info, "Model run: %d", NUM_INFERENCES);
  }
  ET_LOG(Info, "Program complete, exiting.");
  hal_write("\x04");
  hal_finish(error != Error::Ok);
}

namespace {
constexpr ptrdiff_t kHeapBytes = 32 * 1024;
alignas(16) char heap[kHeapBytes];
ptrdiff_t heap_used = 0;
}  // namespace

/// The C library takes memory to write floats as text; nothing of ours does.
extern "C" void* _sbrk(ptrdiff_t size) {
  if (size > kHeapBytes - heap_used) {
    return reinterpret_cast<void*>(-1);
  }
  heap_used += size;
  return heap + heap_used - size;
}
