// SPDX-License-Identifier: BSD-3-Clause
// A directory as one blob, which is how a Core ML model stands in a program file, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace executorch::backends::coreml {

/// A file or a directory of a blob. Children stand before their directory, the root is the last.
struct BlobNode {
  std::string name;
  bool is_directory = false;
  std::string_view contents;                             // of a file: bytes of the blob
  std::vector<std::pair<std::string, size_t>> children;  // of a directory: name and place
};

/// The blob is the bytes of all files, then JSON that lists the nodes, with its bytes reversed: it
/// is read from the end. Zeros may follow it. Nothing of the blob is trusted: names that could
/// leave their directory, places that are not those of a tree, and regions outside of the files'
/// bytes are errors. `error` is what was expected and found; nodes refer to `blob`.
bool read_directory_blob(std::string_view blob, std::vector<BlobNode>* nodes, std::string* error);

/// Writes the root directory of a blob into `folder`, which exists; a directory of the root's name
/// must not.
bool write_directory(std::string_view blob, const std::string& folder, std::string* error);

/// The directory at `path` as a blob; equal directories give equal bytes.
bool make_directory_blob(const std::string& path, std::string* blob, std::string* error);

/// Writes a node of a blob at a path where nothing is: files as they stand in the blob, and the
/// directories around them.
bool write_node(const std::vector<BlobNode>& nodes, size_t index, const std::string& path,
                std::string* error);

/// The place of a file or directory by its path below the root, such as "metadata.json"; false
/// where there is none.
bool find_node(const std::vector<BlobNode>& nodes, std::string_view path, size_t* index);

/// The contents of a file.
bool find_file(const std::vector<BlobNode>& nodes, std::string_view path,
               std::string_view* contents);

}  // namespace executorch::backends::coreml
