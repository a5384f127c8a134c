// SPDX-License-Identifier: BSD-3-Clause
// A program loads and runs with static pools while malloc ends the process. Replaces malloc for the
// whole program, so it is not built with sanitizers, which do the same.
#include <cstdlib>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/test/memory_loader.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
}

namespace {

bool is_heap_forbidden = false;
int num_allocations = 0;

void check_heap() {
  ++num_allocations;
  if (is_heap_forbidden) {
    abort();
  }
}

}  // namespace

extern "C" void* malloc(size_t size) {
  check_heap();
  return __libc_malloc(size);
}
extern "C" void* calloc(size_t count, size_t size) {
  check_heap();
  return __libc_calloc(count, size);
}
extern "C" void* realloc(void* memory, size_t size) {
  check_heap();
  return __libc_realloc(memory, size);
}

namespace executorch::runtime::testing {
namespace {

alignas(64) uint8_t method_pool[1 << 16];
alignas(64) uint8_t temp_pool[1 << 12];
alignas(64) uint8_t arena[1 << 12];

Error load_and_run(DataLoader* loader, const executorch::aten::Tensor& input, float* result) {
  Result<Program> program = Program::load(loader);
  if (!program.ok()) {
    return program.error();
  }
  MemoryAllocator method_allocator(sizeof(method_pool), method_pool);
  MemoryAllocator temp_allocator(sizeof(temp_pool), temp_pool);
  Span<uint8_t> arenas[] = {{arena, sizeof(arena)}};
  HierarchicalAllocator planned({arenas, 1});
  MemoryManager manager(&method_allocator, &planned, &temp_allocator);
  Result<Method> method = program->load_method("forward", &manager);
  if (!method.ok()) {
    return method.error();
  }
  ET_CHECK_OK_OR_RETURN_ERROR(method->set_input(input, 0));
  ET_CHECK_OK_OR_RETURN_ERROR(method->execute());
  *result = method->get_output(0).toTensor().const_data_ptr<float>()[1];
  return Error::Ok;
}

TEST(HeaplessTest, LoadsAndRunsWithoutMalloc) {
  RecordProperty("req", "RT-013 RT-014 RT-045");
  runtime_init();
  register_test_kernels();
  struct {
    ProgramBuilder (*make)();
    std::vector<int32_t> sizes;
    float expected;
  } kCases[] = {{add_program, {2, 3}, 21},
                {dynamic_program, {2, 3}, 2},
                {stateful_program, {2}, 3},
                {looping_program, {4, 2}, 2}};
  for (auto& c : kCases) {
    AlignedFile file(c.make().build());
    MemoryLoader loader(file);
    float data[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    uint8_t dim_order[] = {0, 1};
    executorch::aten::TensorImpl impl(executorch::aten::ScalarType::Float,
                                      static_cast<ssize_t>(c.sizes.size()), c.sizes.data(), data,
                                      dim_order);
    float result = 0;
    is_heap_forbidden = true;
    const Error error = load_and_run(&loader, executorch::aten::Tensor(&impl), &result);
    is_heap_forbidden = false;
    EXPECT_EQ(error, Error::Ok);
    EXPECT_EQ(result, c.expected);
  }
  EXPECT_GT(num_allocations, 0) << "malloc was replaced";
}

TEST(HeaplessDeathTest, MallocEndsTheProcess) {
  EXPECT_DEATH(
      {
        is_heap_forbidden = true;
        free(malloc(1 << 20));
      },
      "");
}

}  // namespace
}  // namespace executorch::runtime::testing
