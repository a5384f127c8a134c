// SPDX-License-Identifier: BSD-3-Clause
// Device allocators and the buffers made with them; data loaders of users.
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/device_memory_buffer.h>
#include <executorch/runtime/core/version.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using etensor::DeviceIndex;
using etensor::DeviceType;

namespace {

class CountingAllocator final : public DeviceAllocator {
 public:
  Result<void*> allocate(size_t nbytes, DeviceIndex, size_t) override {
    if (nbytes > 1024) {
      return Error::MemoryAllocationFailed;
    }
    ++live;
    return std::malloc(nbytes);
  }
  void deallocate(void* ptr, DeviceIndex) override {
    --live;
    std::free(ptr);
  }
  Error copy_host_to_device(void* dst, const void* src, size_t nbytes, DeviceIndex) override {
    std::memcpy(dst, src, nbytes);
    return Error::Ok;
  }
  Error copy_device_to_host(void* dst, const void* src, size_t nbytes, DeviceIndex) override {
    std::memcpy(dst, src, nbytes);
    return Error::Ok;
  }
  DeviceType device_type() const override { return DeviceType::CUDA; }

  int live = 0;
};

TEST(DeviceMemoryTest, BuffersOwnTheirMemory) {
  EXPECT_EQ(DeviceMemoryBuffer::create(16, DeviceType::CPU).error(), Error::NotFound);
  static CountingAllocator allocator;
  register_device_allocator(&allocator);
  register_device_allocator(&allocator);
  EXPECT_EQ(get_device_allocator(DeviceType::CUDA), &allocator);
  EXPECT_EQ(get_device_allocator(static_cast<DeviceType>(-1)), nullptr);
  EXPECT_EQ(get_device_allocator(static_cast<DeviceType>(100)), nullptr);
  {
    auto created = DeviceMemoryBuffer::create(16, DeviceType::CUDA);
    ASSERT_TRUE(created.ok());
    DeviceMemoryBuffer first = std::move(*created);
    EXPECT_EQ(first.size(), 16u);
    EXPECT_EQ(first.as_span().size(), 16u);
    DeviceMemoryBuffer second;
    second = std::move(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(allocator.live, 1);
    second = DeviceMemoryBuffer();
    EXPECT_EQ(allocator.live, 0);
    EXPECT_EQ(DeviceMemoryBuffer::create(4096, DeviceType::CUDA).error(),
              Error::MemoryAllocationFailed);
  }
  EXPECT_EQ(allocator.live, 0);
  static CountingAllocator another;
  EXPECT_DEATH(register_device_allocator(&another), "");
}

// A loader as users write them: only what must be overridden.
class StringLoader final : public DataLoader {
 public:
  explicit StringLoader(std::string text) : text_(std::move(text)) {}
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    if (offset > text_.size() || size > text_.size() - offset) {
      return Error::InvalidArgument;
    }
    return FreeableBuffer(text_.data() + offset, size, nullptr);
  }
  Result<size_t> size() const override { return text_.size(); }

 private:
  std::string text_;
};

TEST(DataLoaderTest, UsersMayWriteTheirOwn) {
  const StringLoader loader("hello");
  const DataLoader& base = loader;
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::Backend, 3, "Name");
  EXPECT_EQ(info.segment_index, 3u);
  const auto part = base.load(1, 3, info);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(std::memcmp(part->data(), "ell", 3), 0);
  EXPECT_EQ(base.load(1, SIZE_MAX, info).error(), Error::InvalidArgument);
  char buffer[4];
  EXPECT_EQ(base.load_into(0, 4, info, buffer), Error::NotImplemented);
  EXPECT_EQ(base.size().get(), 5u);
}

TEST(VersionTest, NumbersAndTextAgree) {
  EXPECT_EQ(std::string(ET_VERSION), std::to_string(ET_VERSION_MAJOR) + "." +
                                         std::to_string(ET_VERSION_MINOR) + "." +
                                         std::to_string(ET_VERSION_PATCH));
  static_assert(ET_VERSION_CHECK(1, 0, 0) && !ET_VERSION_CHECK(99, 0, 0));
  static_assert(ET_VERSION_CODE ==
                (ET_VERSION_MAJOR << 16 | ET_VERSION_MINOR << 8 | ET_VERSION_PATCH));
}

}  // namespace
