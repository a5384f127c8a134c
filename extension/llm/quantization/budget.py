# SPDX-License-Identifier: BSD-3-Clause
"""`quantization.budget`: each matrix gets the form that serves the whole best, within a size or a loss of quality.

texts -> sites_of() (codes of each matrix in each form) -> measure_errors() (what each would cost)
      -> choose() (most error saved for a byte first) -> the model's layers, and a report
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from executorch.devtools.accuracy.choices import (
    Measured,
    best_within,
    choose,
    error_of,
    within,
)
from executorch.devtools.progress import counted
from executorch.extension.llm.model.caches import without_cache
from executorch.extension.llm.model.likelihood import mean_loss, module_logits
from executorch.extension.llm.quantization.budget_text import Budget
from executorch.extension.llm.quantization.forms import Family, Option, Site, sites_of
from executorch.extension.llm.quantization.sensitivity import measure_errors
from executorch.extension.llm.quantization.weights import replace_layers

Choice = list[Option]  # one for each site

_PASSES = 12  # texts whose gradients are taken: their sum over thousands of tokens is what counts
_HELD_OUT = 0.25  # of the texts, which measure what the others have chosen


@dataclass
class Search:
    """One search; `rest`: bytes of the program that are no weights. After apply() `report` says what was chosen and
    why."""

    budget: Budget
    family: Family
    texts: Sequence[Tensor]
    rest: int = 0
    report: str = field(default="", init=False)

    def apply(self, model: nn.Module) -> nn.Module:
        """The model with its matrices in the forms chosen. Raises ValueError for a budget that cannot be met."""
        with without_cache(model):
            sites, chosen = self._search(model)
        return hold(model, sites, chosen)

    def _search(self, model: nn.Module) -> tuple[list[Site], Choice]:
        logits = module_logits(model)
        kept = max(1, round(len(self.texts) * (1 - _HELD_OUT)))
        texts, held_out = self.texts[:kept], self.texts[kept:] or self.texts
        sites = sites_of(model, self.family, texts, logits)
        if not sites:
            raise ValueError(
                "quantization.budget: expected a model with matrices to quantize, found none"
            )
        rest = self.rest + _bytes_of_others(model, sites)
        measure_errors(model, sites, texts[:: max(1, len(texts) // _PASSES)][:_PASSES], logits)
        floats = mean_loss(logits, held_out)

        def loss(chosen: Choice) -> float:
            with as_chosen(sites, chosen):
                measured = counted(held_out, "budget: texts, for what is chosen", len(held_out))
                return mean_loss(logits, measured) - floats

        if self.budget.loss is None:
            chosen = _within_size(sites, self.budget.bytes, rest)
            lost = loss(chosen)
        else:
            chosen, lost = _within_loss(sites, self.budget.loss, loss)
        self.report = (
            f"Budget: {self.budget}. Perplexity on a part of the text that chose nothing: {math.exp(floats):.4g} in "
            f"floats, {math.exp(floats + lost):.4g} as chosen ({math.expm1(lost):+.2%}; estimated errors "
            f"{math.expm1(error_of(chosen)):+.2%}).\n\n{_described(sites, chosen, rest)}"
        )
        return sites, chosen


def _within_size(sites: Sequence[Site], most: float, rest: int) -> Choice:
    chosen = choose(sites, most - rest)
    least = bytes_of(chosen) + rest
    if least > most:
        raise ValueError(
            f"quantization.budget: expected {math.ceil(least / 1e5) / 10} MB or more for this model, found "
            f"{most / 1e6:g} MB"
        )
    return chosen


def _within_loss(
    sites: Sequence[Site], allowed: float, loss: Callable[[Choice], float]
) -> tuple[Choice, float]:
    """The smallest choice that was measured to keep within the loss."""
    found = best_within(within(sites, allowed, loss, enough=allowed), allowed)
    if found is None:
        best = choose(sites)
        found = Measured(best, loss(best))
        if found.lost > allowed:
            raise ValueError(
                f"quantization.budget: expected a perplexity that these forms reach, {math.expm1(found.lost):+.1%} or "
                f"more, found {math.expm1(allowed):+.1%}"
            )
    return found.chosen, found.lost


def bytes_of(chosen: Choice) -> int:
    return sum(option.bytes for option in chosen)


def _described(sites: Sequence[Site], chosen: Choice, rest: int) -> str:
    """A table in Markdown: a row for each matrix, those first that cost most."""
    size = bytes_of(chosen)
    lines = [
        f"{(size + rest) / 1e6:.1f} MB: {size / 1e6:.1f} of the matrices below, {rest / 1e6:.1f} of all else. Error: "
        "thousandths of a nat of a token. Read: of a matrix a token reads all bytes, of a table one row; memory that "
        "gives 40 GB/s takes the time that is said, which bounds the speed of decoding.",
        "",
        "| matrix | shape | form | bits | MB | error | other forms: error | read in us |",
        "|---|--:|---|--:|--:|--:|---|--:|",
    ]
    for site, option in sorted(zip(sites, chosen), key=lambda row: -row[1].error):
        rows, columns = site.weight.shape
        others = ", ".join(
            f"{other.form.name} {1e3 * other.error:.2f}"
            for other in site.options
            if other is not option
        )
        lines.append(
            f"| {site.name} | {rows} x {columns} | {option.form.name} | {8 * option.bytes / (rows * columns):.2f} | "
            f"{option.bytes / 1e6:.2f} | {1e3 * option.error:.2f} | {others} | {_read(site, option) / 40e3:.1f} |"
        )
    total = sum(map(_read, sites, chosen))
    lines.append(
        f"| all | | | | {size / 1e6:.2f} | {1e3 * error_of(chosen):.2f} | | {total / 40e3:.0f} |"
    )
    return "\n".join(lines) + "\n"


def _bytes_of_others(model: nn.Module, sites: Sequence[Site]) -> int:
    chosen = {id(layer.weight) for site in sites for layer in site.layers}
    return sum(each.nbytes for each in model.parameters() if id(each) not in chosen)


def _read(site: Site, option: Option) -> int:
    """Bytes that a token reads."""
    whole = any(isinstance(layer, nn.Linear) for layer in site.layers)
    return option.bytes if whole else option.bytes // site.weight.shape[0]


def hold(model: nn.Module, sites: Sequence[Site], chosen: Choice) -> nn.Module:
    """The model with the layers of the program."""
    made: dict[Any, nn.Module] = {}
    for site, option in zip(sites, chosen):
        made |= option.form.held(site.layers, option.codes)
    return replace_layers(model, made.__contains__, lambda old, _: made[old])


@contextmanager
def as_chosen(sites: Sequence[Site], chosen: Choice) -> Iterator[None]:
    """The layers compute what they would in a program."""
    with ExitStack() as after:
        for site, option in zip(sites, chosen):
            for layer in site.layers:
                before = layer.weight
                weight = option.form.weight(option.codes, before.dtype)
                layer.weight = nn.Parameter(weight, requires_grad=False)
                after.callback(setattr, layer, "weight", before)
                if isinstance(layer, nn.Linear):
                    after.enter_context(layer.register_forward_pre_hook(_inputs_of(option)))
        yield


def _inputs_of(option: Option) -> Any:
    return lambda _, args: (option.form.inputs(args[0]), *args[1:])
