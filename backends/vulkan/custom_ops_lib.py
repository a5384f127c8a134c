# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers the operators of the namespace et_vk with PyTorch: what fusions make, and users may call as
`torch.ops.et_vk.*`. Eager implementations say what each computes; the runtime's shaders give the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from executorch.backends.vulkan.aot import eager, eager_quantized

_library = torch.library.Library("et_vk", "FRAGMENT")
_Q8_LINEAR = (
    "Tensor x, float input_scale, int input_zero_point, Tensor weights, Tensor weight_sums, Tensor weight_scales, "
    'float output_scale, int output_zero_point, Tensor? bias=None, str activation="none"'
)
_Q8_CONV = (
    "Tensor x, float input_scale, int input_zero_point, Tensor weights, Tensor weight_sums, Tensor weight_scales, "
    "float output_scale, int output_zero_point, Tensor? bias, SymInt[] kernel_size, SymInt[] stride, "
    "SymInt[] padding, {}SymInt[] dilation, SymInt groups, str activation"
)
_CONVOLUTION = (
    "Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, "
    "SymInt[] output_padding, SymInt groups, Scalar? output_min, Scalar? output_max"
)
_ADAMW = (
    "Tensor(a!) param, Tensor(b!) m, Tensor(c!) v, Tensor grad, float lr, float beta1, float beta2, float eps, "
    "float weight_decay, float bias_correction1, float bias_correction2"
)
_TENSOR, _PAIR = "Tensor", "(Tensor, Tensor)"

# name -> arguments, results, what it computes
_OPERATORS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "prepack": ("Tensor x", _TENSOR, torch.clone),
    "conv_with_clamp": (_CONVOLUTION, _TENSOR, eager.conv_with_clamp),
    "grid_priors": ("Tensor self, int stride, float offset", _TENSOR, eager.grid_priors),
    "linear_qcs4w": ("Tensor self, Tensor weight, Tensor scales", _TENSOR, eager_quantized.linear_qcs4w),
    "linear_q4gsw": (
        "Tensor self, Tensor weights, Tensor weight_scales, int group_size, Tensor? bias=None",
        _TENSOR, eager_quantized.linear_q4gsw,
    ),
    "linear_q4gsw_backward": (
        "Tensor d_out, Tensor weights, Tensor weight_scales, int group_size",
        _TENSOR, eager_quantized.linear_q4gsw_backward,
    ),
    "linear_dq8ca_q4gsw": (
        "Tensor input, Tensor input_scales, Tensor input_zp, Tensor weights, Tensor weight_sums, "
        "Tensor weight_scales, int group_size, Tensor? bias=None",
        _TENSOR, eager_quantized.linear_dq8ca_q4gsw,
    ),
    "linear_q8ta_q8csw": (
        "Tensor x, float input_scale, int input_zero_point, Tensor weights, Tensor weight_sums, "
        "Tensor weight_scales, Tensor? bias=None",
        _TENSOR, eager_quantized.linear_q8ta_q8csw,
    ),
    "q8ta_linear": (_Q8_LINEAR, _TENSOR, eager_quantized.q8ta_linear),
    "q8ta_linear_gemv": (_Q8_LINEAR, _TENSOR, eager_quantized.q8ta_linear),
    "q8ta_conv2d": (_Q8_CONV.format(""), _TENSOR, eager_quantized.q8ta_conv2d),
    "q8ta_conv2d_pw": (_Q8_CONV.format(""), _TENSOR, eager_quantized.q8ta_conv2d),
    "q8ta_conv2d_dw": (_Q8_CONV.format(""), _TENSOR, eager_quantized.q8ta_conv2d_dw),
    "q8ta_conv2d_transposed": (
        _Q8_CONV.format("SymInt[] output_padding, "),
        _TENSOR, eager_quantized.q8ta_conv2d_transposed,
    ),
    "q8ta_add": (
        "Tensor input_a, Tensor input_b, float input_a_scale, int input_a_zero_point, float input_b_scale, "
        "int input_b_zero_point, float output_scale, int output_zero_point, float alpha",
        _TENSOR, eager_quantized.q8ta_add,
    ),
    "q8ta_relu": (
        "Tensor input, float input_scale, int input_zero_point, float output_scale, int output_zero_point",
        _TENSOR, eager_quantized.q8ta_relu,
    ),
    "q8ta_pixel_shuffle": (
        "Tensor input, float input_scale, int input_zero_point, float output_inv_scale, int output_zero_point, "
        "int upscale_factor",
        _TENSOR, eager_quantized.q8ta_pixel_shuffle,
    ),
    "embedding_q4gsw": (
        "Tensor weight, Tensor weight_scales, int group_size, Tensor indices, bool is_linear_weight=False",
        _TENSOR, eager_quantized.embedding_q4gsw,
    ),
    "q4gsw_requant": ("Tensor latent, Tensor scales, int group_size", _TENSOR, eager_quantized.q4gsw_requant),
    "sdpa": (
        "Tensor q, Tensor k, Tensor v, Tensor? attn_mask=None, float? scale=None", _TENSOR, eager.sdpa,
    ),
    "rms_norm": ("Tensor x, Tensor weight, float eps", _TENSOR, eager.rms_norm),
    "apply_rotary_emb": (
        "Tensor xq, Tensor xk, Tensor freqs_cos, Tensor freqs_sin", _PAIR, eager.apply_rotary_emb,
    ),
    "apply_rotary_emb_hf": (
        "Tensor xq, Tensor xk, Tensor freqs_cos, Tensor freqs_sin, SymInt start_pos",
        _PAIR, eager.apply_rotary_emb_hf,
    ),
    "apply_rotary_emb_interleaved": ("Tensor x, Tensor freqs_cis", _TENSOR, eager.apply_rotary_emb_interleaved),
    "fused_ce": ("Tensor logits, Tensor labels, float n_valid", _PAIR, eager.fused_ce),
    "linear_dW": ("Tensor d_out, Tensor x", _TENSOR, eager.linear_dW),
    "adamw_step": (_ADAMW, "(Tensor(a!), Tensor(b!), Tensor(c!))", eager.adamw_step),
}  # fmt: skip

for _name, (_arguments, _results, _function) in _OPERATORS.items():
    _library.define(f"{_name}({_arguments}) -> {_results}")
    _library.impl(_name, _function, "CompositeExplicitAutograd")

_library.define("select_as_symint(Tensor x, int dim, int index) -> SymInt")
_library.impl("select_as_symint", eager.select_as_symint, "Meta")
for _out, _base in (("conv_with_clamp.out", "conv_with_clamp"), ("grid_priors_out", "grid_priors")):
    _library.define(f"{_out}({_OPERATORS[_base][0]}, *, Tensor(a!) out) -> Tensor(a!)")
    _library.impl(_out, eager.into_out(_OPERATORS[_base][2]), "CompositeExplicitAutograd")
eager.register_gradients(_library)
