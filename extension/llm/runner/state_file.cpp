// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/data_writer/replacing_file.h>
#include <executorch/extension/llm/runner/state_file.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include <executorch/runtime/platform/log.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

constexpr uint64_t kMagic = 0x4554415453544545;  // "EETSTATE"
constexpr uint64_t kVersion = 1;
constexpr size_t kBlock = 4096;  // what is all zero by blocks is left out

// FNV-1a by 8 bytes.
class Checksum {
 public:
  void add(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (; size > 0; size -= std::min<size_t>(size, 8)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes, std::min<size_t>(size, 8));
      sum_ = (sum_ ^ word) * 0x100000001B3;
      sum_ ^= sum_ >> 29;
      bytes += std::min<size_t>(size, 8);
    }
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0xCBF29CE484222325;
};

struct Run {
  size_t offset;
  size_t size;
};

std::vector<Run> runs_of(Span<uint8_t> memory) {
  static constexpr std::array<uint8_t, kBlock> kZeros{};
  std::vector<Run> runs;
  for (size_t at = 0; at < memory.size(); at += kBlock) {
    const size_t size = std::min(kBlock, memory.size() - at);
    if (std::memcmp(memory.data() + at, kZeros.data(), size) == 0) {
      continue;
    }
    if (!runs.empty() && runs.back().offset + runs.back().size == at) {
      runs.back().size += size;
    } else {
      runs.push_back({at, size});
    }
  }
  return runs;
}

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}
  void bytes(const void* data, size_t size) {
    sum_.add(data, size);
    file_.stream().write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  void number(uint64_t value) { bytes(&value, sizeof(value)); }
  Error finish() {
    number(sum_.value());
    return file_.commit();
  }

 private:
  ReplacingFile file_;
  Checksum sum_;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary) {
    if (file_.seekg(0, std::ios::end)) {
      left_ = static_cast<uint64_t>(file_.tellg());
      file_.seekg(0);
    }
  }
  bool is_open() const { return file_.is_open(); }
  uint64_t left() const { return left_; }
  // False beyond the end.
  bool bytes(void* data, size_t size) {
    if (size > left_ || !file_.read(static_cast<char*>(data), static_cast<std::streamsize>(size))) {
      return false;
    }
    left_ -= size;
    sum_.add(data, size);
    return true;
  }
  bool skip(size_t size) {
    std::array<uint8_t, kBlock> scratch;
    for (; size > 0; size -= std::min(size, kBlock)) {
      if (!bytes(scratch.data(), std::min(size, kBlock))) {
        return false;
      }
    }
    return true;
  }
  bool number(uint64_t& value) { return bytes(&value, sizeof(value)); }
  uint64_t checksum() const { return sum_.value(); }

 private:
  std::ifstream file_;
  uint64_t left_ = 0;
  Checksum sum_;
};

Error corrupted(const std::string& path, const char* what) {
  ET_LOG(Error, "%s is no whole file of save_state(): %s", path.c_str(), what);
  return Error::InvalidExternalData;
}

struct Head {
  uint64_t fingerprint;
  std::vector<uint64_t> context;
};

Result<Head> read_head(Reader& file, const std::string& path) {
  ET_CHECK_OR_RETURN_ERROR(file.is_open(), AccessFailed, "Cannot read %s", path.c_str());
  uint64_t magic = 0;
  uint64_t version = 0;
  uint64_t count = 0;
  Head head{};
  if (!file.number(magic) || magic != kMagic || !file.number(version) || version != kVersion) {
    return corrupted(path, "its first bytes are others");
  }
  if (!file.number(head.fingerprint) || !file.number(count) ||
      count > file.left() / sizeof(uint64_t)) {
    return corrupted(path, "it ends within the tokens");
  }
  head.context.resize(static_cast<size_t>(count));
  for (uint64_t& token : head.context) {
    if (!file.number(token)) {
      return corrupted(path, "it ends within the tokens");
    }
  }
  return head;
}

