// SPDX-License-Identifier: BSD-3-Clause
// scaled_dot_product_attention: what its arguments mean, checked once, for every library's kernel.
#pragma once

#include <cstdint>
#include <optional>

#include <executorch/kernels/portable/loops/checks.h>

namespace executorch {
namespace kernels {

// query [..., heads, queries, depth], key [..., key_heads, keys, depth], value [..., key_heads,
// keys, value_depth]: `matrices` of them, one per head. Each group of heads shares a key.
struct Attention {
  int64_t matrices, heads, key_heads;
  int64_t queries, keys, depth, value_depth;
  double scale;
  bool causal;         // query i sees keys 0 ... i
  const Tensor* mask;  // broadcasts to [..., heads, queries, keys]; or nullptr
  int64_t mask_row_stride, mask_col_stride;

  // The matrix of key and value that belongs to one of query.
  int64_t key_matrix(int64_t matrix) const {
    return matrix / heads * key_heads + matrix % heads / (heads / key_heads);
  }
};

// The arguments as users give them.
struct AttentionArguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const std::optional<Tensor>& mask;
  double dropout;
  bool causal;
  std::optional<double> scale;
  bool grouped;  // enable_gqa
};

// Checks the arguments, resizes `out`, and fills `plan`, which points into `arguments`. False:
// the call has failed.
bool plan_attention(const OpCall& call, const AttentionArguments& arguments, const Tensor& out,
                    Attention& plan);

// Elements before matrix `index` of a tensor with leading dimensions; `like` has at least as many,
// to which the tensor's broadcast.
int64_t matrix_offset(const Tensor& tensor, const Tensor& like, int64_t index);

}  // namespace kernels
}  // namespace executorch
