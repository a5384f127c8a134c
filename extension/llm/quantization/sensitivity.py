# SPDX-License-Identifier: BSD-3-Clause
"""What each form of each matrix would cost a decoder's text, in nats of a token, as devtools/accuracy/curvature.py
estimates it: the changes that the form makes of a layer's outputs, token by token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from executorch.devtools.accuracy.curvature import draw_classes, watch
from executorch.devtools.progress import counted
from executorch.extension.llm.model.likelihood import Logits
from executorch.extension.llm.quantization.forms import Option, Site, matrix

_SEED = 0  # of the tokens drawn: the same model and text give the same choice


def measure_errors(
    model: nn.Module, sites: Sequence[Site], texts: Sequence[Tensor], logits: Logits
) -> None:
    """Sets each option's `error`. Parameters of the model must not require gradients; it runs without a cache."""
    draw, count = torch.Generator().manual_seed(_SEED), 0
    with ExitStack() as hooks:
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                hooks.enter_context(module.register_forward_hook(_track))
        for site in sites:
            for layer in site.layers:
                hooks.enter_context(layer.register_forward_hook(_watch(site.options)))
        for text in counted(texts, "budget: texts, for what each form costs", len(texts)):
            count += draw_classes(logits(text).float(), draw)
    for site in sites:
        for option in site.options:
            option.error /= max(count, 1)


def _track(module: nn.Module, args: tuple[Tensor, ...], out: Tensor) -> Tensor:
    """Gradients begin here: weights have none."""
    return out if out.requires_grad else out.requires_grad_()


def _watch(options: Sequence[Option]) -> Callable[..., None]:
    def see(layer: Any, args: tuple[Tensor, ...], out: Tensor) -> None:
        given, exact = args[0].detach(), out.detach()
        watch(out, options, lambda option: _outputs(layer, option, given) - exact, dim=-1)

    return see


def _outputs(layer: Any, option: Option, given: Tensor) -> Tensor:
    """What the layer would give."""
    if isinstance(layer, nn.Embedding):
        whole, scales = (each[given.flatten()] for each in option.codes)
        return matrix((whole, scales)).view(*given.shape, -1)
    weight = option.form.weight(option.codes, layer.weight.dtype)
    return functional.linear(option.form.inputs(given), weight, layer.bias)