// Checks the buffers; with `write`, puts them into the memory.
Error read_buffers(Reader& file, const std::string& path, const std::vector<Span<uint8_t>>& memory,
                   bool write) {
  uint64_t count = 0;
  if (!file.number(count) || count != memory.size()) {
    return corrupted(path, "it has another number of buffers");
  }
  for (const Span<uint8_t>& buffer : memory) {
    uint64_t size = 0;
    uint64_t num_runs = 0;
    if (!file.number(size) || size != buffer.size() || !file.number(num_runs)) {
      return corrupted(path, "a buffer has another size");
    }
    if (write && !buffer.empty()) {
      std::memset(buffer.data(), 0, buffer.size());
    }
    for (uint64_t i = 0; i < num_runs; ++i) {
      uint64_t offset = 0;
      uint64_t length = 0;
      if (!file.number(offset) || !file.number(length) || offset > size || length > size - offset) {
        return corrupted(path, "bytes lie beyond their buffer");
      }
      if (!(write ? file.bytes(buffer.data() + offset, static_cast<size_t>(length))
                  : file.skip(static_cast<size_t>(length)))) {
        return corrupted(path, "it ends within a buffer");
      }
    }
  }
  const uint64_t expected = file.checksum();
  uint64_t found = 0;
  if (!file.number(found) || found != expected || file.left() != 0) {
    return corrupted(path, "its checksum is another");
  }
  return Error::Ok;
}

}  // namespace

int64_t file_fingerprint(const std::vector<std::string>& paths) {
  constexpr uint64_t kSamples = 64;
  Checksum sum;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
      return 0;
    }
    const auto size = static_cast<uint64_t>(file.tellg());
    sum.add(&size, sizeof(size));
    std::array<char, kBlock> block{};
    for (uint64_t i = 0; i < kSamples; ++i) {
      const uint64_t last = size > kBlock ? size - kBlock : 0;
      file.seekg(static_cast<std::streamoff>(last / (kSamples - 1) * i));
      file.read(block.data(), static_cast<std::streamsize>(std::min<uint64_t>(size, kBlock)));
      if (!file) {
        return 0;
      }
      sum.add(block.data(), block.size());
    }
  }
  return static_cast<int64_t>(sum.value() >> 1);
}

Error write_state_file(const std::string& path, Module& module, const std::string& method,
                       int64_t fingerprint, const std::vector<uint64_t>& context) {
  const auto memory = ET_UNWRAP(module.planned_memory(method));
  Writer file(path);
  file.number(kMagic);
  file.number(kVersion);
  file.number(static_cast<uint64_t>(fingerprint));
  file.number(context.size());
  file.bytes(context.data(), context.size() * sizeof(uint64_t));
  file.number(memory.size());
  for (const Span<uint8_t>& buffer : memory) {
    const std::vector<Run> runs = runs_of(buffer);
    file.number(buffer.size());
    file.number(runs.size());
    for (const Run& run : runs) {
      file.number(run.offset);
      file.number(run.size);
      file.bytes(buffer.data() + run.offset, run.size);
    }
  }
  return file.finish();
}

Result<std::vector<uint64_t>> read_state_file(const std::string& path, Module& module,
                                              const std::string& method, int64_t fingerprint) {
  const auto memory = ET_UNWRAP(module.planned_memory(method));
  for (const bool write : {false, true}) {
    Reader file(path);
    auto head = ET_UNWRAP(read_head(file, path));
    ET_CHECK_OR_RETURN_ERROR(head.fingerprint == static_cast<uint64_t>(fingerprint),
                             InvalidArgument, "%s was saved with another program", path.c_str());
    ET_CHECK_OK_OR_RETURN_ERROR(read_buffers(file, path, memory, write));
    if (write) {
      return std::move(head.context);
    }
  }
  return Error::Internal;
}

}  // namespace executorch::extension::llm
