// SPDX-License-Identifier: BSD-3-Clause
// Files that others read whole or not at all: a crash, or another process that writes the same one,
// leaves no half of it. For backends that keep what they compiled.
#pragma once

#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/log.h>

namespace executorch {
namespace runtime {

/// No other thread or process has it.
inline std::string unique_name() {
  std::random_device random;
  std::string name;
  for (int words = 0; words < 4; ++words) {
    name += std::to_string(random()) + (words < 3 ? "-" : "");
  }
  return name;
}

/// AccessFailed, with the path in the log, when it cannot be written; what was there is still there
/// then.
inline Error write_whole_file(const std::string& path, std::string_view bytes) {
  const std::string part = path + "." + unique_name() + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "wb");
  bool is_done =
      file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  is_done = (file == nullptr || std::fclose(file) == 0) && is_done;
  if (!is_done || std::rename(part.c_str(), path.c_str()) != 0) {
    std::remove(part.c_str());
    ET_LOG(Error, "%s cannot be written", path.c_str());
    return Error::AccessFailed;
  }
  return Error::Ok;
}

}  // namespace runtime
}  // namespace executorch
