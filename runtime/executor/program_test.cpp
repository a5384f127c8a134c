// SPDX-License-Identifier: BSD-3-Clause
// Loading of programs: headers, segments, constants, named data, lookups, metadata.
// Experimental and former calls are used, too.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <executorch/runtime/executor/program.h>

#include <cstring>

#include <gtest/gtest.h>

#include <executorch/runtime/executor/merged_data_map.h>
#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {

// What other people's tests reach through this class.
class ProgramTestFriend final {
 public:
  static const executorch_flatbuffer::Program* internal_program(const Program& program) {
    return program.get_internal_program();
  }
  static Result<FreeableBuffer> load_segment(const Program& program,
                                             const DataLoader::SegmentInfo& info) {
    return program.LoadSegment(info);
  }
  static Error load_mutable(const Program& program, size_t list, size_t index, size_t size,
                            void* buffer) {
    return program.load_mutable_subsegment_into(list, index, size, buffer);
  }
};

namespace {

using Verification = Program::Verification;

template <typename T>
void put(std::vector<uint8_t>& file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

class ProgramTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runtime_init();
    register_test_kernels();
  }
};

TEST_F(ProgramTest, FilesBeginWithRootOffsetAndIdentifier) {
  RecordProperty("req", "RT-001");
  std::vector<uint8_t> file = add_program().build();
  EXPECT_EQ(std::memcmp(file.data() + 4, "ET12", 4), 0);
  EXPECT_EQ(Program::check_header(file.data(), file.size()), Program::CompatibleVersion);
  EXPECT_EQ(Program::check_header(file.data(), 63), Program::ShortData);
  file[7] = '3';
  EXPECT_EQ(Program::check_header(file.data(), file.size()), Program::IncompatibleVersion);
  EXPECT_EQ(LoadedProgram(file).error(), Error::InvalidProgram);
  EXPECT_EQ(LoadedProgram(file, Verification::Minimal).error(), Error::InvalidProgram);
  file[4] = 'X';
  EXPECT_EQ(Program::check_header(file.data(), file.size()), Program::NotPresent);
  EXPECT_EQ(LoadedProgram(file).error(), Error::InvalidProgram);
}

TEST_F(ProgramTest, FilesWithoutSegmentsHaveNoHeader) {
  RecordProperty("req", "RT-002");
  const std::vector<uint8_t> file = dynamic_program().build();
  EXPECT_NE(std::memcmp(file.data() + 8, "eh00", 4), 0);
  EXPECT_TRUE(LoadedProgram(file).ok());
}

TEST_F(ProgramTest, FriendsReachSegments) {
  ProgramBuilder builder = add_program();
  const std::vector<uint8_t> bytes = {5, 6, 7};
  const uint32_t segment = builder.add_segment(bytes.data(), bytes.size());
  const uint32_t initial = builder.add_initial_data(std::vector<float>{3, 4});
  LoadedProgram loaded(builder);
  ASSERT_TRUE(loaded.ok());
  const Program& program = *loaded.program;
  EXPECT_NE(ProgramTestFriend::internal_program(program), nullptr);
  using Info = DataLoader::SegmentInfo;
  const auto found = ProgramTestFriend::load_segment(program, Info(Info::Type::Backend, segment));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(static_cast<const uint8_t*>(found->data())[2], 7);
  EXPECT_EQ(ProgramTestFriend::load_segment(program, Info(Info::Type::Backend, 99)).error(),
            Error::NotFound);
  float numbers[2] = {};
  const auto load = [&](size_t list, size_t index, size_t size) {
    return ProgramTestFriend::load_mutable(program, list, index, size, numbers);
  };
  EXPECT_EQ(load(0, initial, sizeof(numbers)), Error::Ok);
  EXPECT_EQ(numbers[1], 4);
  EXPECT_EQ(load(1, initial, sizeof(numbers)), Error::NotFound);
  EXPECT_EQ(load(0, initial + 1, sizeof(numbers)), Error::NotFound);
  EXPECT_EQ(load(0, initial, 1000), Error::InvalidArgument);
}

