// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/elf_imports.h>
#include <executorch/backends/aoti/runtime/native_library.h>
#include <executorch/backends/aoti/runtime/sha256.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr size_t kHashLength = 64;

/// The hash that a key begins with; empty for one of old files.
std::string hash_in(const std::string& key) {
  const bool is_hash = key.size() > kHashLength && key[kHashLength] == '_' &&
                       key.find_first_not_of("0123456789abcdef") == kHashLength;
  return is_hash ? key.substr(0, kHashLength) : "";
}

Error check_hash(const std::string& key, Span<const uint8_t> bytes) {
  const std::string expected = hash_in(key), found = expected.empty() ? "" : sha256_of(bytes);
  ET_CHECK_OR_RETURN_ERROR(expected == found, InvalidProgram,
                           "the shared library %s has other bytes than its name says (SHA-256 %s): "
                           "it is not loaded",
                           key.c_str(), found.c_str());
  return Error::Ok;
}

bool is_served(const std::string& name, const std::vector<Span<const Shim>>& shims) {
  for (const auto& list : shims) {
    for (const Shim& shim : list) {
      if (name == shim.name) {
        return true;
      }
    }
  }
  return false;
}

Error check_imports(const std::string& key, Span<const uint8_t> bytes,
                    const std::vector<Span<const Shim>>& shims) {
  std::string missing;
  for (const std::string& name : ET_UNWRAP(imports_of(bytes))) {
    if (name.rfind("aoti_", 0) == 0 && !is_served(name, shims)) {
      missing += (missing.empty() ? "" : ", ") + name;
    }
  }
  ET_CHECK_OR_RETURN_ERROR(missing.empty(), NotSupported,
                           "the shared library %s calls what this runtime does not have: %s",
                           key.c_str(), missing.c_str());
  return Error::Ok;
}

/// What is loaded finds shims among the global symbols: there they must be ours, not those of a
/// libtorch in the same process.
Error publish_shims(const Shim& one) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  // Symbols of the program and of what was loaded for all, where RTLD_DEFAULT would add this
  // module.
  static void* const global = dlopen(nullptr, RTLD_NOW);
  void* found = dlsym(global, one.name);
  Dl_info here = {}, other = {};
  if (found == nullptr && dladdr(one.function, &here) != 0) {
    // Stays open: this module cannot go before those that call it.
    (void)dlopen(here.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    found = dlsym(global, one.name);
  }
  if (found != nullptr && found != one.function) {
    (void)dladdr(found, &other);
  }
  ET_CHECK_OR_RETURN_ERROR(
      found == one.function, AccessFailed,
      "expected %s to be this runtime's, found %s: link programs with --export-dynamic-symbol="
      "aoti_torch_*, and load no libtorch with RTLD_GLOBAL before",
      one.name, other.dli_fname == nullptr ? "none" : other.dli_fname);
  return Error::Ok;
}

/// A file of this process, in memory where the system can, else in a folder for a moment. Both say
/// why not in errno.
class LoadedFile {
 public:
  LoadedFile() {
#ifdef MFD_CLOEXEC
    file_ = memfd_create("aoti", MFD_CLOEXEC);
#endif
    if (file_ >= 0 && access(memory_path().c_str(), R_OK) == 0) {
      path_ = memory_path();
      return;
    }
    close_file();
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/aoti_XXXXXX";
    file_ = mkstemp(path_.data());
    is_on_disk_ = file_ >= 0;
  }
  ~LoadedFile() {
    close_file();
    if (is_on_disk_) {
      unlink(path_.c_str());
    }
  }
  LoadedFile(const LoadedFile&) = delete;
  LoadedFile& operator=(const LoadedFile&) = delete;

  bool write_all(Span<const uint8_t> bytes) {
    size_t at = 0;
    while (file_ >= 0 && at < bytes.size()) {
      const ssize_t count = write(file_, bytes.data() + at, bytes.size() - at);
      if (count <= 0) {
        return false;
      }
      at += static_cast<size_t>(count);
    }
    return file_ >= 0;
  }
  const std::string& path() const { return path_; }

 private:
  void close_file() {
    if (file_ >= 0) {
      close(file_);
      file_ = -1;
    }
  }
  /// Never the same twice in a process, though numbers of files are: the loader takes a path that
  /// it knows for the library that it knows.
  std::string memory_path() {
    static std::atomic<uint64_t> count{0};
    if (unique_.empty()) {
      for (uint64_t number = ++count; number > 0; number /= 2) {
        unique_ += number % 2 == 0 ? "/" : "/.";
      }
    }
    return "/proc/self/fd" + unique_ + "/" + std::to_string(file_);
  }

  int file_ = -1;
  bool is_on_disk_ = false;
  std::string path_, unique_;
};

}  // namespace

Result<std::unique_ptr<NativeLibrary>> NativeLibrary::load(
    const std::string& key, Span<const uint8_t> bytes, const std::vector<Span<const Shim>>& shims) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_hash(key, bytes));
  ET_CHECK_OK_OR_RETURN_ERROR(check_imports(key, bytes, shims));
  for (const auto& list : shims) {  // each may be of a module of its own
    ET_CHECK_OK_OR_RETURN_ERROR(publish_shims(list[0]));
  }
  LoadedFile file;
  ET_CHECK_OR_RETURN_ERROR(file.write_all(bytes), AccessFailed,
                           "%s: no file for %zu bytes of a shared library: %s", file.path().c_str(),
                           bytes.size(), std::strerror(errno));
  void* handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  ET_CHECK_OR_RETURN_ERROR(handle != nullptr, AccessFailed,
                           "the shared library %s was not loaded: %s", key.c_str(), dlerror());
  return std::unique_ptr<NativeLibrary>(new NativeLibrary(key, handle));
}

NativeLibrary::~NativeLibrary() {
  dlclose(handle_);
}

void* NativeLibrary::find(const char* name) const {
  return dlsym(handle_, name);
}

}  // namespace executorch::backends::aoti
