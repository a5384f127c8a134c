// SPDX-License-Identifier: BSD-3-Clause
// The listings of "Running an ExecuTorch Model Using the Module Extension in C++" and of "Detailed
// C++ Runtime APIs Tutorial", run on a program with their inputs: forward(x: [1, 3, 256, 256]) = x
// + 1.
#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/module/test/program_files.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>
#include <executorch/runtime/executor/test/program_builder.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

using namespace ::executorch::extension;
namespace runtime = ::executorch::runtime;
using ::executorch::aten::ScalarType;

namespace {

constexpr int kNumel = 1 * 3 * 256 * 256;

std::string model_path() {
  runtime::testing::ProgramBuilder builder;
  auto& method = builder.add_method("forward");
  const int32_t x = method.add_tensor({{1, 3, 256, 256}});
  runtime::testing::TensorSpec one{{1, 3, 256, 256}};
  one.planned = false;
  one.data_buffer_idx = builder.add_constant(std::vector<float>(kNumel, 1));
  const int32_t constant = method.add_tensor(one);
  const int32_t out = method.add_tensor({{1, 3, 256, 256}});
  method.call("test::add", "out", {x, constant, out, out});
  method.inputs({x}).outputs({out});
  return program_files::write_program("module_listings_test.pte", std::move(builder));
}

class ModuleListings : public testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    runtime::testing::register_test_kernels();
  }

  std::vector<float> input_ = std::vector<float>(kNumel, 2);
};

TEST_F(ModuleListings, Example) {
  RecordProperty("req", "EXT-004");
  // Create a Module.
  Module module(model_path());

  // Wrap the input data with a Tensor.
  float* input = input_.data();
  auto tensor = from_blob(input, {1, 3, 256, 256});

  // Perform an inference.
  const auto result = module.forward(tensor);

  // Check for success or failure.
  ASSERT_TRUE(result.ok());
  // Retrieve the output data.
  const auto output = result->at(0).toTensor().const_data_ptr<float>();
  EXPECT_EQ(output[kNumel - 1], 3);
  const auto untyped = result->at(0).toTensor().const_data_ptr();
  EXPECT_EQ(untyped, output);
}

TEST_F(ModuleListings, ForceLoading) {
  RecordProperty("req", "EXT-002");
  Module module(model_path());
  {
    const auto error = module.load();
    EXPECT_EQ(error, runtime::Error::Ok);
    EXPECT_TRUE(module.is_loaded());
  }
  {
    const auto error = module.load_method("forward");
    EXPECT_EQ(error, runtime::Error::Ok);
    EXPECT_TRUE(module.is_method_loaded("forward"));
  }
  {
    const auto error = module.load_forward();
    EXPECT_EQ(error, runtime::Error::Ok);
    EXPECT_TRUE(module.is_method_loaded("forward"));
  }
}

TEST_F(ModuleListings, Metadata) {
  RecordProperty("req", "EXT-003");
  Module module(model_path());
  const auto method_names = module.method_names();
  ASSERT_TRUE(method_names.ok());
  EXPECT_EQ(method_names->count("forward"), 1u);
  const auto method_meta = module.method_meta("forward");
  ASSERT_TRUE(method_meta.ok());
  EXPECT_STREQ(method_meta->name(), "forward");
  EXPECT_EQ(method_meta->num_inputs(), 1u);
  const auto input_meta = method_meta->input_tensor_meta(0);
  ASSERT_TRUE(input_meta.ok());
  EXPECT_EQ(input_meta->scalar_type(), ScalarType::Float);
  const auto output_meta = method_meta->output_tensor_meta(0);
  ASSERT_TRUE(output_meta.ok());
  EXPECT_EQ(output_meta->sizes().size(), 4u);
}

TEST_F(ModuleListings, InputsAndOutputs) {
  RecordProperty("req", "EXT-005 EXT-C04");
  Module module(model_path());
  auto tensor = from_blob(input_.data(), {1, 3, 256, 256});
  EXPECT_TRUE(module.execute("forward", tensor).ok());
  EXPECT_EQ(module.set_input("forward", tensor, 0), runtime::Error::Ok);
  std::vector<runtime::EValue> inputs = {tensor};
  EXPECT_EQ(module.set_inputs("forward", inputs), runtime::Error::Ok);
  const auto result = module.forward();
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(module.set_input(runtime::EValue(), 0), runtime::Error::Ok);
  EXPECT_EQ(module.set_output("forward", tensor, 0), runtime::Error::InvalidState);  // planned
  EXPECT_EQ(module.set_output(tensor), runtime::Error::InvalidState);
}