// A map whose keys have layouts that it does not know, or none at all.
class Keys final : public NamedDataMap {
 public:
  explicit Keys(std::vector<const char*> keys) : keys_(std::move(keys)) {}
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    for (const char* own : keys_) {
      if (key == own) {
        static const int32_t sizes[] = {1};
        static const uint8_t order[] = {0};
        return TensorLayout::create({sizes, 1}, {order, 1}, executorch::aten::ScalarType::Byte);
      }
    }
    return Error::NotFound;
  }
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    for (const char* own : keys_) {
      if (key == own) {
        return FreeableBuffer(own, 1, nullptr);
      }
    }
    return Error::NotFound;
  }
  Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotImplemented;
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(keys_.size()); }
  Result<const char*> get_key(uint32_t index) const override { return keys_[index]; }

 private:
  std::vector<const char*> keys_;
};

TEST_F(ProgramTest, MapsOfNamedDataMerge) {
  using internal::MergedDataMap;
  const Keys a({"a", "b"});
  const Keys c({"c"});
  const Keys also_b({"b"});
  EXPECT_EQ(MergedDataMap::load(&a, nullptr).error(), Error::InvalidArgument);
  EXPECT_EQ(MergedDataMap::load(nullptr, &a).error(), Error::InvalidArgument);
  EXPECT_EQ(MergedDataMap::load(&a, &also_b).error(), Error::InvalidArgument);
  const auto merged = MergedDataMap::load(&a, &c);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->get_num_keys().get(), 3u);
  EXPECT_STREQ(merged->get_key(2).get(), "c");
  EXPECT_TRUE(merged->get_data("c").ok());
  EXPECT_EQ(merged->get_data("d").error(), Error::NotFound);
  EXPECT_EQ(merged->load_data_into("c", nullptr, 0), Error::NotImplemented);
  EXPECT_EQ(internal::PteDataMap::create(nullptr, 0, nullptr, nullptr).error(),
            Error::InvalidArgument);
}

TEST_F(ProgramTest, ReadsNoMoreThanProgramDataAndConstants) {
  RecordProperty("req", "RT-004");
  ProgramBuilder builder = add_program();
  const std::vector<uint8_t> large(100000, 1);
  builder.add_named_data("large", builder.add_segment(large.data(), large.size()));
  LoadedProgram loaded(builder);
  ASSERT_TRUE(loaded.ok());
  EXPECT_LT(loaded.loader.bytes_read, 10000u);
  EXPECT_GT(loaded.file.size(), 100000u);
}

TEST_F(ProgramTest, RefusesHeadersThatContradictTheFile) {
  struct {
    size_t offset;
    uint64_t value;
  } const kWrong[] = {
      {16, UINT64_MAX}, {16, uint64_t{1} << 40}, {16, 0},        {16, 7},
      {24, UINT64_MAX}, {24, UINT64_MAX - 127},  {24, 64},       {24, 0},
      {32, UINT64_MAX}, {32, UINT64_MAX - 4000}, {32, 1u << 30},
  };
  for (const auto& wrong : kWrong) {
    for (const Verification level : {Verification::InternalConsistency, Verification::Minimal}) {
      std::vector<uint8_t> file = add_program().build();
      put<uint64_t>(file, wrong.offset, wrong.value);
      EXPECT_FALSE(LoadedProgram(file, level).ok()) << wrong.offset << " " << wrong.value;
    }
  }
}

TEST_F(ProgramTest, ConstantsPointIntoWhatTheLoaderGave) {
  RecordProperty("req", "RT-009");
  LoadedProgram loaded(add_program().build());
  ASSERT_TRUE(loaded.ok());
  const Result<const void*> constant = loaded->get_constant_buffer_data(1, 24);
  ASSERT_TRUE(constant.ok());
  const auto* begin = static_cast<const uint8_t*>(*constant);
  EXPECT_GE(begin, loaded.file.data());
  EXPECT_LE(begin + 24, loaded.file.data() + loaded.file.size());
  EXPECT_EQ(static_cast<const float*>(*constant)[5], 60);
  EXPECT_EQ(loaded->get_constant_buffer_data(1, 25).error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->get_constant_buffer_data(1, SIZE_MAX).error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->get_constant_buffer_data(2, 1).error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->get_constant_buffer_data(SIZE_MAX, 1).error(), Error::InvalidArgument);
}

