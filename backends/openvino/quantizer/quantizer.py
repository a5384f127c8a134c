# SPDX-License-Identifier: BSD-3-Clause
"""`OpenVINOQuantizer`: NNCF says which tensors of a graph are quantized and how, as annotations of torchao's flow;
`quantize_model`: NNCF's own flow with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, ClassVar

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import HistogramObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import (
    EdgeOrNode,
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    Quantizer,
    SharedQuantizationSpec,
)

from executorch.backends.openvino.quantizer.nncf_library import (
    fold_constants,
    nncf,
    nncf_graph,
    operands,
    prepare,
    reasons,
    weight_of,
)
from executorch.backends.openvino.quantizer.observers import weight_spec

QUANT_ANNOTATION_KEY = "quantization_annotation"
EPSILON = 1e-16
ROUNDED = {torch.float32, torch.float16, torch.bfloat16}  # dtypes that are quantized
_log = logging.getLogger(__name__)


class QuantizationMode(str, Enum):
    """Activations and weights in 8 bits (three presets of NNCF), or weights only."""

    INT8_SYM = "int8_sym"
    INT8_MIXED = "int8_mixed"
    INT8_TRANSFORMER = "int8_transformer"
    INT8WO_SYM = "int8wo_sym"
    INT8WO_ASYM = "int8wo_asym"
    INT4WO_SYM = "int4wo_sym"
    INT4WO_ASYM = "int4wo_asym"


class OpenVINOQuantizer(Quantizer):
    """`kwargs` are NNCF's: of its MinMax algorithm (ignored_scope, target_device, ...) in modes of activations, of its
    weight compression (group_size, ratio, all_layers, backup_mode, ...) in modes of weights only."""

    WEIGHTS_ONLY_COMPRESSION_MODES: ClassVar[dict[QuantizationMode, str]] = {
        QuantizationMode.INT4WO_SYM: "int4_sym",
        QuantizationMode.INT4WO_ASYM: "int4_asym",
        QuantizationMode.INT8WO_SYM: "int8_sym",
        QuantizationMode.INT8WO_ASYM: "int8_asym",
    }

    def __init__(
        self, *, mode: QuantizationMode = QuantizationMode.INT8_SYM, **kwargs: Any
    ) -> None:
        super().__init__()
        nncf()
        self.mode = QuantizationMode(mode)
        weights_only = self.mode in self.WEIGHTS_ONLY_COMPRESSION_MODES
        self._algorithm = (self._compression if weights_only else self._min_max)(kwargs)

    def annotate(self, model: GraphModule) -> GraphModule:
        with reasons("to read the graph"):
            graph = nncf_graph(model)
        if self._is_weights_only():
            self._annotate_weights(model, graph)
        else:
            self._annotate_all(model, graph)
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing is asked of a model."""

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """NNCF looks at constants as they will be."""
        fold_constants(model)
        return model

    def set_ignored_scope(
        self,
        names: list[str] | None = None,
        patterns: list[str] | None = None,
        types: list[str] | None = None,
        subgraphs: list[tuple[list[str], list[str]]] | None = None,
        validate: bool = True,
    ) -> None:
        """What is not quantized: names of nodes, patterns of names, types of operators, and what lies between inputs
        and outputs. Replaces what was ignored before."""
        library = nncf()
        parts = [library.Subgraph(inputs=ins, outputs=outs) for ins, outs in subgraphs or []]
        self._algorithm.set_ignored_scope(
            library.IgnoredScope(
                names=names or [],
                patterns=patterns or [],
                types=types or [],
                subgraphs=parts,
                validate=validate,
            )
        )

    # What NNCF's flow asks.

    def get_nncf_quantization_setup(self, model: GraphModule, graph: Any) -> Any:
        if self._is_weights_only():
            raise TypeError(
                f"mode {self.mode.value} quantizes weights only: NNCF's compress_pt2e takes it"
            )
        with reasons("what to quantize"):
            prepare(self._algorithm, model)
            return self._algorithm.find_quantization_setup(model, graph)

    def get_nncf_weight_compression_parameters(self, model: GraphModule, graph: Any) -> Any:
        self._check_weights_only()
        with reasons("which weights to compress"):
            prepare(self._algorithm, model)
            return self._algorithm.get_weight_compression_parameters(model, graph)

    def get_weights_compression_config(self) -> dict[str, Any]:
        self._check_weights_only()
        algorithm = self._algorithm
        return {
            "mode": self.WEIGHTS_ONLY_COMPRESSION_MODES[self.mode],
            "group_size": algorithm._group_size,
            "all_layers": algorithm._all_layers,
            "backup_mode": algorithm._backup_mode,
        }

    def _is_weights_only(self) -> bool:
        return self.mode in self.WEIGHTS_ONLY_COMPRESSION_MODES

    def _check_weights_only(self) -> None:
        if not self._is_weights_only():
            raise TypeError(
                f"mode {self.mode.value} quantizes activations: NNCF's quantize_pt2e takes it"
            )

    def _min_max(self, kwargs: dict[str, Any]) -> Any:
        from nncf.quantization.algorithms.min_max.algorithm import MinMaxQuantization

        library = nncf()
        preset, kind = library.QuantizationPreset.PERFORMANCE, None
        if self.mode is QuantizationMode.INT8_MIXED:
            preset = library.QuantizationPreset.MIXED
        elif self.mode is QuantizationMode.INT8_TRANSFORMER:
            preset, kind = None, library.ModelType.TRANSFORMER
        return MinMaxQuantization(preset=preset, model_type=kind, **kwargs)

    def _compression(self, kwargs: dict[str, Any]) -> Any:
        from nncf.quantization.algorithms.weight_compression.algorithm import (
            WeightCompression,
            get_weight_compression_configuration,
        )

        mode = nncf().CompressWeightsMode(self.WEIGHTS_ONLY_COMPRESSION_MODES[self.mode])
        configuration = get_weight_compression_configuration(mode, dataset=None, **kwargs)
        return WeightCompression(subset_size=1, **configuration)

    def _annotate_weights(self, model: GraphModule, graph: Any) -> None:
        """NNCF's parameters of every weight that it compresses; the observer packs it."""
        all_parameters, _, _ = self.get_nncf_weight_compression_parameters(model, graph)
        nodes = {node.name: node for node in model.graph.nodes}
        for parameters in all_parameters:
            if parameters.compression_config is None:
                continue
            target = nodes[parameters.node_with_weight.node_name]
            weight = operands(target)[parameters.weight_port_id]
            spec = weight_spec(parameters)
            _annotation(target).input_qspec_map[weight] = spec

    def _annotate_all(self, model: GraphModule, graph: Any) -> None:
        setup = self.get_nncf_quantization_setup(model, graph)
        nodes = {node.name: node for node in model.graph.nodes}
        order = {node: place for place, node in enumerate(model.graph.nodes)}
        points = {
            key: point
            for key, point in setup.quantization_points.items()
            if _can_be_rounded(point, nodes, graph)
        }
        specs: dict[int, QuantizationSpecBase] = {
            key: _spec_of(point, nodes, graph) for key, point in points.items()
        }
        places = {key: _places(point, nodes, graph) for key, point in points.items()}
        for members in setup.unified_scale_groups.values():
            group = {key for key in members if key in points}
            if not group:
                continue
            first = min(group, key=lambda key: order[_target(points[key], nodes)])
            self._check_group(group, points)
            for key in group - {first}:
                specs[key] = SharedQuantizationSpec(places[first][0])
        for key, spec in specs.items():
            for place in places[key]:
                if isinstance(place, tuple):
                    source, target = place
                    _annotation(target).input_qspec_map[source] = spec
                else:
                    _annotation(place).output_qspec = spec

    def _check_group(self, group: Iterable[int], points: Any) -> None:
        configurations = {str(points[key].qconfig) for key in group}
        if len(configurations) > 1:
            raise nncf().InternalError(
                f"tensors of one scale are to be quantized in different ways: {sorted(configurations)}"
            )


