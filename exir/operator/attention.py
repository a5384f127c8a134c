# SPDX-License-Identifier: BSD-3-Clause
"""Makes the out variant of scaled_dot_product_attention known to torch, which has none: programs that preserve the
operator call a kernel of this name."""

import torch

_library = torch.library.Library("aten", "FRAGMENT")
_NAME = "aten::scaled_dot_product_attention"
_SCHEMA = (
    "scaled_dot_product_attention.out(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False, "
    "Tensor(a!) out) -> Tensor(a!)"
)

if "out" not in {each.overload_name for each in torch._C._jit_get_schemas_for_operator(_NAME)}:
    _library.define(_SCHEMA)
