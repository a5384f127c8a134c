# SPDX-License-Identifier: BSD-3-Clause
"""`QnnQuantizer`: which values are quantized, as the annotations of the table's rows say, and in which dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.observer import MinMaxObserver
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.qualcomm.aot.ops import TABLE
from executorch.backends.qualcomm.quantizer import qconfig
from executorch.backends.qualcomm.quantizer.qconfig import QuantizationConfig
from executorch.backends.qualcomm.serialization.qc_schema import (
    HtpArch,
    QcomChipset,
    QnnExecuTorchBackendType,
    _soc_info_table,
)
from executorch.exir.backend.lowering.quantizer.captured import (
    CapturedTable,
    function_name,
    module_paths,
    module_types,
)
from executorch.exir.backend.lowering.quantizer.rewrites import silu_to_sigmoid
from executorch.exir.backend.lowering.quantizer.table_quantizer import Config, TableQuantizer
from executorch.exir.graph_facts import argument


class QuantDtype(IntEnum):
    """Bits of activations and weights."""

    use_16a16w = 0
    use_16a8w = 1
    use_16a4w = 2
    use_16a4w_block = 3
    use_8a8w = 4
    use_8a4w = 5
    use_fp16a8w = 6
    use_16a2w = 7


_U8, _U16 = torch.uint8, torch.uint16
# Those of one scale, None where there are none, and the dtypes of those of a scale per channel.
_CONFIGS: dict[QuantDtype, tuple[Callable[..., QuantizationConfig] | None, torch.dtype, torch.dtype]] = {
    QuantDtype.use_16a16w: (qconfig.get_16a16w_qnn_ptq_config, _U16, torch.int16),
    QuantDtype.use_16a8w: (qconfig.get_16a8w_qnn_ptq_config, _U16, torch.int8),
    QuantDtype.use_16a4w: (qconfig.get_16a4w_qnn_ptq_config, _U16, torch.int4),
    QuantDtype.use_8a8w: (qconfig.get_8a8w_qnn_ptq_config, _U8, torch.int8),
    QuantDtype.use_8a4w: (qconfig.get_8a4w_qnn_ptq_config, _U8, torch.int4),
    QuantDtype.use_16a4w_block: (qconfig.get_16a4w_qnn_ptq_config, _U16, torch.int4),
    QuantDtype.use_16a2w: (None, _U16, torch.int2),
}  # fmt: skip
_WIDE = frozenset({"conv1d", "conv2d", "conv3d", "linear", "matmul", "layer_norm"})
# Their weights have the dtype of activations.
_NORMS = frozenset({"layer_norm", "instance_norm", "rms_norm"})
_PRODUCTS = frozenset({"matmul", "bmm", "mm"})
BLOCK = 32  # input channels, unless set_block_size_map says otherwise


@dataclass
class ModuleQConfig:
    """Of the operators of a module, or of all. RuntimeError for what is not there."""

    quant_dtype: QuantDtype = QuantDtype.use_8a8w
    is_qat: bool = False
    is_conv_per_channel: bool = False
    is_linear_per_channel: bool = False
    is_embedding_per_channel: bool = False
    act_observer: Any = None
    act_symmetric: bool = False
    eps: float | None = None

    def __post_init__(self) -> None:
        if self.is_qat or self.quant_dtype not in _CONFIGS:
            raise RuntimeError(
                f"the quant config, (quant_dtype: {self.quant_dtype}, is_qat: {self.is_qat}) is not support"
            )
        if self.is_embedding_per_channel:
            raise RuntimeError("is_embedding_per_channel: tables of embeddings stay float as yet")
        given = {"act_symmetric": self.act_symmetric, "eps": self.eps}
        if self.act_observer is not None:
            given["act_observer"] = self.act_observer
        per_tensor, activation, weight = _CONFIGS[self.quant_dtype]
        self._has_per_tensor = per_tensor is not None
        self._per_tensor = (per_tensor or qconfig.get_16a4w_qnn_ptq_config)(**given)
        self._of_norms = replace(self._per_tensor, weight=self._per_tensor.input_activation)
        self._per_channel = qconfig.get_ptq_per_channel_quant_config(activation, weight, **given)
        self._per_block = partial(qconfig.get_ptq_per_block_quant_config, **given)

    def config_of(self, node: Node, block: tuple[int, ...] | None = None) -> QuantizationConfig:
        """`block`: of the weight, where the dtype has blocks."""
        name = function_name(node)
        if self.quant_dtype == QuantDtype.use_16a4w_block and _reads_pixels(node):
            found = _block_of(node, block)
            if found is not None:
                return self._per_block(block_size=found)
        is_per_channel = (name.startswith("conv") and self.is_conv_per_channel) or (
            name == "linear" and self.is_linear_per_channel
        )
        if is_per_channel:
            return self._per_channel
        if name in _NORMS:
            return self._of_norms
        if not self._has_per_tensor and (name.startswith("conv") or name == "linear"):
            raise ValueError(
                f"{self.quant_dtype.name} has a scale for each channel: set is_conv_per_channel and "
                "is_linear_per_channel"
            )
        return self._per_tensor


def _reads_pixels(node: Node) -> bool:
    """Linear layers, and convolutions that are such at each place."""
    name = function_name(node)
    is_plain = name in ("conv1d", "conv2d", "conv3d") and argument(node, "groups", 1) == 1
    return name == "linear" or (is_plain and all(size == 1 for size in _sizes(node)[2:]))


def _sizes(node: Node) -> list[int]:
    return list(node.args[1].meta["val"].shape)


def _block_of(node: Node, given: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """None where blocks of the usual size do not fill the weight's rows: it has a scale for each channel."""
    sizes = _sizes(node)
    block = (1, BLOCK, *[1] * (len(sizes) - 2)) if given is None else tuple(given)
    fits = len(block) == len(sizes) and block[0] == 1 and sizes[1] % block[1] == 0
    if fits and all(each == 1 for each in block[2:]):
        return block
    if given is not None:
        raise ValueError(
            f"{node.name}: expected a block (1, n, 1 ..) that fills rows of {sizes}, found {given}"
        )
    return None


