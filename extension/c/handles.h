// SPDX-License-Identifier: BSD-3-Clause
// Handles: numbers that name the objects of the C interface, so that wrong ones are noticed.
//
// The upper half of a handle is a tag (28 bits of generation, 4 of the kind), the lower half a
// slot. A slot has one atomic word: the tag of its object, whether a call has the object for
// itself, whether it ended, and how many calls use it. Slots are never freed. All of it works from
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <executorch/runtime/core/result.h>

namespace executorch::extension::c {

using Handle = uint64_t;

// What stands for an object that there is no memory for. It can be released.
constexpr Handle kNoRoom = UINT64_MAX;

enum class Kind : uint8_t { None, Status, Module, Tensor, Text, Optimizer };

// "a module"; "no handle" for a number that cannot be one.
const char* describe(Kind kind);

struct Object {
  virtual ~Object() = default;
};

// Exclusive: InvalidState while another call has it so. Shared: always.
enum class Use { Shared, Exclusive };

namespace internal {
struct Slot;

runtime::Result<Slot*> pin(Handle handle, Kind kind, Use use);
void share(Slot* slot);
void unpin(Slot* slot, Use use);
Object* object_of(const Slot* slot);
}  // namespace internal

// An object that cannot go while this lives. T has `static constexpr Kind kKind`.
template <typename T>
class Pin {
 public:
  Pin() = default;
  Pin(Pin&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)), use_(other.use_) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(slot_, other.slot_);
    std::swap(use_, other.use_);
    return *this;
  }
  ~Pin() {
    if (slot_ != nullptr) {
      internal::unpin(slot_, use_);
    }
  }

  // InvalidArgument, with what was expected and found, for any other handle.
  static runtime::Result<Pin> take(Handle handle, Use use = Use::Shared) {
    return Pin(ET_UNWRAP(internal::pin(handle, T::kKind, use)), use);
  }
  // Another pin of the same object, shared.
  Pin again() const {
    internal::share(slot_);
    return Pin(slot_, Use::Shared);
  }

  T* operator->() const { return static_cast<T*>(internal::object_of(slot_)); }
  T& operator*() const { return *operator->(); }

 private:
  Pin(internal::Slot* slot, Use use) : slot_(slot), use_(use) {}

  internal::Slot* slot_ = nullptr;
  Use use_ = Use::Shared;
};

// A handle for the object; 0, and the object goes, if there is no place for more.
Handle add(Kind kind, std::unique_ptr<Object> object);

// Whether the handle names an object that has not been released.
bool is_live(Handle handle);

// Ends the object, now or when the last call that uses it has ended.
runtime::Error release(Handle handle);

}  // namespace executorch::extension::c
