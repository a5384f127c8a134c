// SPDX-License-Identifier: BSD-3-Clause
// The attention below the operators of op_sdpa.h, for kernels of other projects.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include <executorch/extension/llm/custom_ops/op_sdpa.h>

namespace torch {
namespace executor {
namespace native {
namespace sdpa {
namespace impl {

// `scale`, or 1 / sqrt(depth).
inline double calculate_scale(const Tensor& query, std::optional<double> scale) {
  return scale.has_value() ? *scale : 1.0 / std::sqrt(static_cast<double>(query.size(3)));
}

// The attention of op_sdpa.h on tensors of Float, Half, BFloat16 or, with all six parameters, Char.
// Query i stands at start_pos + i for causal attention without a mask; of the keys the first
// num_keys_for_causal_attention take part, all when that is negative. Wrong arguments:
// InvalidArgument.
void flash_attention(RuntimeContext& ctx, Tensor& output, const Tensor& query, const Tensor& key,
                     const Tensor& value, bool is_causal, const optional<Tensor>& attn_mask,
                     const optional<double>& scale, const optional<Tensor>& q_zero_points,
                     const optional<Tensor>& q_scales, const optional<Tensor>& k_zero_points,
                     const optional<Tensor>& k_scales, const optional<Tensor>& v_zero_points,
                     const optional<Tensor>& v_scales, SeqDim seq_dim, int64_t start_pos,
                     int64_t num_keys_for_causal_attention);

// The same. Types are read off the tensors and blocks chosen by their sizes, whatever the template
// arguments say; dropout is ignored.
template <typename scalar_t, int64_t q_split_size, int64_t kv_split_size>
void cpu_flash_attention(RuntimeContext& ctx, Tensor& output, const Tensor& query,
                         const Tensor& key, const Tensor& value, double /*dropout_p*/,
                         bool is_causal, const optional<Tensor>& attn_mask,
                         const optional<double>& scale, const optional<Tensor>& q_zero_points,
                         const optional<Tensor>& q_scales, const optional<Tensor>& k_zero_points,
                         const optional<Tensor>& k_scales, const optional<Tensor>& v_zero_points,
                         const optional<Tensor>& v_scales, const SeqDim seq_dim = SeqDim::TWO,
                         const int64_t start_pos = 0,
                         const int64_t num_keys_for_causal_attention = -1) {
  flash_attention(ctx, output, query, key, value, is_causal, attn_mask, scale, q_zero_points,
                  q_scales, k_zero_points, k_scales, v_zero_points, v_scales, seq_dim, start_pos,
                  num_keys_for_causal_attention);
}

}  // namespace impl
}  // namespace sdpa
}  // namespace native
}  // namespace executor
}  // namespace torch
