// SPDX-License-Identifier: BSD-3-Clause
// Every loader against every kind of range: it gives the bytes of the file or an error, and nothing
// else.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/file_descriptor_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/data_loader/shared_ptr_data_loader.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::extension::BufferDataLoader;
using executorch::extension::FileDataLoader;
using executorch::extension::FileDescriptorDataLoader;
using executorch::extension::MmapDataLoader;
using executorch::extension::SharedPtrDataLoader;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;

namespace {

constexpr size_t kSize = 10000;  // three pages, the last one in part

std::vector<uint8_t> contents() {
  std::vector<uint8_t> bytes(kSize);
  std::iota(bytes.begin(), bytes.end(), uint8_t(0));
  return bytes;
}

std::string write_file(const std::string& name, size_t size = kSize) {
  const std::string path = testing::TempDir() + "/data_loader_" + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(contents().data()), static_cast<std::streamsize>(size));
  return path;
}

template <typename Loader>
std::unique_ptr<DataLoader> own(Result<Loader> loader) {
  return loader.ok() ? std::make_unique<Loader>(std::move(loader.get())) : nullptr;
}

std::unique_ptr<DataLoader> open_mapped(MmapDataLoader::MlockConfig config) {
  return own(MmapDataLoader::from(write_file("mapped").c_str(), config));
}

struct Case {
  const char* name;
  std::function<std::unique_ptr<DataLoader>()> open;
};

const Case kCases[] = {
    {"File", [] { return own(FileDataLoader::from(write_file("file").c_str())); }},
    {"FileDescriptor",
     [] {
       const int fd = ::open(write_file("fd").c_str(), O_RDONLY);
       return own(FileDescriptorDataLoader::fromFileDescriptorUri(
           ("fd:///" + std::to_string(fd)).c_str()));
     }},
    {"Mmap", [] { return open_mapped(MmapDataLoader::MlockConfig::NoMlock); }},
    {"MmapMadvise", [] { return open_mapped(MmapDataLoader::MlockConfig::UseMadvise); }},
    {"MmapMlock", [] { return open_mapped(MmapDataLoader::MlockConfig::UseMlockIgnoreErrors); }},
    {"Buffer",
     []() -> std::unique_ptr<DataLoader> {
       static const std::vector<uint8_t> bytes = contents();
       return std::make_unique<BufferDataLoader>(bytes.data(), bytes.size());
     }},
    {"SharedPtr",
     []() -> std::unique_ptr<DataLoader> {
       auto bytes = std::make_shared<std::vector<uint8_t>>(contents());
       return std::make_unique<SharedPtrDataLoader>(std::shared_ptr<void>(bytes, bytes->data()),
                                                    bytes->size());
     }},
};

const DataLoader::SegmentInfo kInfo(DataLoader::SegmentInfo::Type::Program);

class EveryLoader : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    loader_ = GetParam().open();
    ASSERT_NE(loader_, nullptr);
  }

  std::unique_ptr<DataLoader> loader_;
};

TEST_P(EveryLoader, GivesTheBytesOfARangeOrAnError) {
  RecordProperty("req", "EXT-019");
  EXPECT_EQ(loader_->size().get(), kSize);
  const size_t numbers[] = {
      0, 1, 4095, 4096, 4097, kSize - 1, kSize, kSize + 1, size_t(1) << 63, SIZE_MAX - 1, SIZE_MAX};
  const std::vector<uint8_t> expected = contents();
  for (const size_t offset : numbers) {
    for (const size_t size : numbers) {
      const bool inside = size <= kSize && offset <= kSize - size;
      const Result<FreeableBuffer> loaded = loader_->load(offset, size, kInfo);
      std::vector<uint8_t> copied(kSize + 1, 0xee);
      const Error error = loader_->load_into(offset, size, kInfo, copied.data());
      if (!inside) {
        EXPECT_EQ(loaded.error(), Error::InvalidArgument) << offset << " " << size;
        EXPECT_EQ(error, Error::InvalidArgument) << offset << " " << size;
        continue;
      }
      ASSERT_TRUE(loaded.ok()) << offset << " " << size;
      ASSERT_EQ(error, Error::Ok);
      EXPECT_EQ(loaded->size(), size);
      if (size > 0) {
        EXPECT_EQ(std::memcmp(loaded->data(), expected.data() + offset, size), 0);
        EXPECT_EQ(std::memcmp(copied.data(), expected.data() + offset, size), 0);
      }
      EXPECT_EQ(copied[size], 0xee);
    }
  }
}

