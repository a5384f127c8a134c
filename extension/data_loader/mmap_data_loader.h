// SPDX-License-Identifier: BSD-3-Clause
// Maps ranges of a file into memory: nothing is copied, and the system may drop and re-read pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// Threads: load() and load_into() may be called at the same time. The file must not change or
// become shorter while buffers live. Buffers may outlive the loader.
class MmapDataLoader final : public executorch::runtime::DataLoader {
 public:
  enum class MlockConfig {
    NoMlock,               // pages come and go
    UseMlock,              // pages stay in memory; NotSupported when the system refuses
    UseMlockIgnoreErrors,  // as UseMlock if the system agrees
    UseMadvise,            // pages are read ahead
  };

  //   InvalidArgument  no name
  //   AccessFailed     the file cannot be opened
  static executorch::runtime::Result<MmapDataLoader> from(
      const char* file_name, MlockConfig mlock_config = MlockConfig::UseMlock);

  ET_DEPRECATED static executorch::runtime::Result<MmapDataLoader> From(
      const char* file_name, MlockConfig mlock_config = MlockConfig::UseMlock) {
    return from(file_name, mlock_config);
  }
  ET_DEPRECATED static executorch::runtime::Result<MmapDataLoader> From(const char* file_name,
                                                                        bool use_mlock) {
    return from(file_name, use_mlock ? MlockConfig::UseMlock : MlockConfig::NoMlock);
  }

  // The moved-from loader gives InvalidState.
  MmapDataLoader(MmapDataLoader&& rhs) noexcept;
  MmapDataLoader(const MmapDataLoader&) = delete;
  MmapDataLoader& operator=(const MmapDataLoader&) = delete;
  MmapDataLoader& operator=(MmapDataLoader&&) = delete;
  ~MmapDataLoader() override;

  // The data is aligned as its offset in the file is. InvalidArgument outside the file,
  // AccessFailed if it cannot be mapped, NotSupported if it cannot be locked.
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const DataLoader::SegmentInfo& segment_info) const override;

  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    ET_UNUSED const SegmentInfo& segment_info,
                                                    void* buffer) const override;

  ET_NODISCARD executorch::runtime::Result<size_t> size() const override;

 private:
  MmapDataLoader(int fd, size_t file_size, size_t page_size, MlockConfig mlock_config,
                 std::string file_name)
      : file_name_(std::move(file_name)),
        file_size_(file_size),
        page_size_(page_size),
        fd_(fd),
        mlock_config_(mlock_config) {}

  executorch::runtime::Error check(size_t offset, size_t size) const;
  executorch::runtime::Error lock_or_advise(void* pages, size_t size) const;

  std::string file_name_;
  size_t file_size_;
  size_t page_size_;
  int fd_;  // -1 when moved from
  MlockConfig mlock_config_;
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::MmapDataLoader;
}  // namespace torch::executor::util
