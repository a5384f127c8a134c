// SPDX-License-Identifier: BSD-3-Clause
// Weights in the order in which XNNPACK's kernels read them, held once in the process for all
// delegates that pack the same bytes in the same way.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace executorch::backends::xnnpack {

/// 128 bits that stand for bytes. Its seed differs from process to process, so that no file can be
/// made to share the weights of another one that it does not equal.
class Fingerprint final {
 public:
  Fingerprint();
  void add(const void* data, size_t size);
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "no padding");
    add(&value, sizeof(value));
  }

  using Value = std::pair<uint64_t, uint64_t>;
  Value value() const;

 private:
  static constexpr size_t kLanes = 4;  // side by side in the processor
  uint64_t lanes_[kLanes];
  uint64_t secrets_[kLanes];
};

/// What one delegate has packed or found packed. Hands its blocks back when it is destroyed, after
/// the runtime that was built with it. Building is for one thread; any number of delegates are
/// built and destroyed at the same time, and hold a lock only to look blocks up.
class PackedWeights final {
 public:
  PackedWeights();
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  /// Says what will be packed from these two addresses (`bias` may be null). What is described in
  /// two ways, or not at all, is packed for this delegate alone.
  void describe(const void* filter, const void* bias, const Fingerprint::Value& fingerprint);

  /// For xnn_create_runtime_v4(); valid as long as this object.
  xnn_weights_cache_t provider() { return &provider_; }
  /// Whether what was described has been packed, or found packed, and will be found again.
  bool holds(const void* filter, const void* bias) const;
  /// The addresses that were described are not valid any more.
  void forget_sources() { sources_.clear(); }

  /// Bytes of all blocks in the process, each counted once.
  static size_t total_bytes();
  /// How often something was packed in this process.
  static size_t times_packed();

 private:
  using Source = std::pair<const void*, const void*>;
  struct Description {
    Fingerprint::Value fingerprint;
    bool is_ambiguous = false;
    bool is_held = false;  // a block of it is among shared_
  };

  Description* describes(const xnn_weights_cache_look_up_key& key);
  static Fingerprint::Value name_of(const Description& source,
                                    const xnn_weights_cache_look_up_key& key);
  size_t look_up(const xnn_weights_cache_look_up_key& key);
  size_t hold(Description& source, const Fingerprint::Value& name);
  void* reserve(size_t size);
  size_t insert(const xnn_weights_cache_look_up_key& key, void* block, size_t size);

  xnn_weights_cache_provider provider_;
  std::map<Source, Description> sources_;
  std::vector<Fingerprint::Value> shared_;  // blocks of the process that this delegate uses
  std::vector<void*> own_;
  void* reserved_ = nullptr;
};

}  // namespace executorch::backends::xnnpack
