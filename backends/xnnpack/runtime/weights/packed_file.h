// SPDX-License-Identifier: BSD-3-Clause
// Packed weights in a file: who finds them there maps them, and packs nothing.
#pragma once

#include <executorch/backends/xnnpack/runtime/weights/fingerprint.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace executorch::backends::xnnpack {

/// Blocks of packed weights by name, as a file had them when it was opened. Any thread.
///
/// The file is: a header, an entry for each block, the blocks. It is of this build of XNNPACK, of
/// these features of the processor, and small enough to be mapped; any other is taken for one that
/// holds nothing. Entries are checked when it is opened, the bytes of a block when it is found
/// first.
class PackedFile final {
 public:
  using Name = Fingerprint::Value;
  struct Block {
    Name name;
    const void* data;
    size_t size;
  };

  /// The file at `path`, absolute or of the working folder: the same object for everyone who opens
  /// that path while somebody keeps it. One that is absent or cannot be used holds nothing; the log
  /// says why. NotSupported where files cannot be mapped.
  static runtime::Result<std::shared_ptr<PackedFile>> open(const std::string& path);
  static std::vector<std::shared_ptr<PackedFile>> all_open();
  ~PackedFile();
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  /// Of the names in the file.
  uint64_t seed() const { return seed_; }
  /// The bytes of a block, aligned to kBlockAlignment, valid as long as this object; null when it
  /// is not there or corrupted.
  const void* find(const Name& name);
  /// Replaces the file by one that holds its blocks and these, unless those are all in it. Later
  /// processes find them; this object stays as it is. AccessFailed when it cannot be written.
  runtime::Error add(const std::vector<Block>& blocks);

 private:
  struct Entry;
  class Mapping;
  enum class State : uint8_t { kUnchecked, kGood, kCorrupted };

  explicit PackedFile(std::string path);
  /// The entries when all of them make sense.
  void read();
  const Entry* entry(const Name& name) const;
  runtime::Error write(const std::map<Name, Block>& blocks) const;

  const std::string path_;
  uint64_t seed_;
  std::unique_ptr<const Mapping> mapping_;  // null for a file that holds nothing
  const Entry* entries_ = nullptr;          // in the mapping, by name
  size_t num_entries_ = 0;
  std::unique_ptr<std::atomic<State>[]> states_;  // of the entries' bytes
  std::mutex writing_;
  std::set<Name> added_;  // what add() has written
};

}  // namespace executorch::backends::xnnpack