def get_submodule_type_predicate(module_type_str: str) -> Callable[[Node], bool]:
    """Of operators that are in a module of that class, by a part of its name."""
    return lambda node: any(module_type_str in each for each in module_types(node))


def get_submodule_name_predicate(module_name_str: str) -> Callable[[Node], bool]:
    """Of operators whose module's path has that text."""
    return lambda node: any(module_name_str in each for each in module_paths(node))


class QnnQuantizer(TableQuantizer):
    """8a8w unless set_default_quant_config says otherwise."""

    table = TABLE
    everywhere = True
    folded = frozenset()  # limits are operators of their own

    def __init__(
        self,
        backend: QnnExecuTorchBackendType = QnnExecuTorchBackendType.kHtpBackend,
        soc_model: QcomChipset = QcomChipset.SM8750,
        strict: bool = True,
    ) -> None:
        super().__init__()
        self.backend, self.soc_model, self.strict = backend, soc_model, strict
        self._default = ModuleQConfig()
        self._submodules: list[tuple[Callable[[Node], bool], ModuleQConfig]] = []
        self._custom: list[Callable[[GraphModule], None]] = []
        self._discarded_nodes: set[str] = set()
        self._discarded_ops: set[OpOverload] = set()
        self._blocks: dict[str, tuple[int, ...]] = {}

    def set_default_quant_config(
        self,
        quant_dtype: QuantDtype,
        is_qat: bool = False,
        is_conv_per_channel: bool = False,
        is_linear_per_channel: bool = False,
        is_embedding_per_channel: bool = False,
        act_observer: Any = None,
        act_symmetric: bool = False,
        eps: float | None = None,
    ) -> None:
        self._default = ModuleQConfig(
            quant_dtype,
            is_qat,
            is_conv_per_channel,
            is_linear_per_channel,
            is_embedding_per_channel,
            act_observer,
            act_symmetric,
            eps,
        )

    def set_submodule_qconfig_list(
        self, submodule_qconfig_list: Sequence[tuple[Callable[[Node], bool], ModuleQConfig]]
    ) -> None:
        """The first whose predicate holds of an operator counts."""
        self._submodules = list(submodule_qconfig_list)

    def add_custom_quant_annotations(
        self, custom_quant_annotations: Sequence[Callable[[GraphModule], None]]
    ) -> None:
        """Functions that annotate before the table does; what they annotate stays so."""
        self._custom += custom_quant_annotations

    def set_block_size_map(self, block_size_map: Mapping[str, tuple[int, ...]]) -> None:
        """Of weights by the names of the nodes that read them, such as (1, 64), where dtypes have blocks."""
        self._blocks = dict(block_size_map)

    def add_discard_nodes(self, nodes: Iterable[str]) -> None:
        """Names of nodes that stay float."""
        self._discarded_nodes.update(nodes)

    def add_discard_ops(self, ops: Iterable[OpOverload]) -> None:
        self._discarded_ops.update(ops)

    def get_supported_ops(self) -> set[OpOverload]:
        return set(CapturedTable(self.table).operators())

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        silu_to_sigmoid(model)
        return super().transform_for_annotation(model)

    def annotate(self, model: GraphModule) -> GraphModule:
        for custom in self._custom:
            custom(model)
        super().annotate(model)
        for node in model.graph.nodes:
            if function_name(node) in _PRODUCTS and Q_ANNOTATION_KEY in node.meta:
                _second_around_zero(node)
        return model

    def _configs(self) -> list[Any]:
        every = (self._default, *(config for _, config in self._submodules))
        return [each._per_tensor for each in every]

    def _config_of(self, node: Node) -> Config:
        is_discarded = node.name in self._discarded_nodes or node.target in self._discarded_ops
        if is_discarded or (self.filter_fn is not None and not self.filter_fn(node)):
            return None
        matching = (config for predicate, config in self._submodules if predicate(node))
        chosen = next(matching, self._default)
        if chosen.quant_dtype == QuantDtype.use_16a16w and function_name(node) in _WIDE:
            self._check_arch(node, "weights of 16 bits", HtpArch.V73)
        found = chosen.config_of(node, self._blocks.get(node.name))
        if found.block_size is not None:
            self._check_arch(node, "weights by blocks", HtpArch.V69)
        return found

    def _check_arch(self, node: Node, what: str, oldest: HtpArch) -> None:
        info = _soc_info_table.get(self.soc_model)
        if info is not None and info.htp_info.htp_arch < oldest:
            raise ValueError(
                f"{node.name}: {what} need an NPU of {oldest.name} or later, {self.soc_model.name} has "
                f"{info.htp_info.htp_arch.name}"
            )


def wide_quantizer() -> QnnQuantizer:
    """Activations of 16 bits, weights of 8."""
    made = QnnQuantizer()
    made.set_default_quant_config(QuantDtype.use_16a8w)
    return made


def _second_around_zero(node: Node) -> None:
    """Of 16 bits the second operand is symmetric, as weights are."""
    inputs = node.meta[Q_ANNOTATION_KEY].input_qspec_map
    second = node.args[1]
    spec = inputs.get(second)
    if getattr(spec, "quant_max", None) == 65535:
        limits = qconfig.WEIGHTS[torch.int16]
        inputs[second] = replace(
            spec,
            dtype=torch.int16,
            quant_min=limits[0],
            quant_max=limits[1],
            qscheme=torch.per_tensor_symmetric,
            observer_or_fake_quant_ctr=MinMaxObserver.with_args(eps=qconfig.DEFAULT_EPS_16BIT),
        )
