# SPDX-License-Identifier: BSD-3-Clause
"""Which C++ headers have a page, by what they are for, and what Doxygen is given of them.

Doxygen takes comments that begin with three slashes and reads marks of its own in them. Headers here have two slashes
and plain text, so it gets copies, in which each comment before a declaration is text that it keeps word for word.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

HEADERS = {
    "Programs and methods": """extension/module/module.h extension/module/bundled_module.h runtime/executor/program.h
        runtime/executor/method.h runtime/executor/method_meta.h runtime/platform/runtime.h extension/c/executorch.h""",
    "Tensors and values": """extension/tensor/tensor_ptr.h extension/tensor/tensor_ptr_maker.h
        extension/tensor/tensor_accessor.h runtime/core/portable_type/tensor.h runtime/core/portable_type/tensor_impl.h
        runtime/core/portable_type/scalar_type.h runtime/core/portable_type/scalar.h runtime/core/portable_type/device.h
        runtime/core/evalue.h runtime/core/tensor_layout.h runtime/core/tensor_shape_dynamism.h
        extension/evalue_util/print_evalue.h extension/aten_util/aten_bridge.h""",
    "Errors, views and functions": """runtime/core/error.h runtime/core/result.h runtime/core/span.h
        runtime/core/array_ref.h runtime/core/function_ref.h""",
    "Memory": """runtime/executor/memory_manager.h runtime/core/memory_allocator.h runtime/core/hierarchical_allocator.h
        runtime/core/device_allocator.h runtime/core/device_memory_buffer.h
        extension/memory_allocator/malloc_memory_allocator.h
        extension/memory_allocator/cpu_caching_malloc_allocator.h""",
    "Where bytes come from": """runtime/core/data_loader.h runtime/core/freeable_buffer.h runtime/core/named_data_map.h
        extension/data_loader/file_data_loader.h extension/data_loader/mmap_data_loader.h
        extension/data_loader/buffer_data_loader.h extension/data_loader/shared_ptr_data_loader.h
        extension/data_loader/file_descriptor_data_loader.h extension/flat_tensor/flat_tensor_data_map.h
        extension/named_data_map/merged_data_map.h""",
    "Kernels": """runtime/kernel/operator_registry.h runtime/kernel/kernel_runtime_context.h
        extension/kernel_util/make_boxed_from_unboxed_functor.h
        extension/aten_util/make_aten_functor_from_et_functor.h runtime/core/exec_aten/util/tensor_util.h
        runtime/core/exec_aten/util/dim_order_util.h runtime/kernel/thread_parallel_interface.h
        extension/threadpool/threadpool.h extension/threadpool/threadpool_guard.h""",
    "Backends": """runtime/backend/interface.h runtime/backend/backend_init_context.h
        runtime/backend/backend_execution_context.h runtime/backend/options.h runtime/backend/backend_options_map.h
        runtime/core/event_tracer_hooks_delegate.h""",
    "The system": """runtime/platform/platform.h runtime/platform/log.h runtime/platform/assert.h
        runtime/platform/clock.h""",
    "Events and test cases": """runtime/core/event_tracer.h devtools/etdump/etdump_flatcc.h
        devtools/etdump/etdump_filter.h devtools/bundled_program/bundled_program.h""",
    "Language models": """extension/llm/runner/irunner.h extension/llm/runner/text_llm_runner.h
        extension/llm/runner/multimodal_runner.h extension/llm/runner/multimodal_input.h extension/llm/runner/image.h
        extension/llm/runner/audio.h extension/llm/runner/llm_runner_helper.h extension/llm/runner/stats.h
        extension/llm/runner/text_prefiller.h extension/llm/runner/text_decoder_runner.h
        extension/llm/runner/text_token_generator.h extension/asr/runner/seq2seq_runner.h""",
    "Training": """extension/training/module/training_module.h extension/training/module/state_dict_util.h
        extension/training/optimizer/sgd.h extension/training/optimizer/adamw.h
        extension/training/checkpoint/checkpoint.h""",
}  # fmt: skip
BY_AREA = {area: tuple(paths.split()) for area, paths in HEADERS.items()}

# A comment of lines, of a block, and behind code on its line, where those below go on in its column or so.
LINES = re.compile(r"^(?P<indent> *)///?(?!/)[^\n]*\n(?:(?P=indent)///?[^\n]*\n)*", re.M)
BLOCK = re.compile(r"^ */\*(?!\*)(?:(?!\*/).)*\*/\n", re.M | re.S)
BEHIND = re.compile(
    r"^(?P<code>[^\"/\n]*[,;{]) *(?P<comment>//[^\n]*(?:\n {8,}//[^\n]*)*|/\*(?!\*)(?:(?!\*/).)*\*/)$",
    re.M | re.S,
)
# Above several enumerators, of all of them: Doxygen would take it for the first one's.
ABOVE_SEVERAL = re.compile(r"^( +)//[^\n]*\n(?=\1\w+(?: = \w+)?,\n\1\w+(?: = \w+)?,)", re.M)
LEFT_OUT = ("----", "NOLINT", "clang-format", "namespace ")
ATTRIBUTES = re.compile(r"\[\[nodiscard\]\] ?|\bET_NODISCARD ")
PREDEFINED = """ET_RUNTIME_NAMESPACE=runtime ET_MODULE_NAMESPACE=module ET_BUNDLED_MODULE_NAMESPACE=bundled_module
    ET_MERGED_DATA_MAP_NAMESPACE=merged_data_map ET_UNUSED= EXECUTORCH_EXPORT= DOXYGEN=1 __cplusplus=201703""".split()
PROGRAM = "doxygen"
FOR_DOXYGEN = {
    "RECURSIVE": "YES",
    "EXTRACT_ALL": "YES",
    "EXTRACT_STATIC": "YES",
    "GENERATE_HTML": "NO",
    "GENERATE_LATEX": "NO",
    "GENERATE_XML": "YES",
    "XML_PROGRAMLISTING": "NO",
    "MACRO_EXPANSION": "YES",
    "EXPAND_ONLY_PREDEF": "YES",
    "SEARCH_INCLUDES": "NO",
    "SORT_MEMBER_DOCS": "NO",
    "QUIET": "YES",
    "WARN_IF_UNDOCUMENTED": "NO",
    "WARN_IF_DOC_ERROR": "NO",
    "WARN_AS_ERROR": "YES",
    "PREDEFINED": " ".join(PREDEFINED),
}


def paths() -> list[str]:
    return [path for members in BY_AREA.values() for path in members]


def flat(path: str) -> str:
    """The name of the copy: Doxygen tells files apart by their last names."""
    return path.replace("/", "-")


def about(text: str) -> str:
    """What a header says of itself: its first comment."""
    first = BLOCK.match(text) or LINES.match(text)
    words = "\n".join(_words_of(first[0])) if first else ""
    return words.partition("BSD-3-Clause\n")[2].strip()


def _words_of(comment: str) -> list[str]:
    """Lines of the comment without its marks; of a block, lines after the first stand three further in."""
    lines = comment.rstrip("\n").splitlines()
    if lines[0].lstrip().startswith("/*"):
        first, *rest = comment.strip().removeprefix("/*").removesuffix("*/").splitlines()
        return [first.strip(), *textwrap.dedent("\n".join(rest)).rstrip().splitlines()]
    return [line.strip().lstrip("/").removeprefix(" ") for line in lines]


def for_doxygen(text: str) -> str:
    """The header with its comments as those that Doxygen takes, without the first, which is of the file."""
    first = LINES.match(text) or BLOCK.match(text)
    rest = text[first.end() :] if first else text
    rest = ABOVE_SEVERAL.sub("", rest)
    rest = BEHIND.sub(lambda m: f"{m['code']} {_verbatim(m['comment'], behind=True)}", rest)
    for kind in (LINES, BLOCK):
        rest = kind.sub(lambda m: _verbatim(m[0]) + "\n", rest)
    return ATTRIBUTES.sub("", rest)


def _verbatim(comment: str, *, behind: bool = False) -> str:
    lines = _words_of(comment)
    if lines[0].startswith(LEFT_OUT):
        return ""
    text = "\n".join(lines).replace("*/", "* /")
    return f"/**{'<' if behind else ''} @verbatim\n{text}\n@endverbatim */"


def read(root: Path, folder: Path) -> Path:
    """Has Doxygen read all of them; the folder of its XML, which is made in the one given."""
    copies = folder / "headers"
    copies.mkdir(parents=True)
    for path in paths():
        (copies / flat(path)).write_text(for_doxygen((root / path).read_text()))
    settings = {"INPUT": str(copies), "OUTPUT_DIRECTORY": str(folder), **FOR_DOXYGEN}
    lines = [f"{key} = {value}" for key, value in settings.items()]
    done = subprocess.run(
        [PROGRAM, "-"], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ValueError(f"doxygen ended with code {done.returncode}: {done.stderr}")
    return folder / "xml"
