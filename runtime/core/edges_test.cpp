// SPDX-License-Identifier: BSD-3-Clause
// What the core does where its functions are used wrongly or at their limits, as upstream does it.
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/testing_util/error_matchers.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <executorch/runtime/platform/profiler.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstring>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::testing::TensorFactory;

namespace {

Result<int> half_of(int number) {
  ET_CHECK_OR_RETURN_ERROR(number % 2 == 0, InvalidArgument, "%d is odd", number)
  return number / 2;
}

Error quarter_of(int number, int* out) {
  ET_ASSIGN_OR_RETURN(half, half_of(number), "no half of %d", number);
  ET_ASSIGN_OR_RETURN(quarter, half_of(half));
  *out = quarter;
  return Error::Ok;
}

TEST(ErrorEdgesTest, MacrosAndNames) {
  int out = 0;
  EXPECT_EQ(quarter_of(8, &out), Error::Ok);
  EXPECT_EQ(out, 2);
  EXPECT_EQ(quarter_of(6, &out), Error::InvalidArgument);
  static_assert(std::string_view(to_string(Error::NotFound)) == "Error::NotFound");
  static_assert(std::string_view(to_string(static_cast<Error>(0x99))) == "Error::Unknown");
  std::ostringstream text;
  PrintTo(Error::InvalidState, &text);
  EXPECT_EQ(text.str(), "Error::InvalidState");
  EXPECT_EQ(Result<int>(Error::Ok).error(), Error::Internal);
  int evaluations = 0;
  const auto count = [&]() -> Error {
    ET_CHECK_OK_OR_RETURN_ERROR((++evaluations, Error::NotFound), "%d", 1);
    return Error::Ok;
  };
  EXPECT_EQ(count(), Error::NotFound);
  EXPECT_EQ(evaluations, 1);
}

TEST(ViewsEdgesTest, EndsAreChecked) {
  const ArrayRef<int> none;
  EXPECT_DEATH((void)none.front(), "");
  EXPECT_DEATH((void)none.back(), "");
  const int numbers[] = {1, 2};
  EXPECT_EQ(ArrayRef<int>(numbers).back(), 2);
}

TEST(FreeableBufferEdgesTest, KeepsItsKind) {
  int calls = 0;
  const auto count = [](void* context, uint64_t, size_t) { ++*static_cast<int*>(context); };
  FreeableBuffer number(uint64_t{7}, 3, count, &calls);
  EXPECT_EQ(number.data_uint64_type().get(), 7u);
  EXPECT_EQ(number.data_safe().error(), Error::InvalidType);
  EXPECT_DEATH((void)number.data(), "");
  FreeableBuffer moved(std::move(number));
  EXPECT_EQ(number.data_uint64_type().get(), 0u);
  EXPECT_EQ(number.size(), 0u);
  moved.Free();
  moved.Free();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(moved.data_uint64_type().get(), 0u);
  int frees = 0;
  FreeableBuffer null(
      nullptr, 3, [](void* context, void*, size_t) { ++*static_cast<int*>(context); }, &frees);
  null.Free();
  EXPECT_EQ(frees, 0);
}

struct CountingAllocator : MemoryAllocator {
  using MemoryAllocator::alignPointer;
  using MemoryAllocator::MemoryAllocator;
  using MemoryAllocator::prof_id;
};

TEST(AllocatorEdgesTest, ConstructionAndHelpers) {
  alignas(16) uint8_t memory[32];
  EXPECT_DEATH(MemoryAllocator(1, nullptr), "");
  EXPECT_DEATH(MemoryAllocator(16, reinterpret_cast<uint8_t*>(UINTPTR_MAX - 8)), "");
  MemoryAllocator nothing(0, nullptr);
  EXPECT_EQ(nothing.allocate(0), nullptr);
  EXPECT_EQ(nothing.allocate(1), nullptr);
  CountingAllocator allocator(sizeof(memory), memory);
  EXPECT_EQ(allocator.prof_id(), -1);
  EXPECT_EQ(CountingAllocator::alignPointer(memory + 1, 16), memory + 16);
  EXPECT_EQ(CountingAllocator::alignPointer(memory, 16), memory);
  ASSERT_NE(allocator.allocate(8), nullptr);
  MemoryAllocator copy = allocator;
  EXPECT_EQ(copy.used_size(), 8u);
  EXPECT_DEATH(MemoryManager(&copy, nullptr, &copy), "");
  EXPECT_EQ(MemoryManager(&copy).temp_allocator(), nullptr);
}

TEST(AllocatorEdgesTest, PlannedBuffers) {
  uint8_t memory[8];
  Span<uint8_t> buffers[] = {{memory, 8}};
  const etensor::Device devices[] = {etensor::DeviceType::CPU, etensor::DeviceType::CPU};
  using Buffers = Span<Span<uint8_t>>;
  using Devices = Span<const etensor::Device>;
  EXPECT_DEATH(HierarchicalAllocator(Buffers(buffers, 1), Devices(devices, 2)), "");
  HierarchicalAllocator allocator(Buffers(buffers, 1), Devices(devices, 1));
  EXPECT_EQ(allocator.get_offset_address(0, 4, 4).get(), memory + 4);
  EXPECT_EQ(allocator.get_offset_address(0, 5, 4).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(allocator.get_offset_address(1, 0, 0).error(), Error::InvalidArgument);
  EXPECT_EQ(allocator.get_offset_address(0, SIZE_MAX, 2).error(), Error::InvalidArgument);
  MemoryAllocator method(8, memory);
  EXPECT_TRUE(MemoryManager(&method, &allocator).has_device_memory());
}

TEST(EValueEdgesTest, WhatIsLeftBehind) {
  TensorFactory<ScalarType::Float> tf;
  EValue value(tf.ones({2}));
  const Tensor tensor = std::move(value).toTensor();
  EXPECT_EQ(tensor.numel(), 2);
  EXPECT_TRUE(value.isNone());
  EXPECT_EQ(EValue(int64_t{0}).toDevice().index(), -1);
}

TEST(TensorEdgesTest, SizesAndStrides) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor t = tf.ones({2, 3});
  EXPECT_DEATH((void)tensor_dim_has_index(t, 2, 0), "");
  EXPECT_DEATH((void)tensor_dim_has_index(tf.ones({}), 0, 0), "");
  EXPECT_FALSE(tensor_dim_has_index(t, 1, 3));
  // Sharing what is empty takes the pointer away.
  const Tensor empty = tf.zeros({0});
  const Tensor other = tf.zeros({0});
  EXPECT_EQ(internal::share_tensor_data(empty, other), Error::Ok);
  EXPECT_EQ(empty.const_data_ptr(), nullptr);
}

TEST(DimOrderEdgesTest, EqualStridesAreSortedAsUpstreamDoes) {
  uint8_t order[3];
  const auto order_of = [&](std::vector<int32_t> strides) {
    EXPECT_EQ(stride_to_dim_order(strides.data(), 3, order), Error::Ok);
    return std::vector<int>(order, order + 3);
  };
  EXPECT_EQ(order_of({1, 1, 2}), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(order_of({2, 1, 1}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(order_of({6, 1, 3}), (std::vector<int>{0, 2, 1}));
  const int32_t stride = 1;
  EXPECT_EQ(stride_to_dim_order(&stride, 1, static_cast<uint8_t*>(nullptr)),
            Error::MemoryAllocationFailed);
}

TEST(ScalarTypeEdgesTest, SwitchesOfOnesOwn) {
  EXPECT_EQ(executorch::aten::elementSize(ScalarType::ComplexDouble), 16u);
  KernelRuntimeContext ctx;
  size_t bytes = 0;
  const auto visit = [&](ScalarType type) {
    ET_INTERNAL_SWITCH(type, ctx, "visit",
                       ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES_AND2(Half, Bool, CTYPE, [&] {
                         EXPECT_STREQ(et_switch_name, "visit");
                         bytes = sizeof(CTYPE);
                       }) ET_INTERNAL_SWITCH_CASE(ScalarType::Bits16, CTYPE, [&] {
                         bytes = 100 + sizeof(CTYPE);
                       }));
    return bytes;
  };
  EXPECT_EQ(visit(ScalarType::Double), 8u);
  EXPECT_EQ(visit(ScalarType::Half), 2u);
  EXPECT_EQ(visit(ScalarType::Bool), 1u);
  EXPECT_EQ(visit(ScalarType::Bits16), 102u);
  EXPECT_EQ(ctx.failure_state(), Error::Ok);
  visit(ScalarType::Int);
  EXPECT_EQ(ctx.failure_state(), Error::InvalidArgument);
}

TEST(TestingEdgesTest, Compares) {
  TensorFactory<ScalarType::Float> tf;
  EXPECT_DEATH((void)executorch::runtime::testing::tensors_are_close(
                   tf.ones({2, 2}), tf.make({2, 2}, {1, 1, 1, 1}, {1, 2})),
               "");
  EXPECT_THAT(tf.ones({1}),
              executorch::runtime::testing::IsCloseToWithTol(tf.make({1}, {1.4f}), 0.0, 0.5));
  EXPECT_THAT(tf.ones({1}), executorch::runtime::testing::IsDataCloseToWithTol(
                                tf.make({1, 1}, {1.4f}), 0.0, 0.5));
}

TEST(ParallelForEdgesTest, WithoutThreads) {
  std::vector<int64_t> seen;
  const auto record = [&](int64_t first, int64_t last) { seen = {first, last}; };
  EXPECT_TRUE(executorch::extension::internal::parallel_for_no_threadpool(2, 9, 3, record));
  EXPECT_EQ(seen, (std::vector<int64_t>{2, 9}));
  EXPECT_FALSE(executorch::extension::internal::parallel_for_no_threadpool(-1, 9, 3, record));
  EXPECT_FALSE(executorch::extension::internal::parallel_for_no_threadpool(9, 2, 3, record));
  EXPECT_FALSE(executorch::extension::internal::parallel_for_no_threadpool(2, 9, 0, record));
  EXPECT_EQ(executorch::extension::internal::GRAIN_SIZE, 32768);
}

TEST(ProfilerEdgesTest, BlocksEventsAndAllocations) {
  runtime_init();
  reset_profile_stats();
  prof_result_t result;
  EXECUTORCH_DUMP_PROFILE_RESULTS(&result);  // off: nothing
  EXPECT_EQ(result.num_blocks, 0u);
  EXPECT_EQ(EXECUTORCH_TRACK_ALLOCATOR("a"), -1);

  profiler_init();
  EXPECT_EQ(get_profile_tls_state().chain_idx, -1);
  {
    ExecutorchProfilerInstructionScope scope({3, 4u});
    ExecutorchProfiler event("a name of more than thirty-two characters");
  }
  const uint32_t allocator = track_allocator("arena");
  track_allocation(static_cast<int32_t>(allocator), 100);
  track_allocation(-1, 100);
  dump_profile_stats(&result);
  ASSERT_EQ(result.num_blocks, 1u);
  EXPECT_EQ(result.num_bytes, prof_buf_size);
  const auto* header = reinterpret_cast<const prof_header_t*>(result.prof_data);
  EXPECT_STREQ(header->name, "default");
  EXPECT_EQ(header->prof_entries, 1u);
  EXPECT_EQ(header->mem_prof_entries, 1u);
  const auto* events = reinterpret_cast<const prof_event_t*>(result.prof_data + prof_events_offset);
  EXPECT_EQ(std::string(events[0].name, 32), "a name of more than thirty-two c");
  EXPECT_EQ(events[0].chain_idx, 3);
  EXPECT_EQ(events[0].instruction_idx, 4u);
  EXPECT_GE(events[0].end_time, events[0].start_time);
  // A second block; an empty one is renamed instead.
  profiling_create_block("second");
  profiling_create_block("renamed");
  dump_profile_stats(&result);
  ASSERT_EQ(result.num_blocks, 2u);
  EXPECT_STREQ(reinterpret_cast<const prof_header_t*>(result.prof_data + prof_buf_size)->name,
               "renamed");
  end_profiling(begin_profiling("x"));
  EXPECT_DEATH(profiling_create_block("third"), "");
  for (int i = 1; i < MAX_PROFILE_EVENTS; ++i) {
    (void)begin_profiling("x");
  }
  EXPECT_DEATH((void)begin_profiling("one more"), "");
  reset_profile_stats();
}

}  // namespace
