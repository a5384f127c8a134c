// SPDX-License-Identifier: BSD-3-Clause
// What the system says of large pages.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace executorch::extension::testing {

/// Bytes of this process in large pages.
inline size_t bytes_in_large_pages() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  while (file >> word && word != "AnonHugePages:") {
  }
  size_t kilobytes = 0;
  file >> kilobytes;
  return kilobytes * 1024;
}

}  // namespace executorch::extension::testing
