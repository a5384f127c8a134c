// SPDX-License-Identifier: BSD-3-Clause
// Range reading with broadcasting and conversion, and the chunk loop.
#include <executorch/kernels/portable/loops/elementwise.h>

#include <algorithm>
#include <cstring>

#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

Rounding::Rounding(ScalarType type, ComputeType computed) : compute_size_(compute_size(computed)) {
  if (type != ScalarType::Undefined && !is_stored_as(type, computed)) {
    store_ = storer(computed, type);
    load_ = loader(type, computed);
  }
}

void Rounding::round(void* values, int64_t n) const {
  constexpr int64_t kAtOnce = 64;
  alignas(16) char stored[kAtOnce * kMaxComputeSize];
  char* at = static_cast<char*>(values);
  for (int64_t i = 0; i < n; i += kAtOnce) {
    const int64_t count = std::min(kAtOnce, n - i);
    store_(at, count, stored);
    load_(stored, 1, count, at);
    at += count * static_cast<int64_t>(compute_size_);
  }
}

namespace {

// What elements of `from` lose when they become `common`: a promoted type holds all values, but for
// integers that meet 16-bit floats.
Rounding rounding_to(ScalarType common, ScalarType from, ComputeType type) {
  const bool loses = common == ScalarType::Half || common == ScalarType::BFloat16;
  return loses && executorch::runtime::isIntegralType(from, /*includeBool=*/false)
             ? Rounding(common, type)
             : Rounding();
}

}  // namespace

RangeReader::RangeReader(const Tensor& in, const Tensor& like, ComputeType type, ScalarType common)
    : data_(static_cast<const char*>(in.const_data_ptr())),
      load_(loader(in.scalar_type(), type)),
      rounding_(rounding_to(common, in.scalar_type(), type)),
      element_size_(in.element_size()),
      compute_size_(compute_size(type)),
      direct_(is_stored_as(in.scalar_type(), type) && !rounding_.is_needed()) {
  const int64_t lead = like.dim() - in.dim();
  for (int64_t i = 0; i < like.dim(); ++i) {
    const int64_t d = like.dim_order()[i];
    const int64_t size = like.sizes()[d];
    if (size == 1) {
      continue;
    }
    const int64_t stride = broadcast_stride(in.sizes(), in.strides(), d - lead);
    if (ndim_ > 0 && strides_[ndim_ - 1] == stride * size) {
      sizes_[ndim_ - 1] *= size;
      strides_[ndim_ - 1] = stride;
    } else {
      sizes_[ndim_] = size;
      strides_[ndim_++] = stride;
    }
  }
  constant_ = ndim_ == 0 || (ndim_ == 1 && strides_[0] == 0);
  if (constant_ && in.numel() > 0) {
    load_(data_, 0, 1, value_);
    if (rounding_.is_needed()) {
      rounding_.round(value_, 1);
    }
  }
  // A one-element output of a stored type can be read in place, whatever its strides are.
  if (ndim_ == 0) {
    ndim_ = 1;
    sizes_[0] = 1;
    strides_[0] = 1;
  }
}

RangeReader::RangeReader(const Scalar& value, ComputeType type)
    : compute_size_(compute_size(type)), constant_(true) {
  switch (type) {
    case ComputeType::kBool: {
      const uint8_t as_bool = scalar_to<double>(value) != 0;
      std::memcpy(value_, &as_bool, sizeof(as_bool));
      break;
    }
    case ComputeType::kInt64: {
      const int64_t as_int = scalar_to<int64_t>(value);
      std::memcpy(value_, &as_int, sizeof(as_int));
      break;
    }
    case ComputeType::kFloat: {
      const float as_float = scalar_to<float>(value);
      std::memcpy(value_, &as_float, sizeof(as_float));
      break;
    }
    case ComputeType::kDouble: {
      const double as_double = scalar_to<double>(value);
      std::memcpy(value_, &as_double, sizeof(as_double));
      break;
    }
    case ComputeType::kComplex: {
      const Complex as_complex = scalar_to<Complex>(value);
      std::memcpy(value_, &as_complex, sizeof(as_complex));
      break;
    }
  }
}

namespace {

template <typename T>
void fill_constant(const char* value, int64_t n, void* buffer) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  std::fill_n(static_cast<T*>(buffer), n, element);
}

}  // namespace

