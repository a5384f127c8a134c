// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/backend/files/folders.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace executorch::runtime {

namespace {

bool has_kind(const std::string& path, mode_t kind) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && (found.st_mode & S_IFMT) == kind;
}

bool is_link(const std::string& path) {
  struct stat found{};
  return lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
}

}  // namespace

bool is_folder(const std::string& path) {
  return has_kind(path, S_IFDIR);
}

bool is_file(const std::string& path) {
  return has_kind(path, S_IFREG);
}

bool list_folder(const std::string& path, std::vector<std::string>* names) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(path.c_str()), closedir);
  if (open == nullptr) {
    return false;
  }
  while (const dirent* entry = readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names->push_back(name);
    }
  }
  std::sort(names->begin(), names->end());
  return true;
}

bool make_folders(const std::string& path) {
  if (is_folder(path)) {
    return true;
  }
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), 0777);
  }
  return mkdir(path.c_str(), 0777) == 0 || (errno == EEXIST && is_folder(path));
}

bool remove_all(const std::string& path) {
  if (is_link(path) || !is_folder(path)) {
    return unlink(path.c_str()) == 0 || errno == ENOENT;
  }
  std::vector<std::string> names;
  bool is_done = list_folder(path, &names);
  for (const std::string& name : names) {
    is_done = remove_all(path + "/" + name) && is_done;
  }
  return is_done && (rmdir(path.c_str()) == 0 || errno == ENOENT);
}

uint64_t total_bytes(const std::string& path) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    return S_ISREG(found.st_mode) ? static_cast<uint64_t>(found.st_size) : 0;
  }
  std::vector<std::string> names;
  uint64_t total = 0;
  list_folder(path, &names);
  for (const std::string& name : names) {
    total += total_bytes(path + "/" + name);
  }
  return total;
}

}  // namespace executorch::runtime
