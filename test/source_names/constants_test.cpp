// SPDX-License-Identifier: BSD-3-Clause
// Values and members that sources of users rely on across folders.
#include <executorch/extension/flat_tensor/serialize/flat_tensor_header.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/tensor_impl.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <executorch/runtime/platform/system.h>
#include <executorch/schema/extended_header.h>

#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace {

namespace runtime = ::executorch::runtime;
namespace extension = ::executorch::extension;

static_assert(runtime::internal::kKernelKeyBufSize == 659);
static_assert(runtime::kTensorShapeStringSizeLimit == 1 + 10 * 16 + 2 * 16 + 1);
static_assert(runtime::internal::kMaximumPrintableTensorShapeElement == INT32_MAX);
static_assert(runtime::kTensorDimensionLimit == 16);
static_assert(runtime::kTagNameBufferSize == 19);
static_assert(runtime::kMaxOptionKeyLength == 64 && runtime::kMaxOptionValueLength == 256);
static_assert(extension::internal::GRAIN_SIZE == 32768);
static_assert(runtime::Program::kMinHeadBytes == 64);
static_assert(runtime::ExtendedHeader::kNumHeadBytes == 64);
static_assert(runtime::ExtendedHeader::kHeaderOffset == 8);
static_assert(runtime::ExtendedHeader::kMagicSize == 4);
static_assert(extension::FlatTensorHeader::kNumHeadBytes == 64);
static_assert(extension::FlatTensorHeader::kHeaderOffset == 8);
static_assert(extension::FlatTensorHeader::kHeaderExpectedLength == 40);
static_assert(extension::flat_tensor::kSchemaVersion == 0);
static_assert(extension::kCachingAllocatorDefaultAlignment == 64);
static_assert(runtime::MemoryAllocator::kDefaultAlignment == alignof(void*));
static_assert(runtime::testing::internal::kDefaultRtol == 1e-5);
static_assert(runtime::testing::internal::kDefaultAtol == 1e-8);
static_assert(runtime::testing::internal::kDefaultHalfAtol == 1e-3);
static_assert(runtime::testing::internal::kDefaultBFloat16Atol == 1e-2);
static_assert(std::is_same_v<extension::SmallVector<int, 4>::value_type, int>);
static_assert(std::is_same_v<extension::FlatHashMap<int, char>::mapped_type, char>);

TEST(ConstantsTest, Text) {
  EXPECT_EQ(std::memcmp(runtime::ExtendedHeader::kMagic, "eh00", 4), 0);
  EXPECT_EQ(std::memcmp(extension::FlatTensorHeader::kMagic, "FH01", 4), 0);
  EXPECT_STREQ(ET_PRI_TENSOR_SIZE "," ET_PRI_TENSOR_DIM "," ET_PRI_TENSOR_NUMEL, "zd,zd,zd");
  EXPECT_STREQ(ET_PRI_SIZES_AND_STRIDES, "d");
  EXPECT_STREQ(DYNAMIC_LIBRARY_NOT_SUPPORTED, "NOT_SUPPORTED");
  EXPECT_STREQ(DYNAMIC_LIBRARY_NOT_FOUND, "NOT_FOUND");
  EXPECT_NE(et_pal_get_shared_library_name(nullptr), nullptr);
  static constexpr ET_OPERATOR_NAME_TYPE kType = "add.out";
  ET_DEFINE_OPERATOR_NAME(name, "add.out");
  EXPECT_STREQ(name, kType);
}

TEST(ConstantsTest, KernelKeys) {
  char key[runtime::internal::kKernelKeyBufSize] = "?";
  EXPECT_EQ(runtime::internal::make_kernel_key_string({}, key, sizeof(key)), runtime::Error::Ok);
  EXPECT_STREQ(key, "");
}

// What allocators of users call of their base.
class OwnAllocator : public runtime::MemoryAllocator {
 public:
  OwnAllocator() : MemoryAllocator(0, nullptr) {}
  void* allocate(size_t, size_t alignment) override {
    return isPowerOf2(alignment) ? alignPointer(bytes_ + 1, alignment) : nullptr;
  }
  int32_t id() { return prof_id(); }

 private:
  alignas(64) uint8_t bytes_[256];
};

TEST(ConstantsTest, MembersForAllocatorsOfUsers) {
  OwnAllocator allocator;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(allocator.allocate(1, 64)) % 64, 0u);
  EXPECT_EQ(allocator.allocate(1, 48), nullptr);
  EXPECT_EQ(allocator.id(), -1);
}

// The methods that a Module holds, and where each has its memory.
class OpenModule : public extension::Module {
 public:
  using Module::Module;
  static_assert(std::is_same_v<decltype(MethodHolder::method), std::unique_ptr<runtime::Method>>);
  static_assert(std::is_same_v<decltype(MethodHolder::memory_manager),
                               std::unique_ptr<runtime::MemoryManager>>);
  size_t held() const { return methods_.size() + methods_.count(std::string("forward")); }
};

TEST(ConstantsTest, MembersForModulesOfUsers) {
  EXPECT_EQ(OpenModule("/nowhere/model.pte").held(), 0u);
}

bool is_large(int number) {
  if ET_UNLIKELY (number > 10) {
    return true;
  }
  if ET_LIKELY (number < 10) {
    return false;
  }
  return false;
}

TEST(ConstantsTest, ConditionsThatAreLikely) {
  EXPECT_TRUE(is_large(11));
  EXPECT_FALSE(is_large(9));
}

}  // namespace
