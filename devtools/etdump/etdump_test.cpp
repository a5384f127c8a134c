// SPDX-License-Identifier: BSD-3-Clause
// ETDumpGen alone: which calls give which events, on the heap and in a fixed buffer.
#include <executorch/devtools/etdump/data_sinks/file_data_sink.h>
#include <executorch/devtools/etdump/etdump_filter.h>
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/devtools/etdump/etdump_schema_flatcc_generated.h>
#include <executorch/devtools/etdump/event_table.h>
#include <executorch/extension/testing_util/temp_file.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace executorch::etdump {
namespace {

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::testing::TensorFactory;
namespace fb = ::etdump;

constexpr size_t kStaticBytes = size_t{256} << 10;

/// An ETDumpGen on the heap, or in a buffer that it must not leave.
class EtdumpTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    runtime_init();
    memory_.assign(kStaticBytes + 2 * kGuard, kMark);
    gen_ =
        GetParam()
            ? std::make_unique<ETDumpGen>(Span<uint8_t>(memory_.data() + kGuard + 3, kStaticBytes))
            : std::make_unique<ETDumpGen>();
    debug_.assign(4096, kMark);
  }
  void TearDown() override {
    for (size_t i = 0; i < kGuard; ++i) {
      ASSERT_EQ(memory_[i], kMark);
      ASSERT_EQ(memory_[memory_.size() - 1 - i], kMark);
    }
  }

  /// The dump, checked.
  const fb::ETDump& dump() {
    const ETDumpResult result = gen_->get_etdump_data();
    EXPECT_NE(result.buf, nullptr);
    bytes_.assign(static_cast<uint8_t*>(result.buf),
                  static_cast<uint8_t*>(result.buf) + result.size);
    if (!gen_->is_static_etdump()) {
      std::free(result.buf);
    }
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
    EXPECT_TRUE(fb::VerifySizePrefixedETDumpBuffer(verifier));
    EXPECT_EQ(flatbuffers::ReadScalar<uint32_t>(bytes_.data()), bytes_.size() - 4);
    return *fb::GetSizePrefixedETDump(bytes_.data());
  }
  const fb::Event& event(const fb::ETDump& dump, uint32_t block, uint32_t index) {
    return *dump.run_data()->Get(block)->events()->Get(index);
  }

  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kMark = 0xA5;
  std::vector<uint8_t> memory_;
  std::vector<uint8_t> debug_;
  std::vector<uint8_t> bytes_;
  std::unique_ptr<ETDumpGen> gen_;
};

INSTANTIATE_TEST_SUITE_P(Memory, EtdumpTest, ::testing::Values(false, true));

TEST_P(EtdumpTest, NothingWithoutBlocks) {
  const ETDumpResult result = gen_->get_etdump_data();
  EXPECT_EQ(result.buf, nullptr);
  EXPECT_EQ(result.size, 0u);
  EXPECT_EQ(gen_->is_static_etdump(), GetParam());
}

TEST_P(EtdumpTest, EventsOfBlocks) {
  RecordProperty("req", "DT-014 DT-C03 RT-C05");
  gen_->create_event_block("Default");
  EXPECT_EQ(gen_->track_allocator("planned"), 1u);
  EXPECT_EQ(gen_->track_allocator("temp"), 2u);
  gen_->track_allocation(2, 48);
  const auto outer = gen_->start_profiling("outer");
  gen_->set_chain_debug_handle(0, 7);
  const auto inner = gen_->start_profiling("inner");
  const auto given = gen_->start_profiling("given", 3, 4);
  gen_->end_profiling(given);
  gen_->end_profiling(inner);
  gen_->set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
  gen_->end_profiling(outer);
  gen_->set_bundled_input_index(5);
  gen_->create_event_block("Execute");
  EXPECT_EQ(gen_->get_num_blocks(), 2u);

  const fb::ETDump& dumped = dump();
  ASSERT_EQ(dumped.run_data()->size(), 2u);
  const fb::RunData& first = *dumped.run_data()->Get(0);
  EXPECT_EQ(first.name()->str(), "Default");
  EXPECT_EQ(first.bundled_input_index(), 5);
  EXPECT_EQ(first.allocators()->Get(1)->name()->str(), "temp");
  ASSERT_EQ(first.events()->size(), 4u);
  EXPECT_EQ(event(dumped, 0, 0).allocation_event()->allocator_id(), 2);
  EXPECT_EQ(event(dumped, 0, 0).allocation_event()->allocation_size(), 48u);
  const struct {
    const char* name;
    int chain;
    int instruction;
  } expected[] = {{"given", 3, 4}, {"inner", 0, 7}, {"outer", -1, 0}};
  for (uint32_t i = 0; i < 3; ++i) {
    const fb::ProfileEvent& profile = *event(dumped, 0, i + 1).profile_event();
    EXPECT_EQ(profile.name()->str(), expected[i].name);
    EXPECT_EQ(profile.chain_index(), expected[i].chain);
    EXPECT_EQ(profile.instruction_id(), expected[i].instruction);
    EXPECT_EQ(profile.delegate_debug_id_int(), -1);
    EXPECT_EQ(profile.delegate_debug_metadata(), nullptr);
    EXPECT_LE(profile.start_time(), profile.end_time());
  }
  EXPECT_EQ(dumped.run_data()->Get(1)->events()->size(), 0u);
}

