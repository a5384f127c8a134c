// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/backend/files/disk_cache.h>
#include <executorch/runtime/backend/files/folders.h>
#include <executorch/runtime/backend/files/whole_file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace executorch::runtime {

namespace {

constexpr char kAccessed[] = ".accessed";
constexpr size_t kMaxKeyLength = 200;
constexpr time_t kDay = 24 * 60 * 60;

Error access_failed(const char* what, const std::string& path) {
  ET_LOG(Error, "cache: cannot %s %s: %s", what, path.c_str(), std::strerror(errno));
  return Error::AccessFailed;
}

bool is_key(const std::string& key) {
  constexpr std::string_view separators("/\\\0", 3);
  return !key.empty() && key.size() <= kMaxKeyLength && key[0] != '.' &&
         key.find_first_of(separators.data(), 0, separators.size()) == std::string::npos;
}

time_t time_of(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 ? found.st_mtime : 0;
}

bool exists(const std::string& path) {
  return is_folder(path) || is_file(path);
}

/// Waits while signals come.
bool lock_file(int file, int how) {
  int done = 0;
  do {
    done = flock(file, how);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

/// An open file with a lock, or -1. A file that was taken away while we waited for its lock is not
/// the one that others lock: then again.
int open_locked(const std::string& path, int how) {
  while (true) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
      return -1;
    }
    struct stat ours{};
    struct stat found{};
    if (!lock_file(file, how)) {
      close(file);
      return -1;
    }
    if (fstat(file, &ours) == 0 && stat(path.c_str(), &found) == 0 && ours.st_ino == found.st_ino) {
      return file;
    }
    close(file);
  }
}

}  // namespace

DiskCache::Entry::Entry(Entry&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DiskCache::Entry& DiskCache::Entry::operator=(Entry&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

DiskCache::Entry::~Entry() {
  if (lock_ >= 0) {
    close(lock_);
  }
}

Result<std::shared_ptr<DiskCache>> DiskCache::open(const Options& options) {
  std::shared_ptr<DiskCache> cache(new (std::nothrow) DiskCache(options));
  ET_CHECK_OR_RETURN_ERROR(cache != nullptr, MemoryAllocationFailed, "cache: no memory");
  ET_CHECK_OK_OR_RETURN_ERROR(cache->make_own_folders());
  ET_CHECK_OK_OR_RETURN_ERROR(cache->check_version());
  std::vector<std::string> names;
  list_folder(cache->temp(), &names);
  for (const std::string& name : names) {
    const std::string path = cache->temp() + "/" + name;
    if (time_of(path) + kDay < std::time(nullptr)) {
      remove_all(path);
    }
  }
  return cache;
}

Error DiskCache::make_own_folders() const {
  for (const std::string& folder : {models(), temp()}) {
    if (!make_folders(folder)) {
      return access_failed("make the folder", folder);
    }
  }
  return Error::Ok;
}

Error DiskCache::check_version() const {
  const std::string path = options_.folder + "/version.txt";
  std::ifstream in(path, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (found == options_.version) {
    return Error::Ok;
  }
  purge();
  return write_whole_file(path, options_.version);
}

Result<DiskCache::Entry> DiskCache::get(const std::string& key, const Make& make) const {
  ET_CHECK_OR_RETURN_ERROR(is_key(key), InvalidArgument,
                           "cache: expected a key that is the name of a file, found \"%s\"",
                           key.c_str());
  ET_CHECK_OK_OR_RETURN_ERROR(make_own_folders());
  // In use from here on: nobody takes away what is there, or what is made below.
  Entry entry(path_of(key), open_locked(lock_path(key), LOCK_SH));
  if (entry.lock_ < 0) {
    return access_failed("lock", lock_path(key));
  }
  if (!exists(entry.path())) {
    const std::string making = temp() + "/" + key + ".lock";
    const Entry maker(making, open_locked(making, LOCK_EX));
    if (maker.lock_ < 0) {
      return access_failed("lock", making);
    }
    // Others may have made it while we waited.
    const Error error = exists(entry.path()) ? Error::Ok : make_entry(key, make);
    unlink(making.c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(error);
    trim();
  }
  futimens(entry.lock_, nullptr);
  return entry;
}

Error DiskCache::make_entry(const std::string& key, const Make& make) const {
  const std::string part = temporary_path();
  Error error = make(part);
  if (error == Error::Ok && std::rename(part.c_str(), path_of(key).c_str()) != 0) {
    error = access_failed("keep", path_of(key));
  }
  if (error != Error::Ok) {
    remove_all(part);
  }
  return error;
}

void DiskCache::remove(Entry entry) const {
  const size_t start = models().size() + 1;
  const std::string key =
      entry.path_.substr(start, entry.path_.size() - start - options_.suffix.size());
  entry = Entry("", -1);
  take_away(key);
}

bool DiskCache::take_away(const std::string& key) const {
  const Entry lock("", open_locked(lock_path(key), LOCK_EX | LOCK_NB));
  if (lock.lock_ < 0) {
    return false;
  }
  // It is gone at once, however long its files take.
  const std::string gone = temporary_path();
  const bool is_gone =
      std::rename(path_of(key).c_str(), gone.c_str()) == 0 ? remove_all(gone) : errno == ENOENT;
  return unlink(lock_path(key).c_str()) == 0 && is_gone;
}

namespace {

/// Keys of the locks in a folder of entries.
std::vector<std::string> keys_of(const std::string& models) {
  std::vector<std::string> names;
  list_folder(models, &names);
  std::vector<std::string> keys;
  const size_t tail = sizeof(kAccessed) - 1;
  for (const std::string& name : names) {
    if (name.size() > tail && name.compare(name.size() - tail, tail, kAccessed) == 0) {
      keys.push_back(name.substr(0, name.size() - tail));
    }
  }
  return keys;
}

}  // namespace

bool DiskCache::purge() const {
  bool is_done = true;
  for (const std::string& key : keys_of(models())) {
    is_done = take_away(key) && is_done;
  }
  return is_done;
}

void DiskCache::trim() const {
  struct Used {
    time_t when;
    std::string key;
    uint64_t num_bytes;
  };
  std::vector<Used> entries;
  uint64_t total = 0;
  for (const std::string& key : keys_of(models())) {
    entries.push_back({time_of(lock_path(key)), key, total_bytes(path_of(key))});
    total += entries.back().num_bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Used& one, const Used& other) { return one.when < other.when; });
  for (const Used& each : entries) {
    if (total > options_.max_bytes && take_away(each.key)) {
      total -= each.num_bytes;
    }
  }
}

std::string DiskCache::temporary_path() const {
  return temp() + "/" + unique_name();
}

}  // namespace executorch::runtime
