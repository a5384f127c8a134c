# SPDX-License-Identifier: BSD-3-Clause
"""`MixedQuantizer`: each layer as one of several quantizers annotates it, or float. It works on torchao's annotations
alone, so that any backend's quantizer may take part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    Quantizer,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.exir.backend.lowering.quantizer.captured import module_paths

FLOAT = "float"
Annotations = dict[Node, QuantizationAnnotation]


@dataclass(frozen=True)
class Layer:
    """Operators that are quantized together: what lowering folds into one, and what shares its parameters. `name`: of
    the first node; `module`: where it is in the model; `operators`: what they are."""

    name: str
    nodes: frozenset[str]
    module: str
    operators: str


class MixedQuantizer(Quantizer):
    """`forms`: quantizers by name, of which the first decides what a layer is; `chosen`: the form, or FLOAT, of layers
    by their name, the first form for others. After it has annotated, `layers` are those it found."""

    def __init__(
        self, forms: Mapping[str, Quantizer], chosen: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self._forms = dict(forms)
        self._chosen = dict(chosen or {})
        self.layers: list[Layer] = []

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        for quantizer in self._used().values():
            model = quantizer.transform_for_annotation(model)
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        by_form = {name: _annotations(model, each) for name, each in self._used().items()}
        first = next(iter(by_form.values()))
        layers = [_layer(nodes) for nodes in _together(first)]
        self.layers += layers
        form_of = {
            node: self._chosen.get(layer.name, next(iter(by_form)))
            for layer in layers
            for node in layer.nodes
        }
        for node in model.graph.nodes:
            form = form_of.get(node.name, FLOAT)
            if form != FLOAT and node in by_form[form]:
                node.meta[Q_ANNOTATION_KEY] = by_form[form][node]
        return model

    def validate(self, model: GraphModule) -> None:
        """Each form's annotations are valid, and parts of them that share nothing with others, too."""

    def _used(self) -> dict[str, Quantizer]:
        first = next(iter(self._forms))
        asked = set(self._chosen.values())
        return {name: each for name, each in self._forms.items() if name == first or name in asked}


def _annotations(model: GraphModule, quantizer: Quantizer) -> Annotations:
    """The model's nodes have none behind it."""
    quantizer.annotate(model)
    nodes = [node for node in model.graph.nodes if Q_ANNOTATION_KEY in node.meta]
    return {
        node: annotation
        for node in nodes
        if (annotation := node.meta.pop(Q_ANNOTATION_KEY)).input_qspec_map
        or annotation.output_qspec is not None
    }


def _together(annotations: Annotations) -> list[list[Node]]:
    """In graph order: nodes whose annotation names another's, and those between which nothing is quantized."""
    leader: dict[Node, Node] = {node: node for node in annotations}

    def find(node: Node) -> Node:
        while leader[node] is not node:
            node = leader[node]
        return node

    order = {node: number for number, node in enumerate(annotations)}
    for node, annotation in annotations.items():
        for other in (*_named(annotation), *_unquantized(node, annotations)):
            if other in leader:
                first, second = sorted((find(node), find(other)), key=order.__getitem__)
                leader[second] = first
    groups: dict[Node, list[Node]] = {}
    for node in annotations:
        groups.setdefault(find(node), []).append(node)
    return list(groups.values())


def _named(annotation: QuantizationAnnotation) -> Iterator[Node]:
    """Of which parameters are shared."""
    for spec in (*annotation.input_qspec_map.values(), annotation.output_qspec):
        if isinstance(spec, SharedQuantizationSpec):
            shared: Any = spec.edge_or_node
            yield shared[1] if isinstance(shared, tuple) else shared


def _unquantized(node: Node, annotations: Annotations) -> Iterator[Node]:
    """What it reads as the operator before gives it, unrounded."""
    for source in node.all_input_nodes:
        before = annotations.get(source)
        is_unrounded = before is not None and before.output_qspec is None
        if is_unrounded and annotations[node].input_qspec_map.get(source) is None:
            yield source


def _layer(nodes: Sequence[Node]) -> Layer:
    names = [str(node.target).removeprefix("aten.").split(".")[0] for node in nodes]
    paths = [path for node in nodes for path in module_paths(node)[-1:] if path]
    return Layer(
        nodes[0].name,
        frozenset(node.name for node in nodes),
        paths[0] if paths else "",
        ", ".join(dict.fromkeys(names)),
    )