def quantize_model(
    captured_model: GraphModule,
    calibration_dataset: Iterable[Any],
    *,
    mode: QuantizationMode = QuantizationMode.INT8_SYM,
    subset_size: int = 300,
    fast_bias_correction: bool | None = True,
    smooth_quant: bool = False,
    transform_fn: Callable[[Any], Any] | None = None,
    extra_quantizer_options: dict[str, Any] | None = None,
    **kwargs: Any,
) -> GraphModule:
    """NNCF's post-training quantization of an exported module. `transform_fn`: from an item of the data set to the
    model's input; `kwargs` are those of NNCF's quantize_pt2e."""
    library = nncf()
    from nncf.experimental.torch.fx import quantize_pt2e

    options = dict(extra_quantizer_options or {})
    if "mode" in options:
        _log.warning(
            "mode in extra_quantizer_options is ignored: it is %s", QuantizationMode(mode).value
        )
        del options["mode"]
    quantizer = OpenVINOQuantizer(mode=mode, **options)
    return quantize_pt2e(
        captured_model,
        quantizer,
        subset_size=subset_size,
        calibration_dataset=library.Dataset(calibration_dataset, transform_fn),
        fast_bias_correction=fast_bias_correction,
        smooth_quant=smooth_quant,
        **{"fold_quantize": False} | kwargs,
    )


