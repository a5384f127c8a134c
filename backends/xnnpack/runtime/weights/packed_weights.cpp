// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK asks for a block by the addresses of filter and bias; here they become what they hold.
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/weights/weight_pages.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

namespace executorch::backends::xnnpack {

using runtime::Error;

namespace {

constexpr size_t kNotFound = SIZE_MAX;

struct Block {
  void* data;
  size_t size;
  uint64_t seed;  // of its name
  size_t users;
};

struct Store {
  std::mutex mutex;
  std::map<Fingerprint::Value, Block> blocks;
  std::atomic<size_t> times_packed{0};
};

/// Never destroyed: delegates may live longer than the statics of this file.
Store& store() {
  static Store& instance = *new Store();
  return instance;
}

/// One user less of each block.
void release(const std::vector<Fingerprint::Value>& names) {
  const std::lock_guard<std::mutex> lock(store().mutex);
  for (const Fingerprint::Value& name : names) {
    const auto found = store().blocks.find(name);
    if (--found->second.users == 0) {
      free_weights(found->second.data);
      store().blocks.erase(found);
    }
  }
}

}  // namespace

PackedWeights::PackedWeights(std::shared_ptr<PackedFile> file, pthreadpool_t pool)
    : provider_(), file_(std::move(file)), pool_(pool) {
  using Key = xnn_weights_cache_look_up_key;
  provider_.context = this;
  provider_.look_up = [](void* context, const Key* key) {
    return static_cast<PackedWeights*>(context)->look_up(*key);
  };
  provider_.reserve_space = [](void* context, size_t size) {
    return static_cast<PackedWeights*>(context)->reserve(size);
  };
  provider_.look_up_or_insert = [](void* context, const Key* key, void* block, size_t size) {
    return static_cast<PackedWeights*>(context)->insert(*key, block, size);
  };
  provider_.is_finalized = [](void*) { return true; };
  provider_.offset_to_addr = [](void*, size_t offset) { return reinterpret_cast<void*>(offset); };
}

PackedWeights::~PackedWeights() {
  free_weights(reserved_);
  for (void* block : own_) {
    free_weights(block);
  }
  release(shared_);
}

uint64_t PackedWeights::seed() const {
  return file_ == nullptr ? process_seed() : file_->seed();
}

void PackedWeights::describe(const void* filter, const void* bias,
                             const Fingerprint::Value& fingerprint) {
  const auto [place, is_new] = sources_.insert({{filter, bias}, {fingerprint}});
  if (!is_new && place->second.fingerprint != fingerprint) {
    place->second.is_ambiguous = true;
  }
}

bool PackedWeights::holds(const void* filter, const void* bias) const {
  const auto found = sources_.find({filter, bias});
  return found != sources_.end() && found->second.is_held && found->second.is_looked_up &&
         !found->second.is_ambiguous;
}

/// Null for what is this delegate's own.
PackedWeights::Description* PackedWeights::describes(const xnn_weights_cache_look_up_key& key) {
  const auto found = sources_.find({key.kernel, key.bias});
  return found == sources_.end() || found->second.is_ambiguous ? nullptr : &found->second;
}

/// The key's seed says which kernel reads the block.
Fingerprint::Value PackedWeights::name_of(const Description& source,
                                          const xnn_weights_cache_look_up_key& key) const {
  Fingerprint name(seed());
  name.add(source.fingerprint.first);
  name.add(source.fingerprint.second);
  name.add(key.seed);
  return name.value();
}

size_t PackedWeights::look_up(const xnn_weights_cache_look_up_key& key) {
  Description* const source = describes(key);
  if (source == nullptr) {
    return kNotFound;
  }
  source->is_looked_up = true;
  const Fingerprint::Value name = name_of(*source, key);
  {
    const std::lock_guard<std::mutex> lock(store().mutex);
    if (store().blocks.count(name) != 0) {
      return hold(*source, name);
    }
  }
  const void* const filed = file_ == nullptr ? nullptr : file_->find(name);
  source->is_held = source->is_held || filed != nullptr;
  return filed == nullptr ? kNotFound : reinterpret_cast<size_t>(filed);
}

/// The block of that name, which is there; its caller has the lock.
size_t PackedWeights::hold(Description& source, const Fingerprint::Value& name) {
  Block& block = store().blocks.find(name)->second;
  ++block.users;
  shared_.push_back(name);
  source.is_held = true;
  return reinterpret_cast<size_t>(block.data);
}

void* PackedWeights::reserve(size_t size) {
  ++store().times_packed;
  free_weights(reserved_);
  reserved_ = allocate_weights(size, pool_);
  return reserved_;
}

/// Keeps the block that was reserved, or drops it for one that somebody packed in the meantime.
/// XNNPACK has none where look_up() gave one.
size_t PackedWeights::insert(const xnn_weights_cache_look_up_key& key, void* block, size_t size) {
  if (block == nullptr) {
    return look_up(key);
  }
  reserved_ = nullptr;
  Description* const source = describes(key);
  if (source == nullptr) {
    own_.push_back(block);
    return reinterpret_cast<size_t>(block);
  }
  const Fingerprint::Value name = name_of(*source, key);
  const std::lock_guard<std::mutex> lock(store().mutex);
  if (!store().blocks.insert({name, {block, size, seed(), 0}}).second) {
    free_weights(block);
  }
  return hold(*source, name);
}

const void* PackedWeights::find_or_pack(const void* filter, const void* bias, uint32_t seed,
                                        size_t size, runtime::FunctionRef<bool(void*)> pack) {
  xnn_weights_cache_look_up_key key{};
  key.seed = seed;
  key.kernel = filter;
  key.bias = bias;
  size_t place = look_up(key);
  if (place == kNotFound) {
    void* const block = reserve(size);
    if (block == nullptr || !pack(block)) {
      return nullptr;
    }
    place = insert(key, block, size);
  }
  return reinterpret_cast<const void*>(place);
}

Error PackedWeights::save() {
  Error result = Error::Ok;
  for (const std::shared_ptr<PackedFile>& file : PackedFile::all_open()) {
    std::vector<PackedFile::Block> blocks;
    std::vector<Fingerprint::Value> names;
    {
      const std::lock_guard<std::mutex> lock(store().mutex);
      for (auto& [name, block] : store().blocks) {
        if (block.seed == file->seed()) {
          ++block.users;  // stays while it is written
          names.push_back(name);
          blocks.push_back({name, block.data, block.size});
        }
      }
    }
    const Error written = file->add(blocks);
    result = written == Error::Ok ? result : written;
    release(names);
  }
  return result;
}

size_t PackedWeights::total_bytes() {
  const std::lock_guard<std::mutex> lock(store().mutex);
  size_t total = 0;
  for (const auto& [name, block] : store().blocks) {
    total += block.size;
  }
  return total;
}

size_t PackedWeights::times_packed() {
  return store().times_packed;
}

}  // namespace executorch::backends::xnnpack
