# SPDX-License-Identifier: BSD-3-Clause
"""Bits of a language model, and its ranges, which are found on one method and are those of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch.fx import GraphModule
from torchao.quantization.pt2e import AffineQuantizedObserverBase, MinMaxObserver, ObserverBase
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.qualcomm.quantizer.custom_annotation import annotate_kv_8bit
from executorch.backends.qualcomm.quantizer.quantizer import (
    ModuleQConfig,
    QnnQuantizer,
    QuantDtype,
    get_submodule_name_predicate,
)
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.extension.llm.transform.static_program import StaticProgram

_OUTPUT = "model.output"  # the module that gives logits
# What loses most by few bits: values, and the ways back to the residual stream.
_SENSITIVE = (".wvs", ".wo", ".feed_forward.w2")
_OBSERVERS = (ObserverBase, AffineQuantizedObserverBase)


@dataclass(frozen=True)
class LLMQuantRecipe:
    """Bits of activations and weights; weights have a scale for each channel, by blocks for each 32 of its inputs.
    `output`: of the layer that gives logits; `sensitive`: of projections to values, out of attention and down;
    `has_8bit_cache`: keys and values have 8 bits, whatever activations have."""

    default: QuantDtype = QuantDtype.use_16a8w
    output: QuantDtype = QuantDtype.use_16a8w
    sensitive: QuantDtype | None = None
    has_8bit_cache: bool = True

    def quantizer(self, soc: QcomChipset) -> QnnQuantizer:
        made = QnnQuantizer(soc_model=soc)
        # Not a moving average: caches are empty in the first calls.
        options = {"is_linear_per_channel": True, "act_observer": MinMaxObserver}
        made.set_default_quant_config(self.default, **options)
        parts = [(get_submodule_name_predicate(_OUTPUT), ModuleQConfig(self.output, **options))]
        if self.sensitive is not None:
            config = ModuleQConfig(self.sensitive, **options)
            parts += [(get_submodule_name_predicate(each), config) for each in _SENSITIVE]
        made.set_submodule_qconfig_list(parts)
        if self.has_8bit_cache:
            made.add_custom_quant_annotations([annotate_kv_8bit])
        return made


def captured(program: StaticProgram, lengths: Mapping[str, int]) -> dict[str, GraphModule]:
    return {
        method: torch.export.export(program, program.example(length), strict=False).module()
        for method, length in lengths.items()
    }


@torch.no_grad()
def quantized(
    program: StaticProgram,
    lengths: Mapping[str, int],
    recipe: LLMQuantRecipe,
    texts: Iterable[torch.Tensor],
    soc: QcomChipset = QcomChipset.SM8650,
) -> dict[str, GraphModule]:
    """Methods by their names, whose calls have `lengths` tokens. `texts`, tokens (1, n), are read by the method of the
    longest calls; what it sees holds for the others, so that one reads the caches that the other wrote."""
    prepared = {
        method: prepare_pt2e(module, recipe.quantizer(soc))
        for method, module in captured(program, lengths).items()
    }
    longest = max(lengths, key=lengths.__getitem__)
    manager = program.manager(lengths[longest])
    for text in texts:
        manager.reset()
        manager.prefill(prepared[longest], text)
    for method, module in prepared.items():
        if method != longest:
            _take_observers(module, prepared[longest], method)
    return {method: convert_pt2e(module) for method, module in prepared.items()}


def _take_observers(module: GraphModule, calibrated: GraphModule, method: str) -> None:
    """Graphs of calls of other lengths have the same operators in the same order."""
    ours, theirs = _observed(module), _observed(calibrated)
    if [what for what, _ in ours] != [what for what, _ in theirs]:
        raise ValueError(f"{method}: expected the operators of the method that was calibrated")
    for (_, name), (_, other) in zip(ours, theirs):
        setattr(module, name, getattr(calibrated, other))


def _observed(module: GraphModule) -> list[tuple[str, str]]:
    """What each observer sees, in the order of the graph, and the observer's name."""
    return [
        (str(getattr(node.args[0].target, "__name__", node.args[0].op)), str(node.target))
        for node in module.graph.nodes
        if node.op == "call_module" and isinstance(getattr(module, str(node.target)), _OBSERVERS)
    ]
