// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK asks for a block by the addresses of filter and bias; here they become what they hold.
#include <executorch/backends/xnnpack/runtime/packed_weights.h>
#include <executorch/backends/xnnpack/runtime/weight_pages.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kNotFound = SIZE_MAX;
constexpr uint64_t kPrime = 0x9E3779B185EBCA87;

struct Block {
  void* data;
  size_t size;
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

uint64_t process_seed() {
  static const uint64_t seed =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * kPrime ^
      reinterpret_cast<uintptr_t>(&store());
  return seed;
}

uint64_t mix(uint64_t value, uint64_t word) {
  value = (value ^ word) * kPrime;
  return value ^ (value >> 32);
}

/// Both halves of the product, in one word: "wyhash" (Wang Yi, 2019).
uint64_t fold(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  const uint64_t mask = UINT32_MAX;
  const uint64_t low = (a & mask) * (b & mask);
  const uint64_t middle = (a >> 32) * (b & mask) + (low >> 32);
  const uint64_t other = (a & mask) * (b >> 32) + (middle & mask);
  const uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
  return ((other << 32) | (low & mask)) ^ high;
#endif
}

uint64_t word_at(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

Fingerprint::Fingerprint() {
  for (size_t i = 0; i < kLanes; ++i) {
    lanes_[i] = mix(process_seed(), i);
    secrets_[i] = mix(process_seed(), kLanes + i);
  }
}

void Fingerprint::add(const void* data, size_t size) {
  constexpr size_t kLane = 2 * sizeof(uint64_t);
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint64_t lanes[kLanes];  // in registers
  std::copy_n(lanes_, kLanes, lanes);
  const auto add_line = [&](const uint8_t* line) {
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = fold(word_at(line + i * kLane) ^ secrets_[i],
                      word_at(line + i * kLane + sizeof(uint64_t)) ^ lanes[i]);
    }
  };
  size_t at = 0;
  for (; size - at >= kLanes * kLane; at += kLanes * kLane) {
    add_line(bytes + at);
  }
  uint8_t rest[kLanes * kLane] = {};
  std::copy_n(bytes + at, size - at, rest);
  add_line(rest);
  lanes[0] = mix(lanes[0], size);
  std::copy_n(lanes, kLanes, lanes_);
}

Fingerprint::Value Fingerprint::value() const {
  uint64_t low = 0;
  uint64_t high = kPrime;
  for (size_t i = 0; i < kLanes; ++i) {
    low = mix(low, lanes_[i]);
    high = mix(high, lanes_[kLanes - 1 - i]);
  }
  return {low, high};
}

PackedWeights::PackedWeights() : provider_() {
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
  const std::lock_guard<std::mutex> lock(store().mutex);
  for (const Fingerprint::Value& name : shared_) {
    const auto found = store().blocks.find(name);
    if (--found->second.users == 0) {
      free_weights(found->second.data);
      store().blocks.erase(found);
    }
  }
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
  return found != sources_.end() && found->second.is_held && !found->second.is_ambiguous;
}

/// Null for what is this delegate's own.
PackedWeights::Description* PackedWeights::describes(const xnn_weights_cache_look_up_key& key) {
  const auto found = sources_.find({key.kernel, key.bias});
  return found == sources_.end() || found->second.is_ambiguous ? nullptr : &found->second;
}

/// The seed says which kernel reads the block.
Fingerprint::Value PackedWeights::name_of(const Description& source,
                                          const xnn_weights_cache_look_up_key& key) {
  Fingerprint::Value name = source.fingerprint;
  name.first = mix(name.first, key.seed);
  return name;
}

size_t PackedWeights::look_up(const xnn_weights_cache_look_up_key& key) {
  Description* const source = describes(key);
  if (source == nullptr) {
    return kNotFound;
  }
  const Fingerprint::Value name = name_of(*source, key);
  const std::lock_guard<std::mutex> lock(store().mutex);
  return store().blocks.count(name) == 0 ? kNotFound : hold(*source, name);
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
  reserved_ = allocate_weights(size);
  return reserved_;
}

/// Keeps the block that was reserved, or drops it for one that somebody packed in the meantime.
size_t PackedWeights::insert(const xnn_weights_cache_look_up_key& key, void* block, size_t size) {
  reserved_ = nullptr;
  Description* const source = describes(key);
  if (source == nullptr) {
    own_.push_back(block);
    return reinterpret_cast<size_t>(block);
  }
  const Fingerprint::Value name = name_of(*source, key);
  const std::lock_guard<std::mutex> lock(store().mutex);
  if (!store().blocks.insert({name, {block, size, 0}}).second) {
    free_weights(block);
  }
  return hold(*source, name);
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