TEST_P(EtdumpTest, EventsOfDelegates) {
  RecordProperty("req", "DT-019");
  gen_->create_event_block("Execute");
  gen_->set_chain_debug_handle(0, 2);
  gen_->end_profiling_delegate(gen_->start_profiling_delegate(nullptr, 9), "ab", 2);
  gen_->log_profiling_delegate("conv #1", kUnsetDelegateDebugIntId, 100, 250);
  gen_->end_profiling_delegate(gen_->start_profiling_delegate(nullptr, 0), nullptr, 0);
  const fb::ETDump& dumped = dump();
  ASSERT_EQ(dumped.run_data()->Get(0)->events()->size(), 3u);
  const fb::ProfileEvent& numbered = *event(dumped, 0, 0).profile_event();
  EXPECT_EQ(numbered.name(), nullptr);
  EXPECT_EQ(numbered.delegate_debug_id_int(), 9);
  EXPECT_EQ(numbered.delegate_debug_id_str(), nullptr);
  EXPECT_EQ(numbered.instruction_id(), 2);
  ASSERT_EQ(numbered.delegate_debug_metadata()->size(), 2u);
  EXPECT_EQ(numbered.delegate_debug_metadata()->Get(1), 'b');
  const fb::ProfileEvent& named = *event(dumped, 0, 1).profile_event();
  EXPECT_EQ(named.delegate_debug_id_str()->str(), "conv #1");
  EXPECT_EQ(named.start_time(), 100u);
  EXPECT_EQ(named.end_time(), 250u);
  EXPECT_EQ(named.delegate_debug_metadata()->size(), 0u);
  EXPECT_EQ(event(dumped, 0, 2).profile_event()->delegate_debug_id_int(), 0);
}

TEST_P(EtdumpTest, Values) {
  RecordProperty("req", "DT-016");
  TensorFactory<ScalarType::Float> floats;
  const Tensor tensor = floats.make({2, 3}, {1, 2, 3, 4, 5, 6});
  gen_->create_event_block("Execute");
  EXPECT_EQ(gen_->log_evalue(EValue(tensor)).error(), Error::InvalidArgument);  // no sink
  ASSERT_TRUE(gen_->set_debug_buffer({debug_.data() + 1, debug_.size() - 1}).ok());
  EXPECT_TRUE(gen_->log_evalue(EValue(tensor), LoggedEValueType::kProgramOutput).get());
  EXPECT_TRUE(gen_->log_evalue(EValue(int64_t{-8})).get());
  EXPECT_TRUE(gen_->log_evalue(EValue(0.5)).get());
  EXPECT_TRUE(gen_->log_evalue(EValue(true)).get());
  EXPECT_TRUE(gen_->log_evalue(EValue(floats.make({0, 4}, {}))).get());
  EXPECT_FALSE(gen_->log_evalue(EValue()).ok());
  const Tensor pair[] = {tensor, tensor};
  EXPECT_TRUE(
      gen_->log_intermediate_output_delegate("both", kUnsetDelegateDebugIntId, {pair, 2}).get());
  TensorFactory<ScalarType::ComplexFloat> complex;
  EXPECT_EQ(gen_->log_evalue(EValue(complex.zeros({1}))).error(), Error::InvalidArgument);
  EXPECT_EQ(gen_->log_intermediate_output_delegate("x", 1, tensor).error(), Error::InvalidArgument);

  const fb::ETDump& dumped = dump();
  const fb::Value& first = *event(dumped, 0, 0).debug_event()->debug_entry();
  EXPECT_EQ(first.val(), fb::ValueType::Tensor);
  EXPECT_TRUE(first.output()->bool_val());
  EXPECT_EQ(first.tensor()->sizes()->Get(1), 3);
  EXPECT_EQ(first.tensor()->strides()->Get(0), 3);
  const float* data = reinterpret_cast<const float*>(debug_.data() + 1 + first.tensor()->offset());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  EXPECT_EQ(data[5], 6.0f);
  EXPECT_EQ(event(dumped, 0, 1).debug_event()->debug_entry()->int_value()->int_val(), -8);
  EXPECT_EQ(event(dumped, 0, 2).debug_event()->debug_entry()->double_value()->double_val(), 0.5);
  EXPECT_TRUE(event(dumped, 0, 3).debug_event()->debug_entry()->bool_value()->bool_val());
  EXPECT_EQ(event(dumped, 0, 4).debug_event()->debug_entry()->tensor()->offset(), -1);
  const fb::DebugEvent& list = *event(dumped, 0, 5).debug_event();
  EXPECT_EQ(list.delegate_debug_id_str()->str(), "both");
  EXPECT_EQ(list.debug_entry()->tensor_list()->tensors()->size(), 2u);
  EXPECT_EQ(list.debug_entry()->output(), nullptr);
  EXPECT_EQ(dumped.run_data()->Get(0)->events()->size(), 6u);
}