TEST_F(ProgramTest, InlineConstantsAreRead) {
  LoadedProgram loaded(inline_constant_program().build());
  ASSERT_TRUE(loaded.ok());
  const Result<const void*> constant = loaded->get_constant_buffer_data(1, 24);
  ASSERT_TRUE(constant.ok());
  EXPECT_EQ(static_cast<const float*>(*constant)[5], 60);
  EXPECT_EQ(loaded->get_constant_buffer_data(1, 25).error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->get_constant_buffer_data(2, 0).error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->get_constant_buffer_data(SIZE_MAX, 1).error(), Error::InvalidArgument);
}

TEST_F(ProgramTest, NamedDataIsFoundByKey) {
  ProgramBuilder builder = add_program();
  const uint32_t segment = builder.add_segment("content", 7);
  builder.add_named_data("first", segment);
  builder.add_named_data("second", segment);
  LoadedProgram loaded(builder);
  ASSERT_TRUE(loaded.ok());
  const Result<const NamedDataMap*> map = loaded->get_named_data_map();
  ASSERT_TRUE(map.ok());
  EXPECT_EQ((*map)->get_num_keys().get(), 2u);
  EXPECT_STREQ((*map)->get_key(1).get(), "second");
  EXPECT_EQ((*map)->get_key(2).error(), Error::InvalidArgument);
  for (const char* key : {"first", "second"}) {
    const Result<FreeableBuffer> data = (*map)->get_data(key);
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(std::memcmp(data->data(), "content", 7), 0);
  }
  EXPECT_EQ((*map)->get_data("third").error(), Error::NotFound);
  EXPECT_EQ((*map)->get_tensor_layout("first").error(), Error::NotImplemented);
  EXPECT_EQ((*map)->load_data_into("first", nullptr, 0), Error::NotImplemented);
  EXPECT_EQ(LoadedProgram(add_program().build())->get_named_data_map().error(), Error::NotFound);
}

TEST_F(ProgramTest, MethodsAreFoundByName) {
  LoadedProgram loaded(two_method_program().build());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->num_methods(), 2u);
  EXPECT_STREQ(loaded->get_method_name(0).get(), "one");
  EXPECT_STREQ(loaded->get_method_name(1).get(), "two");
  EXPECT_EQ(loaded->get_method_name(2).error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->method_meta("three").error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->method_meta("").error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->method_meta(nullptr).error(), Error::InvalidArgument);
  EXPECT_EQ(LoadedMethod(loaded, "three").error(), Error::InvalidArgument);
  EXPECT_EQ(loaded->load_method("one", nullptr).error(), Error::InvalidArgument);
}

TEST_F(ProgramTest, MetadataDescribesAMethod) {
  RecordProperty("req", "RT-012");
  LoadedProgram loaded(add_program().build());
  ASSERT_TRUE(loaded.ok());
  const Result<MethodMeta> meta = loaded->method_meta("forward");
  ASSERT_TRUE(meta.ok());
  EXPECT_STREQ(meta->name(), "forward");
  EXPECT_EQ(meta->num_inputs(), 1u);
  EXPECT_EQ(meta->num_outputs(), 1u);
  EXPECT_EQ(meta->input_tag(0).get(), Tag::Tensor);
  EXPECT_EQ(meta->input_tag(1).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->input_tensor_meta(1).error(), Error::InvalidArgument);
  const Result<TensorInfo> input = meta->input_tensor_meta(0);
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(input->sizes().size(), 2u);
  EXPECT_EQ(input->sizes()[1], 3);
  EXPECT_EQ(input->dim_order()[1], 1);
  EXPECT_EQ(input->scalar_type(), executorch::aten::ScalarType::Float);
  EXPECT_EQ(input->nbytes(), 24u);
  EXPECT_TRUE(input->is_memory_planned());
  EXPECT_EQ(input->name(), "");
  EXPECT_EQ(meta->num_memory_planned_buffers(), 1u);
  EXPECT_EQ(meta->memory_planned_buffer_size(0).get(), 64);
  EXPECT_EQ(meta->memory_planned_buffer_size(1).error(), Error::InvalidArgument);
  EXPECT_TRUE(meta->memory_planned_buffer_device(0)->is_cpu());
  EXPECT_EQ(meta->num_attributes(), 1u);
  EXPECT_EQ(meta->attribute_tensor_meta(0)->name(), "weight");
  EXPECT_EQ(meta->attribute_tensor_meta(1).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->num_instructions(), 1u);
  EXPECT_EQ(meta->num_backends(), 0u);
  EXPECT_EQ(meta->get_backend_name(0).error(), Error::InvalidArgument);
  EXPECT_FALSE(meta->uses_backend("Backend"));
}

