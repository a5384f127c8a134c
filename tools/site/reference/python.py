# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the Python interface: modules and the names in them that are public, by autodoc."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module

from executorch.tools.site.reference import native
from executorch.tools.site.reference.docstrings import sentence


@dataclass(frozen=True)
class Module:
    """`names`: what its page has, in this order."""

    path: str
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"executorch.{self.path}"


def _module(path: str, names: str) -> Module:
    return Module(path, tuple(names.split()))


MODULES = (
    _module(
        "exir",
        """to_edge_transform_and_lower to_edge EdgeProgramManager ExecutorchProgramManager EdgeCompileConfig
        ExecutorchBackendConfig save load""",
    ),
    _module(
        "export",
        """export ExportSession ExportRecipe LoweringRecipe QuantizationRecipe AOQuantizationConfig RecipeType StageType
        BackendRecipeProvider""",
    ),
    _module(
        "runtime",
        "Runtime Program Method MethodMeta Outputs Verification OperatorRegistry BackendRegistry",
    ),
    _module("exir.backend.backend_api", "to_backend"),
    _module("exir.backend.partitioner", "Partitioner DelegationSpec PartitionResult"),
    _module("exir.backend.backend_details", "BackendDetails PreprocessResult"),
    _module("exir.backend.compile_spec_schema", "CompileSpec"),
    _module("exir.lowered_backend_module", "LoweredBackendModule get_lowered_backend_modules"),
    _module("exir.pass_base", "ExportPass"),
    _module("exir.passes", "MemoryPlanningPass"),
    _module("exir.memory_planning", "greedy naive"),
    _module("exir.error", "ExportError ExportErrorType InternalError"),
    _module("backends.xnnpack.partition.xnnpack_partitioner", "XnnpackPartitioner"),
    _module(
        "backends.xnnpack.quantizer.xnnpack_quantizer",
        "XNNPACKQuantizer get_symmetric_quantization_config",
    ),
    _module("devtools", "Inspector ETRecord generate_etrecord parse_etrecord BundledProgram"),
    _module("devtools.inspector", "EventBlock Event PerfData TimeScale compare_results"),
    _module("devtools.backend_debug", "get_delegation_info"),
    _module("devtools.bundled_program.config", "MethodTestCase MethodTestSuite"),
    _module("extension.export_util", "export_to_edge export_to_exec_prog save_pte_program"),
    _module("extension.llm.runner", "TextLLMRunner MultimodalRunner GenerationConfig Stats"),
    _module(
        "extension.training",
        "TrainingModule get_sgd_optimizer get_adamw_optimizer save_checkpoint load_checkpoint",
    ),
)


def page(module: Module) -> str:
    home = import_module(module.name)
    lines = [f"# {module.name}", "", sentence(home.__doc__ or ""), "", "```{eval-rst}"]
    lines += [f".. currentmodule:: {module.name}", ""]
    for name in module.names:
        found = getattr(home, name)
        if native.is_stand_in(found):
            native.lacking.append(f"{module.name}.{name}")
            lines += [f"``{name}`` is of a native module that was not built for this page.", ""]
            continue
        if inspect.isclass(found):
            kind = "autoexception" if issubclass(found, BaseException) else "autoclass"
            lines += [f".. {kind}:: {name}", "   :members:", ""]
        else:
            lines += [f".. {'autofunction' if callable(found) else 'autodata'}:: {name}", ""]
    return "\n".join([*lines, "```", ""])
