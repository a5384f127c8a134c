# SPDX-License-Identifier: BSD-3-Clause
"""The stages of exporting a language model, one method each: a manager holds the model at whatever stage it is."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.retrace.tensor_subclasses import with_plain_tensors
from executorch.exir.serde.compact import compact_program
from executorch.extension.llm.export.export_passes import (
    FuseRows,
    JoinLinearsOfBlocks,
    RemoveRedundantTransposes,
)

logger = logging.getLogger(__name__)

Transform = Callable[[torch.nn.Module], torch.nn.Module]


class DType(Enum):
    fp32 = "fp32"
    fp16 = "fp16"
    bf16 = "bf16"

    def to_torch_dtype(self) -> torch.dtype:
        return _TORCH_TYPES[self]

    @staticmethod
    def from_torch_dtype(dtype: torch.dtype) -> DType:
        for ours, theirs in _TORCH_TYPES.items():
            if theirs == dtype:
                return ours
        known = ", ".join(str(t) for t in _TORCH_TYPES.values())
        raise ValueError(f"expected one of {known}, found {dtype}")


_TORCH_TYPES = {
    DType.fp32: torch.float32,
    DType.fp16: torch.float16,
    DType.bf16: torch.bfloat16,
}


class LLMEdgeManager:
    """source_transform -> export -> [pt2e_quantize] -> to_edge_transform_and_lower -> to_executorch -> save_to_pte.

    Every method gives the manager back. A stage that is asked for too early runs those before it, where it can.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        modelname: str,
        max_seq_len: int,
        use_kv_cache: bool,
        example_inputs: tuple[torch.Tensor, ...],
        dtype: DType | None = None,
        example_kwarg_inputs: dict[str, Any] | None = None,
        enable_dynamic_shape: bool = False,
        generate_full_logits: bool = False,
        calibration_tasks: list[str] | None = None,
        calibration_limit: int | None = None,
        calibration_seq_length: int | None = None,
        calibration_data: str | None = None,
        tokenizer_path: str | None = None,
        verbose: bool = False,
        metadata: dict[str, Any] | None = None,
        dynamic_shapes: Any | None = None,
        save_exported_program: bool = False,
        generate_etrecord: bool = False,
        skip_dim_order: bool = True,
    ) -> None:
        self.model, self.modelname = model, modelname
        self.max_seq_len, self.use_kv_cache = max_seq_len, use_kv_cache
        self.example_inputs, self.example_kwarg_inputs = example_inputs, example_kwarg_inputs
        self.dtype = dtype or DType.fp32
        self.enable_dynamic_shape, self.dynamic_shapes = enable_dynamic_shape, dynamic_shapes
        self.generate_full_logits, self.verbose = generate_full_logits, verbose
        self.calibration_tasks, self.calibration_limit = calibration_tasks, calibration_limit
        self.calibration_seq_length, self.calibration_data = (
            calibration_seq_length,
            calibration_data,
        )
        self.tokenizer_path, self.metadata = tokenizer_path, metadata
        self.save_exported_program, self.generate_etrecord = (
            save_exported_program,
            generate_etrecord,
        )
        self.skip_dim_order = skip_dim_order
        self.output_dir = "."
        self.named_data: dict[str, bytes] = {}  # filed in the program beside what backends file
        self.exported_program: torch.export.ExportedProgram | None = None
        self.pre_autograd_graph_module: torch.nn.Module | None = None
        self.edge_manager: EdgeProgramManager | None = None
        self.export_program: ExecutorchProgramManager | None = None
        self.quantized = False
        self._saved_pte_filename: str | None = None

    def set_output_dir(self, output_dir: str) -> LLMEdgeManager:
        self.output_dir = output_dir
        return self

    def to_dtype(self, dtype_override: DType | None) -> LLMEdgeManager:
        """Converts weights; None leaves them as they are."""
        if dtype_override is not None:
            if not isinstance(dtype_override, DType):
                raise TypeError(f"expected a DType, found {dtype_override!r}")
            self.model = self.model.to(dtype=dtype_override.to_torch_dtype())
            self.dtype = dtype_override
        return self

    def source_transform(self, transforms: list[Transform]) -> LLMEdgeManager:
        """Rewrites the module by each in turn."""
        for transform in transforms:
            self.model = transform(self.model)
        return self

    def _shapes(self) -> Any:
        if self.dynamic_shapes is not None or not self.enable_dynamic_shape:
            return self.dynamic_shapes
        tokens = {1: torch.export.Dim("token_dim", max=self._max_tokens())}
        if not self.use_kv_cache:
            return (tokens,)
        # the position is the second input, or stands in a dict of options
        options = self.example_inputs[1]
        if isinstance(options, dict) and "logits_of" in options:  # of several sessions
            rows = torch.export.Dim("row_dim", max=self.metadata["get_max_sessions"])
            return (tokens, {"input_pos": {0: tokens[1]}, "logits_of": {0: rows}})
        return (tokens, {name: {0: 1} for name in options} if isinstance(options, dict) else {0: 1})

    def _max_tokens(self) -> int:
        """How long a call may be: `max_seq_len` - 1 tokens, one fewer than a cache of that length has rows, and no
        more than a window's cache holds."""
        rings = [m for m in self.model.modules() if getattr(m, "is_ring_buffer", False)]
        limits = [ring.max_tokens for ring in rings if hasattr(ring, "max_tokens")]
        most = max(min([self.max_seq_len - 1, *limits]), 1)
        if most < self.max_seq_len - 1 and self.metadata and "get_max_seq_len" in self.metadata:
            self.metadata["get_max_seq_len"] = most
        return most

    def _keeps_all_positions(self) -> bool:
        """Whether the state has a row for each position of the context, so that a runner can go back to any: windows
        and states that are carried along have not."""
        return not any(
            getattr(module, "is_ring_buffer", False) or hasattr(module, "conv_state")
            for module in self.model.modules()
        )

    def export(self) -> LLMEdgeManager:
        """Captures the model; `pre_autograd_graph_module` is what pt2e quantizes."""
        if self.use_kv_cache and self.metadata is not None:
            self.metadata.setdefault("keeps_all_positions", self._keeps_all_positions())
        with sdpa_kernel([SDPBackend.MATH]), torch.no_grad():
            self.exported_program = torch.export.export(
                self.model,
                self.example_inputs,
                self.example_kwarg_inputs,
                dynamic_shapes=self._shapes(),
                strict=False,
            )
        self.pre_autograd_graph_module = self.exported_program.module()
        if self.save_exported_program:
            program = compact_program(self.exported_program)
            torch.export.save(program, f"{self.output_dir}/{self.modelname}.pt2")
        return self

    def tag_constants(self, tag: Callable[[torch.fx.Node], str | None]) -> LLMEdgeManager:
        """Notes the data file (without `.ptd`) that a delegate's constants go to; the program's own follow
        `to_executorch(external_constants_tag=tag)`."""
        program = self.exported_program = with_plain_tensors(self._captured())
        for node in program.graph.find_nodes(op="placeholder"):
            if (name := tag(node)) is not None:
                node.meta.setdefault("custom", {})["delegate_constant_tag"] = name
        return self

    def run_canonical_optimizations(self) -> LLMEdgeManager:
        """Pairs of transposes around caches leave the captured graph."""
        self._captured()
        RemoveRedundantTransposes().call(self.pre_autograd_graph_module)
        return self

    def _captured(self) -> torch.export.ExportedProgram:
        if self.exported_program is None:
            self.export()
        return self.exported_program

    def pt2e_calibrate(
        self,
        prepared_module: torch.nn.Module,
        calibration_tasks: list[str] | None,
        calibration_limit: int | None,
        calibration_seq_length: int | None,
        calibration_data: str | None,
        tokenizer_path: str | None,
    ) -> None:
        """Runs a text, token by token with a cache, else in one call."""
        if calibration_tasks or calibration_limit:
            raise ValueError(
                "quantization.calibration_tasks needs lm_eval's data sets, which are not here; "
                "give a text as quantization.calibration_data"
            )
        if not calibration_data or not tokenizer_path:
            raise ValueError("calibrating needs a text (calibration_data) and a tokenizer_path")
        from executorch.extension.llm.export.texts import read_tokenizer

        tokens = read_tokenizer(tokenizer_path)(calibration_data)
        tokens = tokens[: calibration_seq_length or self.max_seq_len]
        if not self.use_kv_cache:
            prepared_module(torch.tensor([tokens]))
            return
        for place, token in enumerate(tokens):
            prepared_module(torch.tensor([[token]]), {"input_pos": torch.tensor([place])})

    def pt2e_quantize(self, quantizers: list[Any] | None) -> LLMEdgeManager:
        """Quantizes the captured graph by torchao's way; without quantizers nothing happens."""
        if not quantizers:
            logger.info("no quantizer: the graph stays as it is")
            return self
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torchao.quantization.pt2e.quantizer import ComposableQuantizer

        self._captured()
        with sdpa_kernel([SDPBackend.MATH]), torch.no_grad():
            chosen = quantizers[0] if len(quantizers) == 1 else ComposableQuantizer(quantizers)
            prepared = prepare_pt2e(self.pre_autograd_graph_module, chosen)
            if self.calibration_data and self.tokenizer_path:
                self.pt2e_calibrate(
                    prepared,
                    self.calibration_tasks,
                    self.calibration_limit,
                    self.calibration_seq_length,
                    self.calibration_data,
                    self.tokenizer_path,
                )
            else:
                prepared(*self.example_inputs, **(self.example_kwarg_inputs or {}))
            self.model = convert_pt2e(prepared)
        self.quantized = True
        return self.export()

    def _compile_config(self) -> EdgeCompileConfig:
        return EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=self.skip_dim_order)

    def export_to_edge(self) -> LLMEdgeManager:
        self.edge_manager = to_edge(
            self._captured(),
            constant_methods=self.metadata,
            compile_config=self._compile_config(),
            generate_etrecord=self.generate_etrecord,
        )
        return self

    def to_backend(self, partitioners: list[Any] | None) -> LLMEdgeManager:
        """Delegates what each partitioner claims, in turn; None delegates nothing."""
        if self.edge_manager is None:
            self.export_to_edge()
        for partitioner in partitioners or []:
            self.edge_manager = self.edge_manager.to_backend(partitioner)
        self._report_delegation()
        return self

    def to_edge_transform_and_lower(
        self, partitioners: list[Any] | None, transform_passes: list[Any] | None = None
    ) -> LLMEdgeManager:
        self.edge_manager = to_edge_transform_and_lower(
            self._captured(),
            partitioner=partitioners or None,
            transform_passes=transform_passes,
            constant_methods=self.metadata,
            compile_config=self._compile_config(),
            generate_etrecord=self.generate_etrecord,
        )
        self._report_delegation()
        return self

    def lower_together(
        self, others: dict[str, LLMEdgeManager], partitioners: list[Any] | None
    ) -> LLMEdgeManager:
        """`to_edge_transform_and_lower` of several captured models, one method each; metadata is this manager's."""
        self.edge_manager = to_edge_transform_and_lower(
            {name: other._captured() for name, other in others.items()},
            partitioner=dict.fromkeys(others, partitioners) if partitioners else None,
            constant_methods=self.metadata,
            compile_config=self._compile_config(),
            generate_etrecord=self.generate_etrecord,
        )
        self._report_delegation()
        return self

    def _report_delegation(self) -> None:
        if self.verbose:
            from executorch.devtools.backend_debug import print_delegation_info

            for method in self.edge_manager.methods:
                print_delegation_info(self.edge_manager.exported_program(method).graph_module)

    def to_executorch(
        self,
        passes: list[Any] | None = None,
        external_constants_tag: Callable[[torch.fx.Node], str | None] | None = None,
        share_mutable_buffers: bool = False,
    ) -> LLMEdgeManager:
        """`external_constants_tag` gives the data file (without `.ptd`) of a constant, or None."""
        if self.edge_manager is None:
            self.export_to_edge()
        self.export_program = self.edge_manager.to_executorch(
            ExecutorchBackendConfig(
                passes=[*(passes or []), JoinLinearsOfBlocks(), FuseRows()],
                extract_delegate_segments=True,
                do_quant_fusion_and_const_prop=True,
                memory_planning_pass=MemoryPlanningPass(
                    alloc_graph_input=False, share_mutable_buffers=share_mutable_buffers
                ),
                external_constants=external_constants_tag or False,
            )
        )
        if self.named_data:
            self.export_program._file_named_data(self.named_data)
        return self

    def save_to_pte(self, output_name: str) -> None:
        """Writes `output_name`, below `set_output_dir` unless it ends in `.pte`, and data files beside it."""
        if self.export_program is None:
            raise ValueError("expected to_executorch() before save_to_pte()")
        path = Path(output_name)
        if path.suffix != ".pte":
            path = Path(self.output_dir) / f"{output_name}.pte"
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        try:
            with partial.open("wb") as file:
                self.export_program.write_to_file(file)
            partial.replace(path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
        self.export_program.write_tensor_data_to_file(str(path.parent))
        self._saved_pte_filename = str(path)

    def get_saved_pte_filename(self) -> str | None:
        return self._saved_pte_filename
