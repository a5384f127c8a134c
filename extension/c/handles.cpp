// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/handles.h>

#include <array>
#include <atomic>
#include <mutex>
#include <new>

namespace executorch::extension::c {

using runtime::Error;
using runtime::Result;

namespace internal {

struct Slot {
  std::atomic<uint64_t> word;
  Object* object;
  uint32_t index;
  Slot* next;  // free ones
};

namespace {

// Of a slot's word; below are pins, above the tag.
constexpr uint64_t kEnded = 1u << 31;
constexpr uint64_t kExclusive = 1u << 30;
constexpr uint64_t kPins = kExclusive - 1;

constexpr uint32_t kKindBits = 4;
constexpr uint32_t kChunk = 256;
constexpr uint32_t kMaxChunks = 4096;

uint32_t tag_of(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}
Kind kind_of(Handle handle) {
  return static_cast<Kind>(tag_of(handle) & ((1u << kKindBits) - 1));
}

// Chunks are never freed, so that a slot may be looked at whatever became of its object.
class Slots {
 public:
  Slot* find(Handle handle) const {
    const auto index = static_cast<uint32_t>(handle);
    Slot* const chunk = index / kChunk < kMaxChunks
                            ? chunks_[index / kChunk].load(std::memory_order_acquire)
                            : nullptr;
    return chunk == nullptr ? nullptr : chunk + index % kChunk;
  }

  // Null if there is no place.
  Slot* take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_ == nullptr && !grow()) {
      return nullptr;
    }
    Slot* const slot = free_;
    free_ = slot->next;
    return slot;
  }

  void give_back(Slot* slot) {
    const std::lock_guard<std::mutex> lock(mutex_);
    slot->next = free_;
    free_ = slot;
  }

 private:
  bool grow() {
    Slot* const chunk = num_chunks_ < kMaxChunks ? new (std::nothrow) Slot[kChunk] : nullptr;
    if (chunk == nullptr) {
      return false;
    }
    for (uint32_t i = kChunk; i-- > 0;) {
      chunk[i].word.store(kEnded, std::memory_order_relaxed);
      chunk[i].object = nullptr;
      chunk[i].index = num_chunks_ * kChunk + i;
      chunk[i].next = free_;
      free_ = &chunk[i];
    }
    chunks_[num_chunks_++].store(chunk, std::memory_order_release);
    return true;
  }

  std::array<std::atomic<Slot*>, kMaxChunks> chunks_{};
  std::mutex mutex_;  // guards what follows
  Slot* free_ = nullptr;
  uint32_t num_chunks_ = 0;
};

// Never destroyed: other libraries' destructors may still release.
Slots& slots() {
  static Slots* const all = new Slots;
  return *all;
}

void end(Slot* slot) {
  Object* const object = std::exchange(slot->object, nullptr);
  slots().give_back(slot);
  delete object;
}

bool names(uint64_t word, Handle handle) {
  return tag_of(word) == tag_of(handle) && (word & kEnded) == 0;
}

Error refuse(Handle handle, const char* expected, const Slot* slot) {
  if (handle == 0) {
    ET_LOG(Error, "expected %s, found 0", expected);
  } else if (slot == nullptr || kind_of(handle) == Kind::None ||
             kind_of(handle) > Kind::Optimizer) {
    ET_LOG(Error, "expected %s, found %#" PRIx64 ", which is no handle", expected, handle);
  } else {
    ET_LOG(Error, "expected %s, found %s that was released", expected, describe(kind_of(handle)));
  }
  return Error::InvalidArgument;
}

}  // namespace

Result<Slot*> pin(Handle handle, Kind kind, Use use) {
  Slot* const slot = slots().find(handle);
  if (slot == nullptr) {
    return refuse(handle, describe(kind), slot);
  }
  uint64_t word = slot->word.load(std::memory_order_acquire);
  uint64_t pinned = 0;
  do {
    if (!names(word, handle)) {
      return refuse(handle, describe(kind), slot);
    }
    ET_CHECK_OR_RETURN_ERROR(kind_of(handle) == kind, InvalidArgument, "expected %s, found %s",
                             describe(kind), describe(kind_of(handle)));
    ET_CHECK_OR_RETURN_ERROR(use == Use::Shared || (word & kExclusive) == 0, InvalidState,
                             "%s serves one call at a time, and another one uses it",
                             describe(kind));
    pinned = (word + 1) | (use == Use::Exclusive ? kExclusive : 0);
  } while (!slot->word.compare_exchange_weak(word, pinned, std::memory_order_acq_rel));
  return slot;
}

void share(Slot* slot) {
  slot->word.fetch_add(1, std::memory_order_relaxed);
}

void unpin(Slot* slot, Use use) {
  const uint64_t given = 1 + (use == Use::Exclusive ? kExclusive : 0);
  const uint64_t word = slot->word.fetch_sub(given, std::memory_order_acq_rel) - given;
  if ((word & kEnded) != 0 && (word & kPins) == 0) {
    end(slot);
  }
}

Object* object_of(const Slot* slot) {
  return slot->object;
}

}  // namespace internal

using internal::kEnded;
using internal::kPins;
using internal::Slot;
using internal::slots;

const char* describe(Kind kind) {
  switch (kind) {
    case Kind::Status:
      return "a status";
    case Kind::Module:
      return "a module";
    case Kind::Tensor:
      return "a tensor";
    case Kind::Text:
      return "a text session";
    case Kind::Optimizer:
      return "an optimizer";
    case Kind::None:
      break;
  }
  return "no handle";
}

Handle add(Kind kind, std::unique_ptr<Object> object) {
  Slot* const slot = slots().take();
  if (slot == nullptr) {
    return 0;
  }
  // A generation of 0 would make a handle of 0.
  uint32_t generation = (internal::tag_of(slot->word.load()) >> internal::kKindBits) + 1;
  generation = (generation << internal::kKindBits) == 0 ? 1 : generation;
  const uint64_t tag = generation << internal::kKindBits | static_cast<uint32_t>(kind);
  slot->object = object.release();
  slot->word.store(tag << 32, std::memory_order_release);
  return tag << 32 | slot->index;
}

bool is_live(Handle handle) {
  const Slot* const slot = slots().find(handle);
  return slot != nullptr && internal::names(slot->word.load(std::memory_order_acquire), handle);
}

Error release(Handle handle) {
  if (handle == 0 || handle == kNoRoom) {
    return Error::Ok;
  }
  Slot* const slot = slots().find(handle);
  if (slot == nullptr) {
    return internal::refuse(handle, "a handle", slot);
  }
  uint64_t word = slot->word.load(std::memory_order_acquire);
  do {
    if (!internal::names(word, handle)) {
      return internal::refuse(handle, "a handle", slot);
    }
  } while (!slot->word.compare_exchange_weak(word, word | kEnded, std::memory_order_acq_rel));
  if ((word & kPins) == 0) {
    internal::end(slot);
  }
  return Error::Ok;
}

}  // namespace executorch::extension::c
