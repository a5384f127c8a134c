// SPDX-License-Identifier: BSD-3-Clause
// Attention on caches: query [batch, queries, heads, depth], key and value [batch, rows, key heads,
// depth], of Float, Half or BFloat16 and in row-major order; key and value have the query's dtype,
// or are Half or BFloat16 with a Float query. The result has the query's. Key heads divide heads.
// Without a mask, keys are rows [0, start_pos + queries), of which a causal query i sees those up
// to start_pos + i; with one ([queries, rows]: Bool, or added to the scores) all rows are. A query
// that sees no key gives NaN. Dropout is ignored. Wrong arguments: InvalidArgument.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;
using std::optional;

// Which dimension of query, key and value counts positions.
enum class SeqDim { ONE = 1, TWO };

// Writes the new rows of keys and values to the caches at start_pos, then attends to the caches.
Tensor& sdpa_with_kv_cache_out(KernelRuntimeContext& ctx, const Tensor& q_projected,
                               const Tensor& k_projected, const Tensor& v_projected,
                               Tensor& key_cache, Tensor& value_cache, const int64_t start_pos,
                               const int64_t seq_len, const optional<Tensor>& attn_mask,
                               const double dropout_p, const bool is_causal,
                               const optional<double> scale, Tensor& output);

Tensor& custom_sdpa_out(RuntimeContext& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                        const int64_t start_pos, const optional<Tensor>& attn_mask,
                        const double dropout_p, const bool is_causal, const optional<double> scale,
                        Tensor& output);

// Queries of several sessions, batch 1: the keys of a session are rows_per_session neighbouring
// rows, of which query i sees those from the first up to rows[i], int64 [queries]. Neighbouring
// queries of neighbouring rows of a session are computed together, as custom_sdpa's are.
Tensor& sdpa_of_sessions_out(RuntimeContext& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                             const Tensor& rows, const int64_t rows_per_session,
                             const optional<double> scale, Tensor& output);

// On int8 tensors, each with a Float scale and a Char zero point per vector of depth; the result
// is Float. With is_seq_at_dim_2 everything is [batch, heads, positions, depth].
Tensor& custom_quantized_sdpa_out(
    RuntimeContext& ctx, const Tensor& q, const Tensor& k, const Tensor& v, const int64_t start_pos,
    const optional<Tensor>& attn_mask, const double dropout_p, const bool is_causal,
    const optional<double> scale, const optional<Tensor>& q_zero_points,
    const optional<Tensor>& q_scales, const optional<Tensor>& k_zero_points,
    const optional<Tensor>& k_scales, const optional<Tensor>& v_zero_points,
    const optional<Tensor>& v_scales, const bool is_seq_at_dim_2, Tensor& output);

// Without a cache: tensors [batch, heads, positions, depth], all keys.
Tensor& flash_attention_kernel_out(KernelRuntimeContext& ctx, const Tensor& query,
                                   const Tensor& key, const Tensor& value,
                                   const optional<Tensor>& attn_mask, const double dropout_p,
                                   const bool is_causal, const optional<double> scale,
                                   Tensor& output);

// query, key, decay [batch, heads, steps, K], value [.., steps, V], beta [batch, heads, steps],
// initial_state [batch, heads, K, V], all Float. For each step t: S *= decay_t;
// S += k_t (beta_t * (v_t - S'k_t))'; out_t = S'q_t. final_state_out must be another tensor than
// initial_state.
std::tuple<Tensor&, Tensor&> channelwise_gated_delta_rule_out(
    RuntimeContext& ctx, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& decay, const Tensor& beta, const Tensor& initial_state, Tensor& out,
    Tensor& final_state_out);

}  // namespace native
}  // namespace executor
}  // namespace torch
