// SPDX-License-Identifier: BSD-3-Clause
// The demo compiler's text: what is read, what is refused; the names that are registered. Whole
// programs run in backends/demo/test.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <executorch/backends/demo/runtime/compiled_text.h>
#include <executorch/backends/demo/runtime/demo_backends.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::backends::demo {
namespace {

using runtime::Error;

class CompiledTextTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime::runtime_init(); }

  runtime::Result<CompiledText> read(const std::string& text) {
    allocator_.reset();
    return read_compiled_text(text.data(), text.size(), allocator_);
  }

  alignas(16) uint8_t memory_[1024];
  runtime::MemoryAllocator allocator_{sizeof(memory_), memory_};
};

const std::string kSin = "op:demo::aten.sin.default, numel:1, dtype:torch.float32<debug_handle>7";
const std::string kAdd = "op:demo::aten.add.Tensor, numel:1, dtype:torch.float32<debug_handle>8";

TEST_F(CompiledTextTest, ReadsBothForms) {
  for (const char* version : {"", "version:0"}) {
    auto text = read("2" + std::string(version) + "#" + kSin + "#" + kAdd + "#");
    ASSERT_TRUE(text.ok()) << version;
    ASSERT_EQ(text->ops.size(), 2u);
    EXPECT_EQ(text->ops[0].kind, OpKind::kSin);
    EXPECT_EQ(text->ops[0].debug_handle, 7u);
    EXPECT_EQ(text->ops[1].kind, OpKind::kAdd);
    EXPECT_EQ(text->ops[1].outputs, 1u);
    EXPECT_EQ(text->num_outputs, 1u);
  }
}

TEST_F(CompiledTextTest, ReadsWiring) {
  auto text = read("2#" + kAdd + "<args>1,0<out>1#" + kAdd + "<args>2,2<out>0,2#");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->ops[0].operands[0], 1u);
  EXPECT_EQ(text->ops[1].operands[1], 2u);
  EXPECT_EQ(text->ops[1].outputs, 5u);
  EXPECT_EQ(text->num_outputs, 3u);
}

TEST_F(CompiledTextTest, RefusesEveryPrefix) {
  const std::string whole = "2version:0#" + kSin + "#" + kAdd + "<args>1,0<out>0#";
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(read(whole.substr(0, size)).ok(), false) << size;
  }
  EXPECT_TRUE(read(whole).ok());
}

TEST_F(CompiledTextTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(read("1version:1#" + kSin + "#").error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(read("1#" + kSin + "#more").error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(read("99999999999#").error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(read("1#" + kSin + "<out>1#").error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(read("1#" + kSin + "<out>64#").error(), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(read("1#op:demo::aten.cos.default, numel:1").error(), Error::NotSupported);
  EXPECT_EQ(read("1#op:demo::aten.sin.default, numel:1, dtype:torch.int8").error(),
            Error::NotSupported);
  EXPECT_EQ(read("1000#" + kSin + "#").error(), Error::MemoryAllocationFailed);
}

TEST(DemoBackendsTest, RegisteringAgainHasNoEffect) {
  runtime::runtime_init();
  const size_t before = runtime::get_num_registered_backends();
  EXPECT_EQ(register_demo_backends(), Error::Ok);
  EXPECT_EQ(runtime::get_num_registered_backends(), before);
  EXPECT_EQ(runtime::get_backend_class("BackendWithCompilerDemo"), &compiler_demo_backend());
  EXPECT_EQ(runtime::get_backend_class("ExecutorBackend"), &executor_backend());
}

}  // namespace
}  // namespace executorch::backends::demo
