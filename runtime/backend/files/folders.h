// SPDX-License-Identifier: BSD-3-Clause
// Folders of a POSIX system. Calls of the system, since std::filesystem would need a newer
// libstdc++ than release wheels may ask for. What returns false leaves the reason in errno.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::runtime {

bool is_folder(const std::string& path);
bool is_file(const std::string& path);

/// What is in it, without "." and "..", sorted.
bool list_folder(const std::string& path, std::vector<std::string>* names);

/// With those above it; Ok for one that is there.
bool make_folders(const std::string& path);

/// A file, or a folder and all in it; links are taken away, not followed. True when there is none.
bool remove_all(const std::string& path);

/// Of the files in it, or of one.
uint64_t total_bytes(const std::string& path);

}  // namespace executorch::runtime
