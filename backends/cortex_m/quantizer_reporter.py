# SPDX-License-Identifier: BSD-3-Clause
"""What a quantizer has annotated, as text: a summary at level INFO, each node at level DEBUG."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tabulate import tabulate
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    QuantizationSpec,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

logger = logging.getLogger(__name__)
_WIDTH = 100
PREVIOUS = "Tried annotating already quantized node."


def qspec_repr(qspec: QuantizationSpecBase | None) -> str:
    """One line, without observers."""
    match qspec:
        case None:
            return "None"
        case SharedQuantizationSpec():
            return f"SharedQuantizationSpec(edge_or_node={qspec.edge_or_node})"
        case DerivedQuantizationSpec():
            derived = f"derived_from={qspec.derived_from}, dtype={qspec.dtype}"
            return f"DerivedQuantizationSpec({derived})"
        case QuantizationSpec():
            limits = qspec.quant_min, qspec.quant_max
            known = "" if limits == (None, None) else f", range=({limits[0]},{limits[1]})"
            dtype = str(qspec.dtype).removeprefix("torch.").upper()
            return f"QuantizationSpec(dtype={dtype}{known})"
        case _:
            return type(qspec).__name__


class QuantizerInfo(NamedTuple):
    """`targeted_nodes_description`: of a node finder; `qconfig_label`: of a configuration; `support_config_path`: where
    it stands what is supported."""

    name: str
    targeted_nodes_description: str
    qconfig_label: str
    support_config_path: str


class NodeQSpecReport(NamedTuple):
    name: str
    qspec_input_map_lines: list[str]
    qspec_output: str


class AnnotatedPatternReport(NamedTuple):
    """Calls that were annotated as one."""

    nodes: list[NodeQSpecReport]


class RejectedPatternReport(NamedTuple):
    node_names: list[str]
    rejection_reason: str


def _reported(node: Node) -> NodeQSpecReport:
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    inputs = {} if annotation is None else annotation.input_qspec_map
    lines = [f"{each.name}: {qspec_repr(spec)}" for each, spec in inputs.items()]
    return NodeQSpecReport(node.name, lines, qspec_repr(annotation and annotation.output_qspec))


class QuantizerReport:
    def __init__(self, quantizer_info: QuantizerInfo) -> None:
        self.quantizer_info = quantizer_info
        self.annotated: list[AnnotatedPatternReport] = []
        self.rejected: list[RejectedPatternReport] = []

    def report_accept(self, pattern: Sequence[Node]) -> None:
        self.annotated.append(AnnotatedPatternReport(list(map(_reported, pattern))))

    def report_reject(self, pattern: Sequence[Node], reason: str) -> None:
        self.rejected.append(RejectedPatternReport([each.name for each in pattern], reason))

    def quantizer_report(self, include_table: bool) -> list[str]:
        info = self.quantizer_info
        lines = [
            f"{info.name} using {info.targeted_nodes_description}",
            f"Annotating with {info.qconfig_label}",
            f"Supported operators and patterns defined by {info.support_config_path}",
            *self._counts(),
        ]
        return [*lines, "", *(self._table() if include_table else ())]

    def _counts(self) -> list[str]:
        if not self.annotated and not self.rejected:
            return ["   No patterns accepted or rejected."]
        counts = [len(each.node_names) for each in self.rejected if _is_again(each)]
        others = [len(each.node_names) for each in self.rejected if not _is_again(each)]
        return [
            f"   Accepted nodes: {sum(len(each.nodes) for each in self.annotated)}",
            f"   Rejected due to previous annotation: {sum(counts)}",
            f"   Rejected nodes: {sum(others)}",
        ]

    def _table(self) -> list[str]:
        rows = [row for each in self.annotated for row in _rows_of(each)]
        rows += [_row_of(each) for each in self.rejected if not _is_again(each)]
        names = ["", "NODE NAME", "INPUT QSPEC MAP", "OUTPUT QSPEC MAP"]
        if all(not row[0] for row in rows):  # no calls that were annotated as one
            names, rows = names[1:], [row[1:] for row in rows]
        table = tabulate(rows, names, "simple").splitlines() if rows else []
        return [f"   {line}" for line in table]


def _is_again(rejected: RejectedPatternReport) -> bool:
    return rejected.rejection_reason == PREVIOUS


def _rows_of(annotated: AnnotatedPatternReport) -> list[list[str]]:
    nodes = annotated.nodes
    marks = [""] if len(nodes) == 1 else ["╒", *"|" * (len(nodes) - 2), "╘"]
    return [
        [mark, node.name, "\n".join(node.qspec_input_map_lines), node.qspec_output]
        for mark, node in zip(marks, nodes, strict=True)
    ]


def _row_of(rejected: RejectedPatternReport) -> list[str]:
    names = rejected.node_names
    name = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return ["", name, f"Rejected: {rejected.rejection_reason}", ""]


class QuantizerReporterUser:
    """A quantizer that says what it does, to the reporter that it is given."""

    def __init__(self) -> None:
        self.reporter: QuantizerReporter | None = None

    def register_reporter(self, reporter: QuantizerReporter) -> None:
        self.reporter = reporter

    def get_quantizer_info(self) -> QuantizerInfo:
        raise NotImplementedError(f"{type(self).__name__} says nothing of itself")

    def report_accept(self, pattern: Sequence[Node]) -> None:
        if self.reporter is not None:
            self.reporter.report_accept(self, pattern)

    def report_reject(self, pattern: Sequence[Node], reason: str) -> None:
        if self.reporter is not None:
            self.reporter.report_reject(self, pattern, reason)


class QuantizerReporter:
    """`quantizers`: those of them that are users of a reporter."""

    def __init__(
        self, quantizers: Iterable[object], report_title: str = "QUANTIZATION REPORT"
    ) -> None:
        self.report_title = report_title
        self.set_quantizers(quantizers)

    def set_quantizers(self, quantizers: Iterable[object]) -> None:
        users = [each for each in quantizers if isinstance(each, QuantizerReporterUser)]
        self.quantizers = {each: QuantizerReport(each.get_quantizer_info()) for each in users}
        for each in users:
            each.register_reporter(self)

    def report_accept(self, quantizer: QuantizerReporterUser, pattern: Sequence[Node]) -> None:
        self.quantizers[quantizer].report_accept(pattern)

    def report_reject(
        self, quantizer: QuantizerReporterUser, pattern: Sequence[Node], reason: str
    ) -> None:
        self.quantizers[quantizer].report_reject(pattern, reason)

    def log_quantizer_report(self, model: GraphModule | None = None) -> None:
        """At level INFO; with each node at level DEBUG."""
        if logger.isEnabledFor(logging.INFO):
            detailed = logger.isEnabledFor(logging.DEBUG)
            logger.info(self.get_quantization_report(model, detailed))

    def get_quantization_report(self, model: GraphModule | None, extended_report: bool) -> str:
        ruler = "-" * _WIDTH
        lines = ["", ruler, self.report_title.center(_WIDTH), ruler]
        for each in self.quantizers.values():
            lines += [*each.quantizer_report(extended_report), ruler]
        return "\n".join([*lines, *self.unannotated_nodes_report(model, extended_report)])

    def unannotated_nodes_report(
        self, model: GraphModule | None, extended_report: bool
    ) -> list[str]:
        if model is None:
            return []
        nodes = [node for node in model.graph.nodes if node.op != "get_attr"]
        left = [node.name for node in nodes if Q_ANNOTATION_KEY not in node.meta]
        named = ["Non annotated nodes:", *(f"    {name}" for name in left)]
        lines = named if extended_report and left else [f"Non annotated nodes: {len(left)}"]
        return [*lines, "-" * _WIDTH]
