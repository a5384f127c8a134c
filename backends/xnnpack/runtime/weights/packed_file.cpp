// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/runtime/memory.h>
#include <executorch/backends/xnnpack/runtime/weights/packed_file.h>
#include <executorch/runtime/platform/log.h>

#include <cpuinfo.h>
#include <xnnpack.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#if __has_include(<sys/mman.h>)
#include <executorch/extension/data_writer/replacing_file.h>

#include <sys/mman.h>
#include <sys/stat.h>
#endif

namespace executorch::backends::xnnpack {

using runtime::Error;
using runtime::Result;

/// As in the file, in the byte order of the processor. `check` is of the block's bytes.
struct PackedFile::Entry {
  uint64_t name[2];
  uint64_t check[2];
  uint64_t offset;
  uint64_t size;

  Name key() const { return {name[0], name[1]}; }
};

namespace {

struct Header {
  char magic[8];
  uint64_t stamp[2];
  uint64_t seed;
  uint64_t num_entries;
  uint64_t check[2];  // of what is before it, and of the entries
};

constexpr char kMagic[sizeof(Header::magic)] = {'E', 'T', 'P', 'A', 'C', 'K', '0', '1'};

size_t align_up(size_t size) {
  return (size + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

/// What decides how a kernel wants its weights, beside their shapes.
Fingerprint::Value stamp() {
  Fingerprint found(0);
  found.add(xnn_experimental_get_build_identifier_data(),
            xnn_experimental_get_build_identifier_size());
  found.add(EXECUTORCH_XNNPACK_SOURCES, sizeof(EXECUTORCH_XNNPACK_SOURCES));
#if CPUINFO_ARCH_X86 || CPUINFO_ARCH_X86_64 || CPUINFO_ARCH_ARM || CPUINFO_ARCH_ARM64
  if (cpuinfo_initialize()) {
    found.add(&cpuinfo_isa, sizeof(cpuinfo_isa));
  }
#endif
  return found.value();
}

template <typename Entry>
Fingerprint::Value check_of(const Header& header, const Entry* entries) {
  Fingerprint found(header.seed);
  found.add(&header, offsetof(Header, check));
  found.add(entries, header.num_entries * sizeof(Entry));
  return found.value();
}

bool equals(const uint64_t (&words)[2], const Fingerprint::Value& value) {
  return words[0] == value.first && words[1] == value.second;
}

void put(const Fingerprint::Value& value, uint64_t (&words)[2]) {
  words[0] = value.first;
  words[1] = value.second;
}

struct OpenFiles {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<PackedFile>> files;
};

OpenFiles& open_files() {
  static OpenFiles& instance = *new OpenFiles();
  return instance;
}

}  // namespace

#if __has_include(<sys/mman.h>)

class PackedFile::Mapping final {
 public:
  /// Null when there is no such file.
  static std::unique_ptr<const Mapping> of(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return nullptr;
    }
    struct stat status{};
    void* bytes = MAP_FAILED;
    if (::fstat(descriptor, &status) == 0 && status.st_size > 0 &&
        static_cast<uint64_t>(status.st_size) <= std::numeric_limits<size_t>::max()) {
      bytes = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_SHARED,
                     descriptor, 0);
    }
    ::close(descriptor);
    if (bytes == MAP_FAILED) {
      return nullptr;
    }
    return std::unique_ptr<const Mapping>(
        new Mapping(static_cast<const uint8_t*>(bytes), static_cast<size_t>(status.st_size)));
  }
  ~Mapping() { ::munmap(const_cast<uint8_t*>(data_), size_); }

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Mapping(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  const uint8_t* data_;
  size_t size_;
};

Result<std::shared_ptr<PackedFile>> PackedFile::open(const std::string& path) {
  const std::lock_guard<std::mutex> lock(open_files().mutex);
  std::weak_ptr<PackedFile>& place = open_files().files[path];
  std::shared_ptr<PackedFile> file = place.lock();
  if (file == nullptr) {
    file.reset(new PackedFile(path));
    place = file;
  }
  return file;
}

Error PackedFile::add(const std::vector<Block>& blocks) {
  const std::lock_guard<std::mutex> lock(writing_);
  std::map<Name, Block> all;
  bool has_new = false;
  for (const Block& block : blocks) {
    all.insert({block.name, block});
    has_new = has_new || (added_.count(block.name) == 0 && find(block.name) == nullptr);
  }
  if (!has_new) {
    return Error::Ok;
  }
  for (size_t i = 0; i < num_entries_; ++i) {
    const Name name = entries_[i].key();
    if (const void* data = find(name)) {
      all.insert({name, {name, data, static_cast<size_t>(entries_[i].size)}});
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(write(all));
  for (const auto& [name, block] : all) {
    added_.insert(name);
  }
  return Error::Ok;
}

Error PackedFile::write(const std::map<Name, Block>& blocks) const {
  std::vector<Entry> entries;
  size_t end = sizeof(Header) + blocks.size() * sizeof(Entry);
  for (const auto& [name, block] : blocks) {
    Entry& made = entries.emplace_back();
    put(name, made.name);
    put(Fingerprint::of(block.data, block.size, seed_), made.check);
    made.offset = align_up(end);
    made.size = block.size;
    end = made.offset + made.size;
  }
  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  put(stamp(), header.stamp);
  header.seed = seed_;
  header.num_entries = entries.size();
  put(check_of(header, entries.data()), header.check);

  extension::ReplacingFile file(path_);
  size_t written = 0;
  const auto append = [&](const void* data, size_t size) {
    file.stream().write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    written += size;
  };
  constexpr char kPadding[kBlockAlignment]{};
  append(&header, sizeof(header));
  append(entries.data(), entries.size() * sizeof(Entry));
  auto entry = entries.begin();
  for (const auto& [name, block] : blocks) {
    append(kPadding, (entry++)->offset - written);
    append(block.data, block.size);
  }
  append(kPadding, sizeof(kPadding));  // a kernel may read a vector that begins in the last block
  return file.commit();
}

#else

class PackedFile::Mapping final {
 public:
  static std::unique_ptr<const Mapping> of(const std::string&) { return nullptr; }
  const uint8_t* data() const { return nullptr; }
  size_t size() const { return 0; }
};

Result<std::shared_ptr<PackedFile>> PackedFile::open(const std::string& path) {
  ET_LOG(Error, "XNNPACK: no file of packed weights on this system, found %s", path.c_str());
  return Error::NotSupported;
}

Error PackedFile::add(const std::vector<Block>&) {
  return Error::NotSupported;
}

#endif

PackedFile::PackedFile(std::string path) : path_(std::move(path)), seed_(process_seed()) {
  mapping_ = Mapping::of(path_);
  if (mapping_ != nullptr) {
    read();
  }
}

PackedFile::~PackedFile() = default;

std::vector<std::shared_ptr<PackedFile>> PackedFile::all_open() {
  const std::lock_guard<std::mutex> lock(open_files().mutex);
  std::vector<std::shared_ptr<PackedFile>> found;
  for (const auto& [path, place] : open_files().files) {
    if (auto file = place.lock()) {
      found.push_back(std::move(file));
    }
  }
  return found;
}

void PackedFile::read() {
  const uint64_t size = mapping_->size();
  const auto* header = reinterpret_cast<const Header*>(mapping_->data());
  const auto refuse = [&](const char* why) {
    ET_LOG(Info, "XNNPACK: weights are packed anew, %s %s", path_.c_str(), why);
    mapping_ = nullptr;
  };
  if (size < sizeof(Header) || !std::equal(std::begin(kMagic), std::end(kMagic), header->magic)) {
    return refuse("is no file of packed weights");
  }
  if (!equals(header->stamp, stamp())) {
    return refuse("is of another build or processor");
  }
  const auto* entries = reinterpret_cast<const Entry*>(header + 1);
  if (header->num_entries > (size - sizeof(Header)) / sizeof(Entry) ||
      !equals(header->check, check_of(*header, entries))) {
    return refuse("is corrupted: its entries do not have the sum that it says");
  }
  const uint64_t first = sizeof(Header) + header->num_entries * sizeof(Entry);
  for (size_t i = 0; i < header->num_entries; ++i) {
    const Entry& each = entries[i];
    if (each.offset < first || each.offset % kBlockAlignment != 0 || each.offset > size ||
        each.size > size - each.offset || (i > 0 && each.key() <= entries[i - 1].key())) {
      return refuse("is corrupted: a block lies outside of it");
    }
  }
  seed_ = header->seed;
  entries_ = entries;
  num_entries_ = header->num_entries;
  states_ = std::make_unique<std::atomic<State>[]>(num_entries_);
}

const PackedFile::Entry* PackedFile::entry(const Name& name) const {
  const Entry* const end = entries_ + num_entries_;
  const Entry* const found = std::lower_bound(
      entries_, end, name, [](const Entry& a, const Name& b) { return a.key() < b; });
  return found != end && found->key() == name ? found : nullptr;
}

const void* PackedFile::find(const Name& name) {
  const Entry* const found = entry(name);
  if (found == nullptr) {
    return nullptr;
  }
  const uint8_t* const data = mapping_->data() + found->offset;
  std::atomic<State>& state = states_[static_cast<size_t>(found - entries_)];
  if (state == State::kUnchecked) {  // two threads may both check
    const bool is_good = equals(found->check, Fingerprint::of(data, found->size, seed_));
    if (!is_good) {
      ET_LOG(Error, "XNNPACK: %s is corrupted at bytes %zu to %zu; these weights are packed anew",
             path_.c_str(), static_cast<size_t>(found->offset),
             static_cast<size_t>(found->offset + found->size));
    }
    state = is_good ? State::kGood : State::kCorrupted;
  }
  return state == State::kGood ? data : nullptr;
}

}  // namespace executorch::backends::xnnpack