TEST_P(EtdumpTest, ValuesOfHalfTypesAreKept) {
  TensorFactory<ScalarType::Half> halves;
  TensorFactory<ScalarType::BFloat16> brains;
  gen_->create_event_block("Execute");
  ASSERT_TRUE(gen_->set_debug_buffer({debug_.data() + 1, debug_.size() - 1}).ok());
  EXPECT_TRUE(gen_->log_evalue(EValue(halves.make({2}, {1.5f, 65504.0f}))).get());
  EXPECT_TRUE(gen_->log_evalue(EValue(brains.make({1}, {1.5f}))).get());

  const fb::ETDump& dumped = dump();
  const fb::Tensor& half = *event(dumped, 0, 0).debug_event()->debug_entry()->tensor();
  EXPECT_EQ(static_cast<ScalarType>(half.scalar_type()), ScalarType::Half);
  uint16_t bits[2];
  std::memcpy(bits, debug_.data() + 1 + half.offset(), sizeof(bits));
  EXPECT_EQ(bits[0], 0x3e00);
  EXPECT_EQ(bits[1], 0x7bff);
  const fb::Tensor& brain = *event(dumped, 0, 1).debug_event()->debug_entry()->tensor();
  EXPECT_EQ(static_cast<ScalarType>(brain.scalar_type()), ScalarType::BFloat16);
  std::memcpy(bits, debug_.data() + 1 + brain.offset(), sizeof(bits[0]));
  EXPECT_EQ(bits[0], 0x3fc0);
}

TEST_P(EtdumpTest, AFullDebugBufferLosesEventsAndNothingElse) {
  TensorFactory<ScalarType::Float> floats;
  const Tensor tensor = floats.ones({200});  // 800 bytes
  gen_->create_event_block("Execute");
  ASSERT_TRUE(gen_->set_debug_buffer({debug_.data(), 3000}).ok());
  size_t logged = 0;
  for (int i = 0; i < 10; ++i) {
    const auto result = gen_->log_evalue(EValue(tensor));
    logged += result.ok() ? 1 : 0;
    EXPECT_TRUE(result.ok() || result.error() == Error::OutOfResources);
  }
  EXPECT_EQ(logged, 3u);
  EXPECT_EQ(gen_->get_num_lost_events(), 7u);
  for (size_t i = 3000; i < debug_.size(); ++i) {
    ASSERT_EQ(debug_[i], kMark);
  }
  EXPECT_EQ(dump().run_data()->Get(0)->events()->size(), 3u);
}

TEST_P(EtdumpTest, AFullDumpLosesEvents) {
  gen_->create_event_block("Execute");
  const size_t count = 20000;
  for (size_t i = 0; i < count; ++i) {
    gen_->end_profiling(
        gen_->start_profiling(i % 2 == 0 ? "native_call_add.out" : "OPERATOR_CALL"));
  }
  const size_t lost = gen_->get_num_lost_events();
  EXPECT_EQ(lost > 0, GetParam());
  EXPECT_EQ(dump().run_data()->Get(0)->events()->size(), count - lost);
  gen_->create_event_block("Execute");  // a new dump
  EXPECT_EQ(gen_->get_num_blocks(), 1u);
  EXPECT_EQ(gen_->get_num_lost_events(), 0u);
  gen_->end_profiling(gen_->start_profiling("again"));
  EXPECT_EQ(event(dump(), 0, 0).profile_event()->name()->str(), "again");
}

