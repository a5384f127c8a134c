# SPDX-License-Identifier: BSD-3-Clause
"""What each form of each matrix would cost a decoder's text, without running a model for each.

A form changes a layer's output y of a token by d. To second order the loss grows by half of (g . d)^2, where g is the
gradient of the loss at y for a next token that the model itself draws: the Fisher information takes the Hessian's place
(as in arXiv 2306.07629, whole vectors here in place of single weights). One pass forward and back gives g of all layers
at once; summed over tokens that is what an Option's `error` says, in nats of a token. Forms are taken to add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

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
            rows = logits(text).float()
            drawn = torch.multinomial(rows.detach().softmax(-1), 1, generator=draw)
            functional.cross_entropy(rows, drawn[:, 0], reduction="sum").backward()
            count += len(rows)
    for site in sites:
        for option in site.options:
            option.error /= max(count, 1)


def _track(module: nn.Module, args: tuple[Tensor, ...], out: Tensor) -> Tensor:
    """Gradients begin here: weights have none."""
    return out if out.requires_grad else out.requires_grad_()


def _watch(options: Sequence[Option]) -> Callable[..., None]:
    def see(layer: Any, args: tuple[Tensor, ...], out: Tensor) -> None:
        given, exact = args[0].detach(), out.detach()

        @torch.no_grad()
        def add(gradient: Tensor) -> None:
            for option in options:
                change = _outputs(layer, option, given) - exact
                option.error += 0.5 * float((change * gradient).sum(-1).square().sum())

        if out.requires_grad:
            out.register_hook(add)

    return see


def _outputs(layer: Any, option: Option, given: Tensor) -> Tensor:
    """What the layer would give."""
    if isinstance(layer, nn.Embedding):
        whole, scales = (each[given.flatten()] for each in option.codes)
        return matrix((whole, scales)).view(*given.shape, -1)
    weight = option.form.weight(option.codes, layer.weight.dtype)
    return functional.linear(option.form.inputs(given), weight, layer.bias)
