// SPDX-License-Identifier: BSD-3-Clause
// Planned memory that all methods of a Module share, so that state which they plan at the same
// place is one state.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>

namespace executorch::extension {

// Zeroed bytes from calloc: pages cost nothing until a tensor touches them, however large a
// corrupted file says its plan is. What is in use of many, as of a language model's caches, comes
// to lie in large pages. Null when they cannot be had.
struct FreeBytes {
  size_t size = 0;
  void operator()(uint8_t* bytes) const;
};
using ZeroedBytes = std::unique_ptr<uint8_t[], FreeBytes>;
ZeroedBytes make_zeroed_bytes(size_t size);

// Not safe for use from several threads.
class SharedArenas {
 public:
  // Buffers of a plan that are shared: those of values and of state. Further ones are what a plan
  // of a user's own put elsewhere.
  static constexpr size_t kMaxArenas = 2;

  using Contents = std::vector<std::vector<uint8_t>>;

  bool is_allocated() const { return !arenas_.empty(); }

  // As many arenas as the method with the most has, kMaxArenas at most, each as large as the
  // largest plan wants it.
  ET_NODISCARD runtime::Error allocate(const runtime::Program& program);

  // The first `size` bytes of an arena that was allocated with at least as many.
  runtime::Span<uint8_t> arena(size_t id, size_t size) const;

  // Loading a method clears planned memory and writes initial state. Around it: what the arenas
  // held goes back, except the start values of named buffers that no method loaded before has.
  Contents contents() const;
  void restore(const Contents& before);
  void settle(runtime::Method& method, const Contents& before);

  // The next method to be loaded is the first one.
  void forget_state() { states_.clear(); }

 private:
  struct Arena {
    ZeroedBytes bytes;
    size_t size;
  };

  bool holds(runtime::Span<uint8_t> range) const;

  std::vector<Arena> arenas_;
  std::vector<runtime::Span<uint8_t>> states_;  // of named buffers that have their value
};

}  // namespace executorch::extension
