// SPDX-License-Identifier: BSD-3-Clause
// Computations along one dimension of a dense tensor seen as [outer][n][inner]: sums, softmax,
// normalization; of f32 where nothing else is said.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::kernels::optimized {

struct InnerLoops {
  int64_t outer;
  int64_t n;      // the dimension that is reduced
  int64_t inner;  // elements between its neighbours; 1 when it is the last one
};

// out[outer][inner] = scale * sum over n.
void sum_dim(const InnerLoops& loops, float scale, const float* in, float* out);

// out[outer][inner] = product over n.
void multiply_dim(const InnerLoops& loops, const float* in, float* out);

// out[outer][inner] = the largest (or the smallest) over n, which is at least 1; NaN if there is
// one.
void extreme_dim(const InnerLoops& loops, bool largest, const float* in, float* out);

// The same of integers and Bool: extremes in their own type, sums as int64.
enum class IntegerFold { kSum, kMax, kMin };
void fold_integer_dim(executorch::aten::ScalarType type, IntegerFold fold, const InnerLoops& loops,
                      const void* in, void* out);

// The first position of the largest (or the smallest) over n, at least 1 and at most INT32_MAX,
// with the value where `values` is not null; NaN counts as more extreme than any number. For inner
// > 1.
void position_dim(const InnerLoops& loops, bool largest, const float* in, float* values,
                  int64_t* positions);

// out[i] = in[0] + ... + in[i] along n, summed in double.
void cumulate_dim(const InnerLoops& loops, const float* in, float* out);

// Softmax or its logarithm; `out` may be `in`.
void softmax_dim(const InnerLoops& loops, bool logarithm, const float* in, float* out);

// out = (in - mean) * rstd * weight + bias for each of `rows` rows of n; mean and rstd (1 /
// sqrt(variance + eps)) are also stored, one a row. weight and bias hold n values each, or are
// nullptr.
struct LayerNorm {
  int64_t rows, n;
  float eps;
  const float* in;
  const float* weight;
  const float* bias;
  float* out;
  float* mean;
  float* rstd;
};
void layer_norm(const LayerNorm& p);

// Normalizes groups of neighbouring channels of [images][channels][plane]; weight and bias hold a
// value a channel, or are nullptr. mean and rstd are stored for each image and group.
struct GroupNorm {
  int64_t images, channels, plane, groups;
  float eps;
  const float* in;
  const float* weight;
  const float* bias;
  float* out;
  float* mean;
  float* rstd;
};
void group_norm(const GroupNorm& p);

// out[p][i] = in[p][i] * scale[c] + shift[c] for `planes` planes of channels c = first, first + 1,
// ... modulo `channels`.
void scale_channels(int64_t first, int64_t planes, int64_t channels, int64_t plane,
                    const float* scale, const float* shift, const float* in, float* out);
// The same with channels last.
void scale_channels_last(int64_t positions, int64_t channels, const float* scale,
                         const float* shift, const float* in, float* out);

}  // namespace executorch::kernels::optimized