TEST_P(EveryLoader, NeedsABufferToLoadInto) {
  EXPECT_EQ(loader_->load_into(0, 1, kInfo, nullptr), Error::InvalidArgument);
  EXPECT_EQ(loader_->load_into(0, 0, kInfo, nullptr), Error::Ok);
}

INSTANTIATE_TEST_SUITE_P(DataLoaders, EveryLoader, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

class DataLoaders : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }
};

TEST_F(DataLoaders, FilesThatCannotBeOpened) {
  EXPECT_EQ(FileDataLoader::from("").error(), Error::AccessFailed);
  EXPECT_EQ(FileDataLoader::from(nullptr).error(), Error::InvalidArgument);
  EXPECT_EQ(FileDataLoader::from("/nowhere/x").error(), Error::AccessFailed);
  EXPECT_EQ(FileDataLoader::from("/tmp").error(), Error::AccessFailed);
  EXPECT_EQ(FileDataLoader::from(write_file("f").c_str(), 3).error(), Error::InvalidArgument);
  EXPECT_EQ(FileDataLoader::from(write_file("f").c_str(), 0).error(), Error::InvalidArgument);
  EXPECT_EQ(MmapDataLoader::from(nullptr).error(), Error::InvalidArgument);
  EXPECT_EQ(MmapDataLoader::from("").error(), Error::AccessFailed);
  EXPECT_EQ(MmapDataLoader::from("/nowhere/x").error(), Error::AccessFailed);
  EXPECT_EQ(MmapDataLoader::from("/tmp").error(), Error::AccessFailed);
}

TEST_F(DataLoaders, FileDescriptorUris) {
  for (const char* uri :
       {"", "fd://1", "fd:///", "fd:///-1", "fd:///1x", "fd:///99999999999999", "file:///1"}) {
    EXPECT_EQ(FileDescriptorDataLoader::fromFileDescriptorUri(uri).error(), Error::InvalidArgument)
        << uri;
  }
  EXPECT_EQ(FileDescriptorDataLoader::fromFileDescriptorUri("fd:///1000000").error(),
            Error::AccessFailed);
}

TEST_F(DataLoaders, AlignmentIsKept) {
  for (size_t alignment : {1, 16, 64, 4096}) {
    auto loader = FileDataLoader::from(write_file("f").c_str(), alignment);
    ASSERT_TRUE(loader.ok());
    const auto loaded = loader->load(3, 50, kInfo);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(loaded->data()) % alignment, 0u);
  }
}

TEST_F(DataLoaders, MovedFromLoadersSaySo) {
  auto file = FileDataLoader::from(write_file("f").c_str());
  FileDataLoader other(std::move(file.get()));
  EXPECT_EQ(file->load(0, 1, kInfo).error(), Error::InvalidState);
  EXPECT_EQ(file->size().error(), Error::InvalidState);
  EXPECT_TRUE(other.load(0, 1, kInfo).ok());
  auto mapped = MmapDataLoader::from(write_file("m").c_str());
  MmapDataLoader other_mapped(std::move(mapped.get()));
  EXPECT_EQ(mapped->load(0, 1, kInfo).error(), Error::InvalidState);
  EXPECT_EQ(mapped->load_into(0, 0, kInfo, nullptr), Error::InvalidState);
}

