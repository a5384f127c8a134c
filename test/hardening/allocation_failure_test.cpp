// SPDX-License-Identifier: BSD-3-Clause
// Loading with memory, or the file, failing at every step: an error each time, and nothing leaked.
#include <gtest/gtest.h>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

// Gives out memory until its turn to fail comes.
class FailingAllocator final : public MemoryAllocator {
 public:
  FailingAllocator(std::vector<uint8_t>& pool, int failing_call)
      : MemoryAllocator(static_cast<uint32_t>(pool.size()), pool.data()),
        calls_left_(failing_call) {}

  void* allocate(size_t size, size_t alignment) override {
    return calls_left_-- == 0 ? nullptr : MemoryAllocator::allocate(size, alignment);
  }

  bool has_failed() const { return calls_left_ < 0; }

 private:
  int calls_left_;
};

int num_alive = 0;

class Backend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer*,
                               ArrayRef<CompileSpec>) const override {
    void* handle = context.get_runtime_allocator()->allocate(16);
    if (handle == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    ++num_alive;
    return handle;
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Ok;
  }
  void destroy(DelegateHandle*) const override { --num_alive; }
};

ProgramBuilder delegated_program() {
  ProgramBuilder builder = add_program();
  const uint32_t segment = builder.add_segment("blob", 4);
  builder.add_named_data("key", segment);
  MethodBuilder& m = builder.add_method("delegated");
  const int32_t x = m.add_tensor({{2}});
  for (int i = 0; i < 3; ++i) {
    m.call_delegate(m.add_delegate("Alive", fb::DataLocation::SEGMENT, segment), {x, x});
  }
  return builder;
}

class AllocationFailureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
    static Backend backend;
    ASSERT_EQ(register_backend({"Alive", &backend}), Error::Ok);
  }
};

TEST_F(AllocationFailureTest, EveryAllocationOfLoadingMayFail) {
  RecordProperty("req", "RT-014");
  ProgramBuilder (*const kPrograms[])() = {
      add_program,     dynamic_program,    stateful_program,    branching_program,
      looping_program, two_method_program, every_value_program, delegated_program};
  for (const auto make : kPrograms) {
    LoadedProgram program(make().build());
    ASSERT_TRUE(program.ok());
    for (size_t i = 0; i < program->num_methods(); ++i) {
      const char* name = program->get_method_name(i).get();
      LoadedMethod works(program, name);
      ASSERT_TRUE(works.ok()) << name;
      const int held = program.loader.num_held;
      const int alive = num_alive;
      int step = 0;
      for (bool loaded = false; !loaded; ++step) {
        ASSERT_LT(step, 1000);
        std::vector<uint8_t> pool(1 << 18);
        FailingAllocator allocator(pool, step);
        MemoryManager manager(&allocator, &works.planned_memory, &works.temp_allocator);
        {
          const Result<Method> method = program->load_method(name, &manager);
          loaded = method.ok();
          EXPECT_EQ(loaded, !allocator.has_failed()) << "a failure is never overlooked";
          if (!loaded) {
            EXPECT_EQ(method.error(), Error::MemoryAllocationFailed) << name << " step " << step;
          }
        }
        EXPECT_EQ(program.loader.num_held, held) << name << " step " << step;
        EXPECT_EQ(num_alive, alive) << name << " step " << step;
      }
      EXPECT_GT(step, 3);
    }
  }
}

TEST_F(AllocationFailureTest, EveryReadOfTheFileMayFail) {
  for (const auto make : {stateful_program, delegated_program}) {
    const std::vector<uint8_t> bytes = make().build();
    bool done = false;
    for (int step = 0; !done; ++step) {
      ASSERT_LT(step, 100);
      AlignedFile file(bytes);
      MemoryLoader loader(file);
      loader.failing_load = step;
      {
        Result<Program> program = Program::load(&loader);
        Error error = program.error();
        for (size_t i = 0; program.ok() && error == Error::Ok && i < program->num_methods(); ++i) {
          error = LoadedMethod(*program, program->get_method_name(i).get()).error();
        }
        done = error == Error::Ok;
        EXPECT_EQ(done, loader.num_loads <= step);
        EXPECT_TRUE(done || error == Error::AccessFailed);
      }
      EXPECT_EQ(loader.num_held, 0) << "step " << step;
      EXPECT_EQ(num_alive, 0);
    }
  }
}

}  // namespace
}  // namespace executorch::runtime::testing