TEST_F(ProgramTest, MetadataOfKindsAndBackends) {
  ProgramBuilder builder = every_value_program();
  builder.add_inline_delegate_data("x", 1);
  MethodBuilder& method = builder.add_method("delegated");
  method.add_delegate("B", fb::DataLocation::INLINE, 0);
  method.add_delegate("A", fb::DataLocation::INLINE, 0);
  method.add_delegate("B", fb::DataLocation::INLINE, 0);
  method.outputs({method.add_int_list({})});
  LoadedProgram loaded(builder);
  ASSERT_TRUE(loaded.ok());
  const Result<MethodMeta> meta = loaded->method_meta("forward");
  EXPECT_EQ(meta->input_tag(1).get(), Tag::None);
  EXPECT_EQ(meta->input_tag(2).get(), Tag::Int);
  EXPECT_EQ(meta->input_tensor_meta(2).error(), Error::InvalidArgument);
  const Result<MethodMeta> delegated = loaded->method_meta("delegated");
  EXPECT_EQ(delegated->num_backends(), 2u);
  EXPECT_STREQ(delegated->get_backend_name(0).get(), "B");
  EXPECT_STREQ(delegated->get_backend_name(1).get(), "A");
  EXPECT_TRUE(delegated->uses_backend("A"));
  EXPECT_EQ(delegated->output_tag(0).error(), Error::Internal);
}

// CVE-2025-30402: metadata of impossible shapes, also where nothing else was verified.
TEST_F(ProgramTest, MetadataOfImpossibleShapesIsRefused) {
  const std::vector<std::vector<int32_t>> kSizes = {
      {INT32_MAX, INT32_MAX, INT32_MAX}, {1 << 30, 1 << 30, 16}, {-1}, {0, -5}, {INT32_MIN, 2}};
  for (const std::vector<int32_t>& sizes : kSizes) {
    ProgramBuilder builder = add_program();
    fb::TensorT* tensor = nullptr;
    MethodBuilder& method = builder.add_method("bad");
    const int32_t x = method.add_tensor({{1}});
    method.inputs({x});
    tensor = &method.tensor(x);
    tensor->sizes = sizes;
    tensor->dim_order.resize(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      tensor->dim_order[i] = static_cast<uint8_t>(i);
    }
    const std::vector<uint8_t> file = builder.build();
    EXPECT_EQ(LoadedProgram(file).error(), Error::InvalidProgram);
    LoadedProgram minimal(file, Verification::Minimal);
    ASSERT_TRUE(minimal.ok());
    EXPECT_EQ(minimal->method_meta("bad")->input_tensor_meta(0).error(), Error::InvalidProgram);
    EXPECT_EQ(LoadedMethod(minimal, "bad").error(), Error::InvalidProgram);
  }
}

TEST_F(ProgramTest, LoaderErrorsArePassedOn) {
  const std::vector<uint8_t> bytes = add_program().build();
  for (int i = 0; i < 3; ++i) {
    AlignedFile file(bytes);
    MemoryLoader loader(file);
    loader.failing_load = i;
    EXPECT_EQ(Program::load(&loader).error(), Error::AccessFailed);
    EXPECT_EQ(loader.num_held, 0);
  }
  EXPECT_EQ(Program::load(nullptr).error(), Error::InvalidArgument);
}

TEST_F(ProgramTest, ShortFilesAreRefused) {
  for (size_t size = 0; size < 64; ++size) {
    EXPECT_FALSE(LoadedProgram(std::vector<uint8_t>(size, 0)).ok());
  }
}

TEST_F(ProgramTest, OutputEncodingIsText) {
  ProgramBuilder builder;
  builder.add_method("forward").plan().container_meta_type->encoded_out_str = "T1#1($)";
  builder.add_method("other").plan().container_meta_type.reset();
  LoadedProgram loaded(builder);
  ASSERT_TRUE(loaded.ok());
  EXPECT_STREQ(loaded->get_output_flattening_encoding("forward").get(), "T1#1($)");
  EXPECT_EQ(loaded->get_output_flattening_encoding("other").error(), Error::InvalidProgram);
}

}  // namespace
}  // namespace executorch::runtime::testing
