// SPDX-License-Identifier: BSD-3-Clause
// Shares of the tensor that index tuples point into, with about as many tuples each: threads that
// write different shares each go through all tuples in order.
#pragma once

#include <algorithm>
#include <cstdint>

namespace executorch {
namespace kernels {

class TargetShares {
 public:
  static constexpr int kMax = 16;

  // Offsets lie in [0, extent).
  explicit TargetShares(int64_t extent) {
    while ((extent >> shift_) >= kBuckets) {
      ++shift_;
    }
  }

  void add(const int64_t* offsets, int count) {
    for (int i = 0; i < count; ++i) {
      ++counts_[offsets[i] >> shift_];
    }
    total_ += count;
  }

  // Cuts into `parts` shares; false when one would have far more than the others, as where most
  // tuples are equal.
  bool cut(int parts) {
    int64_t seen = 0, largest = 0;
    int bucket = 0;
    for (int part = 0; part < parts; ++part) {
      const int64_t before = seen;
      while (bucket < kBuckets && (part == parts - 1 || seen * parts < total_ * (part + 1))) {
        seen += counts_[bucket++];
      }
      ends_[part + 1] = int64_t{bucket} << shift_;
      largest = std::max(largest, seen - before);
    }
    return largest * parts * 2 <= total_ * 3;
  }

  int64_t begin(int64_t part) const { return ends_[part]; }
  int64_t end(int64_t part) const { return ends_[part + 1]; }

 private:
  static constexpr int kBuckets = 128;

  int shift_ = 0;
  int64_t total_ = 0;
  int64_t counts_[kBuckets] = {};
  int64_t ends_[kMax + 1] = {};
};

}  // namespace kernels
}  // namespace executorch
