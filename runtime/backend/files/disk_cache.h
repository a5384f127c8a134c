// SPDX-License-Identifier: BSD-3-Clause
// DiskCache: what a backend compiled on this device, kept between runs of programs, in files or
// folders by key.
//
//   const auto cache = ET_UNWRAP(DiskCache::open({folder}));
//   DiskCache::Entry entry = ET_UNWRAP(cache->get(key, [&](const std::string& path) {
//     return compile(model, path);
//   }));
//   load(entry.path());
//
// In the folder: models/<key><suffix> is an entry, models/<key>.accessed is locked while somebody
// uses it, and its time is that of the last use; temp/ has what is being made, and locks of those
// who make it; version.txt says all this. Entries appear whole, by a rename, so that a crash leaves
// none that is half made. Threads and processes may share a folder: one makes what others wait for,
// and nothing that is in use is taken away.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <executorch/runtime/core/result.h>

namespace executorch::runtime {

class DiskCache {
 public:
  struct Options {
    std::string folder;
    std::string suffix = {};
    /// Of what is in it; a folder of another version is emptied.
    std::string version = "1";
    /// Entries that were not used for the longest time go when all together have more.
    uint64_t max_bytes = uint64_t{10} << 30;
  };

  /// Something that is kept, in use as long as the object lives.
  class Entry {
   public:
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&& other) noexcept;
    ~Entry();
    const std::string& path() const { return path_; }

   private:
    friend class DiskCache;
    Entry(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
    std::string path_;
    int lock_;
  };

  /// Makes the folder, and takes away what a crash left in it a day ago or earlier. AccessFailed
  /// where it cannot be made or written.
  static Result<std::shared_ptr<DiskCache>> open(const Options& options);

  /// Writes a file or folder at a path where nothing is.
  using Make = std::function<Error(const std::string& path)>;

  /// The entry of a key, which `make` writes if there is none. Errors: InvalidArgument for a key
  /// that is no name of a file (empty, of more than 200 bytes, with a separator, "." first);
  /// AccessFailed; what `make` says.
  Result<Entry> get(const std::string& key, const Make& make) const;

  /// Takes away an entry that is of no use, unless others use it.
  void remove(Entry entry) const;

  /// Evicts all entries that nothing uses. False when some are left that could not be taken away.
  bool purge() const;

  /// A path where nothing is, for what is needed for a moment.
  std::string temporary_path() const;

  const std::string& folder() const { return options_.folder; }

 private:
  explicit DiskCache(const Options& options) : options_(options) {}
  std::string models() const { return options_.folder + "/models"; }
  std::string temp() const { return options_.folder + "/temp"; }
  std::string lock_path(const std::string& key) const { return models() + "/" + key + ".accessed"; }
  std::string path_of(const std::string& key) const {
    return models() + "/" + key + options_.suffix;
  }
  Error make_own_folders() const;
  Error check_version() const;
  Error make_entry(const std::string& key, const Make& make) const;
  bool take_away(const std::string& key) const;
  void trim() const;

  Options options_;
};

}  // namespace executorch::runtime