def _annotation(node: Node) -> QuantizationAnnotation:
    found = node.meta.setdefault(QUANT_ANNOTATION_KEY, QuantizationAnnotation())
    found._annotated = True
    return found


def _target(point: Any, nodes: dict[str, Node]) -> Node:
    return nodes[point.insertion_point.target_node_name]


def _places(point: Any, nodes: dict[str, Node], graph: Any) -> list[EdgeOrNode]:
    """Where a point quantizes: edges (from, to), or a node whose result it is."""
    target = _target(point, nodes)
    if point.is_weight_quantization_point():
        found = weight_of(target, graph)
        return [(found[0], target)] if found else []
    port = point.insertion_point.input_port_id
    return [target] if port is None else [(operands(target)[port], target)]


def _can_be_rounded(point: Any, nodes: dict[str, Node], graph: Any) -> bool:
    """NNCF takes every tensor for float32; torchao's operators refuse float64."""
    tensors = [
        place[0] if isinstance(place, tuple) else place for place in _places(point, nodes, graph)
    ]
    dtypes = {getattr(tensor.meta.get("val"), "dtype", None) for tensor in tensors}
    return bool(dtypes) and dtypes <= ROUNDED


def _spec_of(point: Any, nodes: dict[str, Node], graph: Any) -> QuantizationSpec:
    """One number of bits; NNCF says whether a tensor is symmetric, signed, and quantized by channel."""
    from nncf.common.quantization.structs import QuantizationScheme

    configuration, is_weight = point.qconfig, point.is_weight_quantization_point()
    found = weight_of(_target(point, nodes), graph) if is_weight else None
    axis, by_channel = found[1] if found else 1, is_weight or configuration.per_channel
    symmetric = configuration.mode == QuantizationScheme.SYMMETRIC
    schemes = {
        (True, True): torch.per_channel_symmetric,
        (True, False): torch.per_channel_affine,
        (False, True): torch.per_tensor_symmetric,
        (False, False): torch.per_tensor_affine,
    }
    signed = is_weight or bool(configuration.signedness_to_force)
    observer = PerChannelMinMaxObserver if by_channel else HistogramObserver
    return QuantizationSpec(
        dtype=torch.int8 if signed else torch.uint8,
        observer_or_fake_quant_ctr=observer.with_args(eps=EPSILON),
        quant_min=-128 if signed else 0,
        quant_max=127 if signed else 255,
        qscheme=schemes[by_channel, symmetric],
        ch_axis=axis if by_channel else None,
        is_dynamic=False,
    )
