// SPDX-License-Identifier: BSD-3-Clause
// Each function of the vendor's library fails in turn; payloads and arguments that are refused.
// What runs is tested from Python, with the conformance suite.
#include <executorch/backends/skeleton_compiler/runtime/delegate.h>
#include <executorch/backends/skeleton_compiler/runtime/skeleton_compiler_backend.h>
#include <executorch/backends/skeleton_compiler/skeleton_compiler_generated.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <cstdlib>

namespace executorch::backends::skeleton_compiler {
namespace {

using executorch::aten::ScalarType;
using extension::full;
using runtime::Error;

/// One binary, under any key but "absent".
class OneBinary final : public runtime::NamedDataMap {
 public:
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override {
    return Error::NotImplemented;
  }
  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    ET_CHECK_OR_RETURN_ERROR(key != "absent", NotFound, "absent");
    return runtime::FreeableBuffer(bytes, size, nullptr);
  }
  Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotImplemented;
  }
  runtime::Result<uint32_t> get_num_keys() const override { return 1; }
  runtime::Result<const char*> get_key(uint32_t) const override { return "key"; }

  void* bytes = nullptr;
  size_t size = 0;
};

class SkeletonCompilerBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_skeleton_compiler_backend(), Error::Ok);
#define SKELETON_COMPILER_LINKED(function) api_.function = ::function;
    SKELETON_COMPILER_FUNCTIONS(SKELETON_COMPILER_LINKED)
#undef SKELETON_COMPILER_LINKED
    compile("v2");
    payload_.graph = "graph0";
    payload_.version = VENDOR_VERSION;
    add_binary("v2", "key");
  }
  void TearDown() override { vendor_bytes_free(data_.bytes); }

  /// x + x of float32 [2].
  void compile(const char* device) {
    vendor_graph* graph = nullptr;
    ASSERT_EQ(vendor_graph_create("graph0", &graph), VENDOR_OK);
    const int64_t sizes[] = {2};
    uint32_t ids[] = {0, 0};
    for (const vendor_role role : {VENDOR_INPUT, VENDOR_VALUE}) {
      const vendor_tensor tensor = {role, VENDOR_FLOAT32, 1, 0, sizes, nullptr, nullptr};
      ASSERT_EQ(vendor_graph_add_tensor(graph, &tensor, &ids[role]), VENDOR_OK);
    }
    const uint32_t inputs[] = {ids[0], ids[0]};
    const vendor_op op = {VENDOR_ADD, 2, inputs, ids[1]};
    ASSERT_EQ(vendor_graph_validate(graph, device, &op), VENDOR_OK);
    ASSERT_EQ(vendor_graph_add_op(graph, &op), VENDOR_OK);
    ASSERT_EQ(vendor_graph_set_outputs(graph, &ids[1], 1), VENDOR_OK);
    ASSERT_EQ(vendor_compile(&graph, 1, device, 0, &data_.bytes, &data_.size), VENDOR_OK);
    vendor_graph_free(graph);
  }

  void add_binary(const char* device, const char* key) {
    auto binary = std::make_unique<fb_skeleton_compiler::BinaryT>();
    binary->device = device;
    binary->key = key;
    payload_.binaries.push_back(std::move(binary));
  }

  Error load(const SkeletonCompilerOptions& options = {}) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb_skeleton_compiler::Payload::Pack(builder, &payload_),
                   fb_skeleton_compiler::PayloadIdentifier());
    packed_.assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    return load_bytes(packed_.size(), options);
  }
  Error load_bytes(size_t size, const SkeletonCompilerOptions& options = {}) {
    auto made = Delegate::create(api_, {packed_.data(), size}, &data_, options);
    delegate_ = made.ok() ? std::move(*made) : nullptr;
    return made.error();
  }

  Error run(std::vector<extension::TensorPtr> tensors) {
    std::vector<runtime::EValue> values(tensors.begin(), tensors.end());
    std::vector<runtime::EValue*> pointers;
    for (runtime::EValue& value : values) {
      pointers.push_back(&value);
    }
    return delegate_->execute({pointers.data(), pointers.size()});
  }

  /// Loads and runs once; the first error.
  Error load_and_run() {
    ET_CHECK_OK_OR_RETURN_ERROR(load());
    return run({full({2}, 3.0), full({2}, 0.0)});
  }

  Api api_;
  OneBinary data_;
  fb_skeleton_compiler::PayloadT payload_;
  std::vector<uint8_t> packed_;
  std::unique_ptr<Delegate> delegate_;
};

/// Any function of the library, where it fails.
template <typename... Arguments>
vendor_status failed(Arguments...) {
  return VENDOR_REFUSED;
}
template <typename... Arguments>
void fail(vendor_status (*&function)(Arguments...)) {
  function = failed<Arguments...>;
}

TEST_F(SkeletonCompilerBackendTest, RunsWithTheLibrary) {
  ASSERT_EQ(load(), Error::Ok);
  const auto out = full({2}, 0.0);
  ASSERT_EQ(run({full({2}, 3.0), out}), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<float>()[1], 6.0f);
}