const void* RangeReader::read(int64_t begin, int64_t n, void* buffer) const {
  if (is_direct()) {
    return data_ + begin * element_size_;
  }
  if (constant_) {
    if (compute_size_ == 1) {
      fill_constant<uint8_t>(value_, n, buffer);
    } else if (compute_size_ == 4) {
      fill_constant<uint32_t>(value_, n, buffer);
    } else if (compute_size_ == 8) {
      fill_constant<uint64_t>(value_, n, buffer);
    } else {
      fill_constant<Complex>(value_, n, buffer);
    }
    return buffer;
  }
  // Where the range begins.
  int64_t index[executorch::runtime::kTensorDimensionLimit];
  int64_t offset = 0;
  for (int d = ndim_ - 1; d >= 0; --d) {
    index[d] = begin % sizes_[d];
    begin /= sizes_[d];
    offset += index[d] * strides_[d];
  }
  const int inner = ndim_ - 1;
  char* to = static_cast<char*>(buffer);
  for (;;) {
    const int64_t run = std::min(n, sizes_[inner] - index[inner]);
    const char* from = data_ + offset * element_size_;
    if (direct_ && run == n && strides_[inner] == 1 && to == buffer) {
      return from;
    }
    load_(from, strides_[inner], run, to);
    if (rounding_.is_needed()) {
      rounding_.round(to, run);
    }
    n -= run;
    if (n == 0) {
      return buffer;
    }
    to += run * static_cast<int64_t>(compute_size_);
    offset -= index[inner] * strides_[inner];
    index[inner] = 0;
    for (int d = inner - 1; d >= 0; --d) {
      offset += strides_[d];
      if (++index[d] < sizes_[d]) {
        break;
      }
      offset -= strides_[d] * sizes_[d];
      index[d] = 0;
    }
  }
}

namespace {

constexpr size_t kBufferSize = kChunk * 8;  // pairs of doubles come in chunks of half the size

struct Loop {
  const RangeReader* inputs;
  int num_inputs;
  char* out;
  int64_t out_size;
  int64_t chunk;  // elements that fit the buffers
  Rounding rounding;
  StoreRun store;  // null when the functor writes the output itself
  ChunkFn fn;
  const void* functor;
};

void run_range(const Loop& loop, int64_t first, int64_t last) {
  alignas(16) char buffers[kMaxInputs][kBufferSize];
  alignas(16) char result[kBufferSize];
  const void* in[kMaxInputs] = {};
  bool all_direct = loop.store == nullptr;
  for (int k = 0; k < loop.num_inputs; ++k) {
    all_direct = all_direct && loop.inputs[k].is_direct();
  }
  const int64_t step = all_direct ? last - first : loop.chunk;
  for (int64_t begin = first; begin < last; begin += step) {
    const int64_t n = std::min(step, last - begin);
    for (int k = 0; k < loop.num_inputs; ++k) {
      if (begin == first || !loop.inputs[k].is_constant()) {
        in[k] = loop.inputs[k].read(begin, n, buffers[k]);
      }
    }
    char* out = loop.out + begin * loop.out_size;
    char* const computed = loop.store == nullptr ? out : result;
    loop.fn(in, computed, n, loop.functor);
    if (loop.rounding.is_needed()) {
      loop.rounding.round(computed, n);
    }
    if (loop.store != nullptr) {
      loop.store(result, n, out);
    }
  }
}

}  // namespace

void run_elementwise(const RangeReader* inputs, int num_inputs, const Tensor& out,
                     ComputeType out_type, ScalarType common, ChunkFn fn, const void* functor) {
  constexpr int64_t kGrain = 1 << 14;
  size_t widest = compute_size(out_type);
  for (int k = 0; k < num_inputs; ++k) {
    widest = std::max(widest, inputs[k].value_size());
  }
  const bool stored_directly = is_stored_as(out.scalar_type(), out_type);
  const Loop loop{inputs,
                  num_inputs,
                  static_cast<char*>(out.mutable_data_ptr()),
                  out.element_size(),
                  widest > 8 ? kChunk / 2 : kChunk,
                  common == out.scalar_type() ? Rounding() : Rounding(common, out_type),
                  stored_directly ? nullptr : storer(out_type, out.scalar_type()),
                  fn,
                  functor};
  executorch::extension::parallel_for(
      0, out.numel(), kGrain, [&](int64_t first, int64_t last) { run_range(loop, first, last); });
}

}  // namespace kernels
}  // namespace executorch
