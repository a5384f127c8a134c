// SPDX-License-Identifier: BSD-3-Clause
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "executorch/kernels/optimized/int8/byte_table_simd.cpp"
#define EXECUTORCH_SIMD_DOT_PRODUCTS  // those processors look up 128 bytes at a time
#include <executorch/kernels/optimized/simd_targets.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <executorch/kernels/optimized/int8/byte_table.h>
#include <executorch/kernels/optimized/simd_table.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace executorch::kernels::optimized {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using D = hn::ScalableTag<uint8_t>;
using V = hn::Vec<D>;

#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
class Table {
 public:
  explicit Table(const uint8_t* table) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      parts_[i] = hn::LoadU(D(), table + i * 64);
    }
  }

  HWY_INLINE V at(V place) const {
    const D d;
    const auto in_half = hn::IndicesFromVec(d, hn::And(place, hn::Set(d, uint8_t{127})));
    return hn::IfThenElse(hn::Ge(place, hn::Set(d, uint8_t{128})),
                          hn::TwoTablesLookupLanes(d, parts_[2], parts_[3], in_half),
                          hn::TwoTablesLookupLanes(d, parts_[0], parts_[1], in_half));
  }

 private:
  V parts_[4];
};
#else
// 16 bytes at a time: where a place less 16 * i is not negative, the exclusive or of parts i - 1
// and i is added, so that only the last of them stays. Places from 128 on have parts of their own.
class Table {
 public:
  explicit Table(const uint8_t* table) {
    const D d;
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const V part = hn::LoadDup128(d, table + i * 16);
      parts_[i] = i % 8 == 0 ? part : hn::Xor(part, hn::LoadDup128(d, table + i * 16 - 16));
    }
  }

  HWY_INLINE V at(V place) const {
    return hn::Or(in_half<0>(place), in_half<8>(hn::Xor(place, hn::Set(D(), uint8_t{128}))));
  }

 private:
  // 0 where the place is 128 or more.
  template <int kFirst>
  HWY_INLINE V in_half(V place) const {
    const D d;
    const hn::RebindToSigned<D> d_signed;
    const V kept = hn::Set(d, uint8_t{0x8F});
    const auto sixteen = hn::Set(d_signed, int8_t{16});
    V found = hn::Zero(d);
    auto left = hn::BitCast(d_signed, place);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const V index = hn::And(hn::BitCast(d, left), kept);
      found = hn::Xor(found, hn::TableLookupBytesOr0(parts_[kFirst + i], index));
      left = hn::SaturatedSub(left, sixteen);
    }
    return found;
  }

  V parts_[16];
};
#endif
#endif

void look_up(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (count >= lanes) {
    const Table vectors(table);
    for (; i + lanes <= count; i += lanes) {
      hn::StoreU(vectors.at(hn::LoadU(d, from + i)), d, to + i);
    }
  }
#endif
  for (; i < count; ++i) {
    to[i] = table[from[i]];
  }
}

const ByteTableKernel* byte_table_kernel_of_target() {
  static constexpr ByteTableKernel kKernel = {&look_up};
  return &kKernel;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace executorch::kernels::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
ET_SIMD_TABLE(ByteTableKernel, byte_table_kernel)

namespace executorch::kernels::optimized {

void look_up_bytes(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to) {
  constexpr int64_t kGrain = 1 << 15;
  const ByteTableKernel& kernel = byte_table_kernel();
  executorch::extension::parallel_for(0, count, kGrain, [&](int64_t first, int64_t last) {
    kernel.look_up(table, from + first, last - first, to + first);
  });
}

}  // namespace executorch::kernels::optimized
#endif  // HWY_ONCE