TEST_F(SkeletonCompilerBackendTest, EachFunctionMayFail) {
  const Api whole = api_;
  ASSERT_EQ(load_and_run(), Error::Ok);
  fail(api_.vendor_context_create);
  EXPECT_EQ(load_and_run(), Error::DelegateInvalidCompatibility);
  api_ = whole;
  fail(api_.vendor_context_ports);
  EXPECT_EQ(load_and_run(), Error::DelegateInvalidCompatibility);
  api_ = whole;
  fail(api_.vendor_context_run);
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_and_run(), Error::Internal);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("running a graph failed with status 1: "),
            std::string::npos);
  api_ = whole;
  EXPECT_EQ(load_and_run(), Error::Ok);
}

TEST_F(SkeletonCompilerBackendTest, AnotherVersionIsNamedWithBoth) {
  payload_.version = 2 << 16 | 4;
  testing::internal::CaptureStderr();
  EXPECT_EQ(load(), Error::NotSupported);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      message.find("the payload was made by the vendor's version 2.4, the library here is 2.1"),
      std::string::npos)
      << message;
  for (const uint32_t version : {1 << 16 | 9, 3 << 16}) {
    EXPECT_EQ(check_version(api_, version, "it"), Error::NotSupported) << version;
  }
  EXPECT_EQ(check_version(api_, 2 << 16, "it"), Error::Ok);
}

TEST_F(SkeletonCompilerBackendTest, TheDeviceNeedsABinary) {
  api_.vendor_device = [] { return "v3"; };
  add_binary("v1", "key");
  testing::internal::CaptureStderr();
  EXPECT_EQ(load(), Error::NotSupported);
  const std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      message.find("this device is v3, the program was compiled for v2, v1: export it with v3"),
      std::string::npos)
      << message;
}

TEST_F(SkeletonCompilerBackendTest, BinariesMustBeThereAndWhole) {
  ASSERT_EQ(load(), Error::Ok);
  EXPECT_EQ(Delegate::create(api_, {packed_.data(), packed_.size()}, nullptr).error(),
            Error::InvalidArgument);
  payload_.graph = "graph1";
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);
  payload_.graph = "graph0";
  payload_.binaries[0]->key = "absent";
  EXPECT_EQ(load(), Error::NotFound);
  payload_.binaries[0]->key = "key";
  static_cast<char*>(data_.bytes)[data_.size / 2] ^= 1;
  EXPECT_EQ(load(), Error::DelegateInvalidCompatibility);
}

TEST_F(SkeletonCompilerBackendTest, OptionsArriveAtTheLibrary) {
  SkeletonCompilerOptions options;
  options.runtime.performance = 1;
  EXPECT_EQ(load(options), Error::Ok);
  options.runtime.performance = 2;
  EXPECT_EQ(load(options), Error::DelegateInvalidCompatibility);
}

TEST_F(SkeletonCompilerBackendTest, ArgumentsMustBeWhatWasCompiledFor) {
  ASSERT_EQ(load(), Error::Ok);
  const auto x = full({2}, 1.0);
  EXPECT_EQ(run({x}), Error::InvalidArgument);
  EXPECT_EQ(run({full({3}, 1.0), x}), Error::InvalidArgument);
  EXPECT_EQ(run({full({2}, 1, ScalarType::Int), x}), Error::InvalidArgument);
  EXPECT_EQ(run({x, full({2}, 1, ScalarType::Int)}), Error::InvalidArgument);
  EXPECT_EQ(run({x, full({2}, 0.0)}), Error::Ok);  // no worse for it
}

/// But for padding at its end.
TEST_F(SkeletonCompilerBackendTest, EveryPrefixIsRefused) {
  ASSERT_EQ(load(), Error::Ok);
  for (size_t size = 0; size + sizeof(uint32_t) <= packed_.size(); ++size) {
    EXPECT_NE(load_bytes(size), Error::Ok) << size;
  }
}

#ifdef __linux__
TEST_F(SkeletonCompilerBackendTest, WithoutTheLibraryItIsNotAvailable) {
  const runtime::BackendInterface* backend = runtime::get_backend_class("SkeletonCompilerBackend");
  ASSERT_NE(backend, nullptr);
  const std::pair<const char*, const char*> wrong[] = {
      {"/there/is/none.so", "the vendor's library was not loaded (/there/is/none.so: "},
      {"libm.so.6", "libm.so.6 lacks vendor_version, vendor_device, "}};
  for (const auto& [name, expected] : wrong) {
    setenv("SKELETON_COMPILER_LIBRARY", name, 1);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(backend->is_available());
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
  // It is looked for again, and then there for good.
  setenv("SKELETON_COMPILER_LIBRARY", SKELETON_COMPILER_VENDOR, 1);
  EXPECT_TRUE(backend->is_available());
}
#endif

}  // namespace
}  // namespace executorch::backends::skeleton_compiler
