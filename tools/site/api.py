# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the Python interface: modules and the names in them that are public, by autodoc; and of the C++ interface:
classes and their headers."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module

from executorch.tools.site.docstrings import sentence


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

# Of the C++ interface, and where it is.
HEADERS = (
    ("Module", "extension/module/module.h"),
    ("TensorPtr", "extension/tensor/tensor_ptr.h"),
    ("make_tensor_ptr, from_blob, zeros, ones", "extension/tensor/tensor_ptr_maker.h"),
    ("Program", "runtime/executor/program.h"),
    ("Method", "runtime/executor/method.h"),
    ("MethodMeta, TensorInfo", "runtime/executor/method_meta.h"),
    ("MemoryManager", "runtime/executor/memory_manager.h"),
    ("MemoryAllocator", "runtime/core/memory_allocator.h"),
    ("HierarchicalAllocator", "runtime/core/hierarchical_allocator.h"),
    ("DataLoader", "runtime/core/data_loader.h"),
    ("EValue", "runtime/core/evalue.h"),
    ("Error", "runtime/core/error.h"),
    ("Result", "runtime/core/result.h"),
    ("Tensor", "runtime/core/portable_type/tensor.h"),
    ("ScalarType", "runtime/core/portable_type/scalar_type.h"),
    ("BackendInterface", "runtime/backend/interface.h"),
    ("Kernel, register_kernels", "runtime/kernel/operator_registry.h"),
    ("KernelRuntimeContext", "runtime/kernel/kernel_runtime_context.h"),
    ("FileDataLoader", "extension/data_loader/file_data_loader.h"),
    ("MmapDataLoader", "extension/data_loader/mmap_data_loader.h"),
    ("BufferDataLoader", "extension/data_loader/buffer_data_loader.h"),
    ("FlatTensorDataMap", "extension/flat_tensor/flat_tensor_data_map.h"),
    ("ETDumpGen", "devtools/etdump/etdump_flatcc.h"),
    ("the C interface", "extension/c/executorch.h"),
)  # fmt: skip
CPP = "api/cpp"


def pages() -> dict[str, str]:
    """By name of the page; links lead from the repository's root."""
    made = {f"api/{each.name}": page(each) for each in MODULES} | {CPP: cpp()}
    about = [
        "# Interfaces",
        "",
        "Names of Python and C++ that programs are written with. What else a module has may change between versions;"
        " [compatibility](runtime/COMPATIBILITY.md#source-code) says what stays. Java and Kotlin: [their page]"
        "(docs/guide/java.md); C and what calls it: [other languages](docs/guide/other_languages.md); Swift and"
        " Objective-C: [their page](extension/apple/README.md).",
        "",
        "| module | names |",
        "|---|---|",
        *(f"| {{doc}}`/api/{each.name}` | {', '.join(f'`{n}`' for n in each.names)} |" for each in MODULES),
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"{name.rpartition('/')[2]} </{name}>" for name in made if name != CPP),
        f"/{CPP}",
        "```",
        "",
    ]  # fmt: skip
    return {"api/index": "\n".join(about), **made}


def cpp() -> str:
    """Each header is the contract of what is in it, and shown whole."""
    lines = [
        "# C++ interface",
        "",
        "Headers are the contract: who owns what, how long it lives, which thread may call, which errors come. Below"
        " `executorch/` in programs, `include/executorch` of the installed package.",
        "",
        "| class | header |",
        "|---|---|",
        *(f"| {', '.join(f'`{name}`' for name in names.split(', '))} | [{path}]({path}) |" for names, path in HEADERS),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def page(module: Module) -> str:
    home = import_module(module.name)
    lines = [f"# {module.name}", "", sentence(home.__doc__ or ""), "", "```{eval-rst}"]
    lines += [f".. currentmodule:: {module.name}", ""]
    for name in module.names:
        found = getattr(home, name)
        if inspect.isclass(found):
            kind = "autoexception" if issubclass(found, BaseException) else "autoclass"
            lines += [f".. {kind}:: {name}", "   :members:", ""]
        else:
            lines += [f".. {'autofunction' if callable(found) else 'autodata'}:: {name}", ""]
    return "\n".join([*lines, "```", ""])