TEST_P(EtdumpTest, AFullDumpOfBlocksAndNamesIsLegal) {
  for (int i = 0; i < 30000; ++i) {
    gen_->create_event_block(("block " + std::to_string(i)).c_str());
    gen_->end_profiling(gen_->start_profiling(std::to_string(i * 7).c_str()));
  }
  EXPECT_EQ(gen_->get_num_lost_events() > 0, GetParam());
  EXPECT_GT(dump().run_data()->size(), 1000u);
}

TEST_P(EtdumpTest, TenThousandMutantsAreRefusedOrRead) {
  TensorFactory<ScalarType::Float> floats;
  gen_->create_event_block("Default");
  gen_->track_allocation(gen_->track_allocator("planned"), 48);
  gen_->create_event_block("Execute");
  ASSERT_TRUE(gen_->set_debug_buffer({debug_.data(), debug_.size()}).ok());
  for (uint32_t i = 0; i < 4; ++i) {
    gen_->end_profiling(gen_->start_profiling("native_call_add.out", 0, i));
    gen_->log_profiling_delegate("conv #1", kUnsetDelegateDebugIntId, 100, 250, "ab", 2);
    gen_->end_profiling_delegate(gen_->start_profiling_delegate(nullptr, 7), nullptr, 0);
    ASSERT_TRUE(gen_->log_evalue(EValue(floats.ones({2, 3}))).ok());
  }
  dump();
  const std::vector<uint8_t> whole = bytes_;
  std::mt19937 random(3);
  const auto below = [&random](size_t limit) { return random() % limit; };
  size_t refused = 0;
  for (int i = 0; i < 10000; ++i) {
    std::vector<uint8_t> mutant = whole;
    for (size_t k = 0; k <= below(4); ++k) {
      const uint32_t words[] = {0, 1, 0xFFFFFFFF, static_cast<uint32_t>(below(300)),
                                static_cast<uint32_t>(random())};
      const size_t at = below(mutant.size() - 4);
      if (below(2) == 0) {
        mutant[at] = static_cast<uint8_t>(mutant[at] ^ (1 << below(8)));
      } else {
        std::memcpy(&mutant[at & ~size_t{3}], &words[below(5)], 4);
      }
    }
    if (below(10) == 0) {
      mutant.resize(below(mutant.size()) + 1);
      mutant.shrink_to_fit();
    }
    std::ostringstream table;
    const Error error = print_event_table({mutant.data(), mutant.size()}, table);
    EXPECT_TRUE(error == Error::Ok || error == Error::InvalidArgument);
    refused += error == Error::Ok ? 0 : 1;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_LT(refused, 9900u);
}

TEST_P(EtdumpTest, AnEventDoesNotOutliveItsDump) {
  gen_->create_event_block("Execute");
  const auto entry = gen_->start_profiling("old");
  dump();
  gen_->create_event_block("Execute");
  gen_->end_profiling(entry);
  EXPECT_EQ(gen_->get_num_lost_events(), 1u);
  EXPECT_EQ(dump().run_data()->Get(0)->events()->size(), 0u);
}

TEST_P(EtdumpTest, WrongUseAborts) {
  EXPECT_DEATH((void)gen_->start_profiling("x"), "create_event_block");
  gen_->create_event_block("Execute");
  EXPECT_DEATH((void)gen_->start_profiling_delegate("x", 1), "either a name or a number");
  EXPECT_DEATH((void)gen_->start_profiling_delegate(nullptr, kUnsetDelegateDebugIntId),
               "either a name or a number");
  const auto entry = gen_->start_profiling_delegate("x", kUnsetDelegateDebugIntId);
  EXPECT_DEATH(gen_->end_profiling(entry), "end_profiling_delegate");
  gen_->end_profiling_delegate(entry);
  EXPECT_DEATH((void)gen_->track_allocator("x"), "before the first event");
  EXPECT_DEATH(ETDumpGen({memory_.data(), 4096}), "needs a buffer of more than");
}

TEST_P(EtdumpTest, AFilterDropsValuesOfDelegates) {
  TensorFactory<ScalarType::Float> floats;
  const Tensor tensor = floats.ones({2});
  ETDumpFilter filter;
  ASSERT_TRUE(filter.add_regex("conv.*").ok());
  ASSERT_TRUE(filter.set_debug_handle_range(2, 4).ok());
  gen_->create_event_block("Execute");
  ASSERT_TRUE(gen_->set_debug_buffer({debug_.data(), debug_.size()}).ok());
  gen_->set_delegation_intermediate_output_filter(&filter);
  const DelegateDebugIntId none = kUnsetDelegateDebugIntId;
  EXPECT_FALSE(gen_->log_intermediate_output_delegate("conv1", none, tensor).get());
  EXPECT_TRUE(gen_->log_intermediate_output_delegate("a conv1", none, tensor).get());
  EXPECT_TRUE(gen_->log_intermediate_output_delegate(nullptr, 1, 1.5).get());
  EXPECT_FALSE(gen_->log_intermediate_output_delegate(nullptr, 3, true).get());
  EXPECT_TRUE(gen_->log_intermediate_output_delegate(nullptr, 4, 3).get());
  EXPECT_EQ(dump().run_data()->Get(0)->events()->size(), 3u);
}

TEST(EtdumpFilterTest, Rules) {
  ETDumpFilter filter;
  EXPECT_TRUE(filter.filter("any", kUnsetDelegateDebugIntId).get());
  EXPECT_TRUE(filter.filter(nullptr, 5).get());
  EXPECT_EQ(filter.filter("any", 5).error(), Error::InvalidArgument);
  EXPECT_EQ(filter.filter(nullptr, kUnsetDelegateDebugIntId).error(), Error::InvalidArgument);
  EXPECT_EQ(filter.add_regex("(").error(), Error::InvalidArgument);
  EXPECT_EQ(filter.set_debug_handle_range(3, 3).error(), Error::InvalidArgument);
  ASSERT_TRUE(filter.add_regex("a+").ok());
  ASSERT_TRUE(filter.add_regex("b").ok());
  EXPECT_EQ(filter.get_n_regex(), 2u);
  EXPECT_TRUE(filter.filter("b", kUnsetDelegateDebugIntId).get());
  EXPECT_FALSE(filter.filter("ab", kUnsetDelegateDebugIntId).get());
}

TEST(DataSinkTest, OfAFile) {
  const extension::testing::TempFile file(std::string("old content"));
  auto created = FileDataSink::create(file.path().c_str());
  ASSERT_TRUE(created.ok());
  FileDataSink sink = std::move(*created);
  EXPECT_EQ(sink.write("abc", 3).get(), 0u);
  EXPECT_EQ(sink.write("", 0).get(), 3u);
  EXPECT_EQ(sink.write("de", 2).get(), 3u);
  EXPECT_EQ(sink.get_used_bytes(), 5u);
  sink.close();
  EXPECT_EQ(sink.write("f", 1).error(), Error::AccessFailed);
  std::FILE* const read = std::fopen(file.path().c_str(), "rb");
  char text[16] = {};
  EXPECT_EQ(std::fread(text, 1, sizeof(text), read), 5u);
  std::fclose(read);
  EXPECT_STREQ(text, "abcde");
  EXPECT_EQ(FileDataSink::create("/nowhere/x").error(), Error::AccessFailed);
}

TEST(DataSinkTest, OfABuffer) {
  alignas(64) uint8_t memory[256];
  std::memset(memory, 1, sizeof(memory));
  EXPECT_EQ(BufferDataSink::create(memory, sizeof(memory), 48).error(), Error::InvalidArgument);
  EXPECT_EQ(BufferDataSink::create(memory, sizeof(memory), 0).error(), Error::InvalidArgument);
  BufferDataSink sink = std::move(*BufferDataSink::create(memory, sizeof(memory)));
  EXPECT_EQ(sink.write("abc", 3).get(), 0u);
  EXPECT_EQ(sink.write("d", 1).get(), 64u);
  EXPECT_EQ(memory[4], 0);
  EXPECT_EQ(sink.get_used_bytes(), 65u);
  EXPECT_EQ(sink.write(memory, 129).error(), Error::OutOfResources);
  EXPECT_EQ(sink.write(memory, SIZE_MAX).error(), Error::OutOfResources);
  EXPECT_EQ(sink.write("e", 1).get(), 128u);
}

/// What an event costs, the two readings of the clock included, in time of the processor; the least
/// of several runs. Held against 200 ns in make bench only: here machines are busy.
TEST(EtdumpCostTest, OfAnEvent) {
  constexpr int kCount = 20000;
  double least = 1e9;
  for (int run = 0; run < 10; ++run) {
    ETDumpGen gen;
    gen.create_event_block("Execute");
    const std::clock_t start = std::clock();
    for (int i = 0; i < kCount; ++i) {
      gen.end_profiling(gen.start_profiling("native_call_add.out", 0, static_cast<DebugHandle>(i)));
    }
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    least = std::min(least, taken * 1e9 / kCount);
    EXPECT_EQ(gen.get_num_lost_events(), 0u);
  }
  std::printf("an event costs %.0f ns\n", least);
  EXPECT_LT(least, 2000);
}

}  // namespace
}  // namespace executorch::etdump
