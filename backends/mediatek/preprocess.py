# SPDX-License-Identifier: BSD-3-Clause
"""`NeuropilotBackend`, the ahead-of-time half. The class's name is the backend's id."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.mediatek.compiler import (
    COMPILER,
    EXTRACT_SHARED_BLOB_KEY,
    HEADER_SIZE,
    HEADER_VERSION,
    REQUIRED_COMPILE_SPEC_KEYS,
    SKIP_COMPILE_SPEC_KEYS,
    SUPPORTED_PLATFORM_CONFIGS,
    check_specs,
    extracted,
    unpack,
)
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import options_of
from executorch.exir.backend.lowering.op_table import has_default_dim_order
from executorch.exir.tensor import dim_order_of

__all__ = [
    "EXTRACT_SHARED_BLOB_KEY",
    "HEADER_SIZE",
    "HEADER_VERSION",
    "REQUIRED_COMPILE_SPEC_KEYS",
    "SKIP_COMPILE_SPEC_KEYS",
    "SUPPORTED_PLATFORM_CONFIGS",
    "NeuropilotBackend",
    "assert_default_dim_order",
]


def assert_default_dim_order(edge_graph_module: GraphModule) -> None:
    for node in edge_graph_module.graph.find_nodes(op="placeholder"):
        if not has_default_dim_order(node):
            order = tuple(map(int, dim_order_of(node.meta["val"])))
            raise RuntimeError(
                "Neuropilot backend only supports contiguous memory format for inputs. Expecting dim_order: "
                f"{tuple(sorted(order))}, but got {order} for a placeholder node {node.name}."
            )


class NeuropilotBackend(BackendDetails):
    """Takes the programs that NeuropilotPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, module_compile_spec: list[CompileSpec]
    ) -> PreprocessResult:
        check_specs(module_compile_spec)
        assert_default_dim_order(edge_program.graph_module)
        return PreprocessResult(COMPILER.payload(edge_program, options_of(module_compile_spec)))

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """Of programs whose specs have the same ExtractSharedBlobKey, weights are one blob, in the named data."""
        results: dict[str, list[PreprocessResult]] = {}
        sharing: dict[str, list[PreprocessResult]] = {}
        for method, programs in edge_programs.items():
            results[method] = []
            for program, specs in zip(programs, compile_specs[method], strict=True):
                made = cls.preprocess(program, specs)
                results[method].append(made)
                key = options_of(specs).get(EXTRACT_SHARED_BLOB_KEY)
                if key is not None:
                    sharing.setdefault(key, []).append(made)
        for key, group in sharing.items():
            _share(key, group)
        return results


def _share(key: str, group: list[PreprocessResult]) -> None:
    payloads = [unpack(each.processed_bytes) for each in group]
    blob, models = extracted([each.model for each in payloads])
    store = NamedDataStore()
    store.add_named_data(key, blob)
    for result, payload, model in zip(group, payloads, models, strict=True):
        result.processed_bytes = payload._replace(model=model).pack()
        result.data_store_output = store.get_named_data_store_output()
