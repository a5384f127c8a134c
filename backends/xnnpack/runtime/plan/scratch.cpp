// SPDX-License-Identifier: BSD-3-Clause
// Pieces of whole cache lines.
#include <executorch/backends/xnnpack/runtime/plan/scratch.h>

#include <executorch/backends/xnnpack/runtime/memory.h>

namespace executorch::backends::xnnpack {

Scratch::~Scratch() {
  clear();
}

void* Scratch::allocate(size_t size, size_t alignment) {
  if (alignment > kBlockAlignment || size > SIZE_MAX / 2 - needed_) {
    return nullptr;
  }
  const size_t begin = needed_;
  needed_ += (size + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (needed_ <= block_size_) {
    return static_cast<uint8_t*>(block_) + begin;
  }
  void* const piece = allocate_block(size);
  if (piece != nullptr) {
    more_.push_back(piece);
  }
  return piece;
}

void Scratch::reset() {
  if (needed_ > block_size_) {
    free_more();
    free_block(block_);
    block_ = allocate_block(needed_);
    block_size_ = block_ == nullptr ? 0 : needed_;
  }
  needed_ = 0;
}

void Scratch::clear() {
  free_more();
  free_block(block_);
  block_ = nullptr;
  block_size_ = needed_ = 0;
}

void Scratch::free_more() {
  for (void* piece : more_) {
    free_block(piece);
  }
  more_.clear();
}

}  // namespace executorch::backends::xnnpack
