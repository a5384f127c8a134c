// SPDX-License-Identifier: BSD-3-Clause
// Weights in the order in which XNNPACK's kernels read them, held once in the process for all
// delegates that pack the same bytes in the same way.
#pragma once

#include <executorch/backends/xnnpack/runtime/weights/packed_file.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/function_ref.h>

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace executorch::backends::xnnpack {

/// What one delegate has packed or found packed. Hands its blocks back when it is destroyed, after
/// the runtime that was built with it. Building is for one thread; any number of delegates are
/// built and destroyed at the same time, and hold a lock only to look blocks up.
class PackedWeights final {
 public:
  /// `file`, which may be null, is where blocks are looked for that no delegate has packed. `pool`,
  /// which may be null, has the threads that make memory be there; it must outlive building.
  explicit PackedWeights(std::shared_ptr<PackedFile> file, pthreadpool_t pool = nullptr);
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  /// Says what will be packed from these two addresses (`bias` may be null). What is described in
  /// two ways, or not at all, is packed for this delegate alone.
  void describe(const void* filter, const void* bias, const Fingerprint::Value& fingerprint);

  /// What a kernel of ours reads of a filter and a bias: the block that was packed by the kernel of
  /// that `seed`, or a new one of `size` bytes, which `pack` fills. Null without memory, or when
  /// `pack` returns false. Valid as long as this object.
  const void* find_or_pack(const void* filter, const void* bias, uint32_t seed, size_t size,
                           runtime::FunctionRef<bool(void*)> pack);

  /// For xnn_create_runtime_v4(); valid as long as this object.
  xnn_weights_cache_t provider() { return &provider_; }
  /// Whether what was described has been packed, or found packed, and will be found again without
  /// being read: XNNPACK packs some filters (depthwise, transposed) without looking them up.
  bool holds(const void* filter, const void* bias) const;
  /// What Fingerprints of its descriptions begin with.
  uint64_t seed() const;
  const std::shared_ptr<PackedFile>& file() const { return file_; }
  /// The addresses that were described are not valid any more.
  void forget_sources() { sources_.clear(); }

  /// Bytes of all blocks in the process, each counted once.
  static size_t total_bytes();
  /// How often something was packed in this process.
  static size_t times_packed();
  /// Writes what delegates have packed for each file that is open, with what it held, instead of
  /// it. AccessFailed for those that cannot be written, behind the others.
  static runtime::Error save();

 private:
  using Source = std::pair<const void*, const void*>;
  struct Description {
    Fingerprint::Value fingerprint;
    bool is_ambiguous = false;
    bool is_looked_up = false;  // before it is packed
    bool is_held = false;       // a block of it is among shared_
  };

  Description* describes(const xnn_weights_cache_look_up_key& key);
  Fingerprint::Value name_of(const Description& source,
                             const xnn_weights_cache_look_up_key& key) const;
  size_t look_up(const xnn_weights_cache_look_up_key& key);
  size_t hold(Description& source, const Fingerprint::Value& name);
  void* reserve(size_t size);
  size_t insert(const xnn_weights_cache_look_up_key& key, void* block, size_t size);

  xnn_weights_cache_provider provider_;
  const std::shared_ptr<PackedFile> file_;
  const pthreadpool_t pool_;
  std::map<Source, Description> sources_;
  std::vector<Fingerprint::Value> shared_;  // blocks of the process that this delegate uses
  std::vector<void*> own_;
  void* reserved_ = nullptr;
};

}  // namespace executorch::backends::xnnpack