TEST_F(DataLoaders, FileDescriptorsAreClosedWithTheirLoader) {
  const int fd = ::open(write_file("owned").c_str(), O_RDONLY);
  const std::string uri = "fd:///" + std::to_string(fd);
  {
    auto loader = FileDescriptorDataLoader::fromFileDescriptorUri(uri.c_str());
    ASSERT_TRUE(loader.ok());
    const FileDescriptorDataLoader moved(std::move(loader.get()));
    EXPECT_NE(::fcntl(fd, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

// What is loaded is the memory itself, which stays when it is freed.
TEST_F(DataLoaders, LoadersOfMemoryCopyNothing) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(contents());
  const BufferDataLoader buffer(bytes->data(), kSize);
  const SharedPtrDataLoader shared(std::shared_ptr<void>(bytes, bytes->data()), kSize);
  for (const DataLoader* loader :
       {static_cast<const DataLoader*>(&buffer), static_cast<const DataLoader*>(&shared)}) {
    auto loaded = loader->load(7, 100, kInfo);
    EXPECT_EQ(loaded->data(), bytes->data() + 7);
    loaded->Free();
    EXPECT_EQ(loaded->data(), nullptr);
    EXPECT_EQ((*bytes)[7], 7);
  }
}

TEST_F(DataLoaders, FreedBuffersOfFilesAreEmpty) {
  auto loader = FileDataLoader::from(write_file("freed").c_str());
  auto loaded = loader->load(0, kSize, kInfo);
  loaded->Free();
  EXPECT_EQ(loaded->data(), nullptr);
  EXPECT_EQ(loaded->size(), 0u);
  auto nothing = loader->load(kSize, 0, kInfo);
  EXPECT_EQ(nothing->data(), nullptr);
  EXPECT_EQ(nothing->size(), 0u);
}

// A limit of no locked memory: root is not held to it, so the test gives that up in a child.
TEST_F(DataLoaders, MemoryThatCannotBeLocked) {
  const std::string path = write_file("locked");
  const auto load_locked = [&path](MmapDataLoader::MlockConfig config) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (::getuid() == 0 && ::setuid(65534) != 0)) {
      ::_exit(99);
    }
    const auto loader = MmapDataLoader::from(path.c_str(), config);
    const Error error = loader.ok() ? loader->load(0, kSize, kInfo).error() : loader.error();
    ::_exit(static_cast<int>(error));
  };
  using Config = MmapDataLoader::MlockConfig;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // The sanitizers' own mlock() locks nothing and succeeds.
  EXPECT_EXIT(load_locked(Config::UseMlock), testing::ExitedWithCode(0), "");
#else
  EXPECT_EXIT(load_locked(Config::UseMlock),
              testing::ExitedWithCode(static_cast<int>(Error::NotSupported)), "Cannot lock");
#endif
  EXPECT_EXIT(load_locked(Config::UseMlockIgnoreErrors), testing::ExitedWithCode(0), "");
}

TEST_F(DataLoaders, AFileThatBecameShorterGivesAnError) {
  const std::string path = write_file("shrinking");
  auto loader = FileDataLoader::from(path.c_str());
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  EXPECT_EQ(loader->load(0, kSize, kInfo).error(), Error::AccessFailed);
  EXPECT_TRUE(loader->load(0, 100, kInfo).ok());
}

TEST_F(DataLoaders, MappedBuffersOutliveTheirLoader) {
  std::unique_ptr<DataLoader> loader = open_mapped(MmapDataLoader::MlockConfig::NoMlock);
  Result<FreeableBuffer> buffer = loader->load(5000, 5000, kInfo);
  loader.reset();
  EXPECT_EQ(static_cast<const uint8_t*>(buffer->data())[0], uint8_t(5000));
}

TEST_F(DataLoaders, AnEmptyFile) {
  auto loader = MmapDataLoader::from(write_file("empty", 0).c_str());
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ(loader->load(0, 0, kInfo)->size(), 0u);
  EXPECT_EQ(loader->load(0, 1, kInfo).error(), Error::InvalidArgument);
}

}  // namespace