TEST_F(ModuleListings, EventTracer) {
  RecordProperty("req", "EXT-006");
  auto tracer = std::make_unique<runtime::testing::IgnoringTracer>();
  runtime::EventTracer* const given = tracer.get();
  Module module(model_path(), Module::LoadMode::MmapUseMlockIgnoreErrors, std::move(tracer));
  EXPECT_EQ(module.event_tracer(), given);
  ASSERT_EQ(module.load_forward(), runtime::Error::Ok);
  EXPECT_EQ(module.event_tracer(), given) << "the method does not take it away";
  EXPECT_EQ(Module(model_path()).event_tracer(), nullptr);
}

// The detailed tutorial. `Tensor::DimOrderType dim_order` is an array here, and load_method gets
// its memory manager, which the printed text leaves out.
TEST_F(ModuleListings, DetailedTutorial) {
  RecordProperty("req", "EXT-C05");
  using executorch::aten::Tensor;
  using executorch::aten::TensorImpl;
  using executorch::extension::FileDataLoader;
  using executorch::extension::MallocMemoryAllocator;
  using executorch::runtime::Error;
  using executorch::runtime::EValue;
  using executorch::runtime::HierarchicalAllocator;
  using executorch::runtime::MemoryManager;
  using executorch::runtime::Method;
  using executorch::runtime::MethodMeta;
  using executorch::runtime::Program;
  using executorch::runtime::Result;
  using executorch::runtime::Span;

  Result<FileDataLoader> loader = FileDataLoader::from(model_path().c_str());
  ASSERT_TRUE(loader.ok());

  Result<Program> program = Program::load(&loader.get());
  ASSERT_TRUE(program.ok());

  // Method names map back to Python nn.Module method names. Most users will only
  // have the singular method "forward".
  const char* method_name = "forward";

  // MethodMeta is a lightweight structure that lets us gather metadata
  // information about a specific method. In this case we are looking to get the
  // required size of the memory planned buffers for the method "forward".
  Result<MethodMeta> method_meta = program->method_meta(method_name);
  ASSERT_TRUE(method_meta.ok());

  std::vector<std::unique_ptr<uint8_t[]>> planned_buffers;  // Owns the Memory
  std::vector<Span<uint8_t>> planned_arenas;                // Passed to the allocator

  size_t num_memory_planned_buffers = method_meta->num_memory_planned_buffers();

  // It is possible to have multiple layers in our memory hierarchy; for example,
  // SRAM and DRAM.
  for (size_t id = 0; id < num_memory_planned_buffers; ++id) {
    // .get() will always succeed because id < num_memory_planned_buffers.
    size_t buffer_size = static_cast<size_t>(method_meta->memory_planned_buffer_size(id).get());
    planned_buffers.push_back(std::make_unique<uint8_t[]>(buffer_size));
    planned_arenas.push_back({planned_buffers.back().get(), buffer_size});
  }
  HierarchicalAllocator planned_memory({planned_arenas.data(), planned_arenas.size()});

  // Version of MemoryAllocator that uses malloc to handle allocations rather then
  // a fixed buffer.
  MallocMemoryAllocator method_allocator;

  // Assemble all of the allocators into the MemoryManager that the Executor will
  // use.
  MemoryManager memory_manager(&method_allocator, &planned_memory);

  Result<Method> method = program->load_method(method_name, &memory_manager);
  ASSERT_TRUE(method.ok());

  // Create our input tensor.
  float* data = input_.data();
  Tensor::SizesType sizes[] = {1, 3, 256, 256};
  Tensor::DimOrderType dim_order[] = {0, 1, 2, 3};
  TensorImpl impl(ScalarType::Float,  // dtype
                  4,                  // number of dimensions
                  sizes, data, dim_order);
  Tensor t(&impl);

  // Implicitly casts t to EValue
  Error set_input_error = method->set_input(t, 0);
  ASSERT_EQ(set_input_error, Error::Ok);

  Error execute_error = method->execute();
  ASSERT_EQ(execute_error, Error::Ok);

  EValue output = method->get_output(0);
  ASSERT_TRUE(output.isTensor());
  EXPECT_EQ(output.toTensor().const_data_ptr<float>()[0], 3);
}

}  // namespace
