# SPDX-License-Identifier: BSD-3-Clause
"""Prints the registration file and the declarations of a kernel library from its op table.

Unboxing is a C++ template that deduces arguments from the kernel's signature; what is generated here is one line per
kernel.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

from .op_table import Row, read_table
from .schema import Schema, SchemaError, SchemaSource

_HEAD = "// SPDX-License-Identifier: BSD-3-Clause\n// Generated from the op table; do not edit.\n"
_INCLUDES = """\
#include <optional>
#include <string_view>
#include <tuple>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
"""


def native_functions_header(table: list[Row]) -> str:
    """Declares every kernel with the signature its schema demands."""
    by_namespace: dict[str, dict[str, str]] = {}
    for row in table:
        for kernel in row.kernels:
            declaration = (
                f"{row.schema.cpp_return_type} {kernel.cpp_name}({row.schema.cpp_parameters()});"
            )
            by_namespace.setdefault(kernel.cpp_namespace, {})[declaration] = (
                row.schema.qualified_name
            )
    text = _HEAD + "#pragma once\n\n" + _INCLUDES
    for namespace, declarations in sorted(by_namespace.items()):
        text += f"\nnamespace {namespace} {{\n"
        for declaration, operator in declarations.items():
            text += f"// {operator}\n{declaration}\n"
        text += f"}}  // namespace {namespace}\n"
    return text


def functions_header(table: list[Row]) -> str:
    """Calls by operator name: `torch::executor::aten::add_outf(context, a, b, alpha, out)`."""
    text = _HEAD + '#pragma once\n\n#include "NativeFunctions.h"\n'
    for row in (row for row in table if row.kernels):
        general = [k for k in row.kernels if not k.keys] or list(row.kernels)
        arguments = ", ".join(["context", *(a.name for a in row.schema.arguments)])
        name = row.schema.name + ("" if row.schema.name.endswith("_") else "_outf")
        text += (
            f"\n// {row.schema.qualified_name}\n"
            f"namespace torch::executor::{row.schema.namespace} {{\n"
            f"inline {row.schema.cpp_return_type} {name}({row.schema.cpp_parameters()}) {{\n"
            f"  return ::{general[0].qualified}({arguments});\n"
            f"}}\n}}  // namespace torch::executor::{row.schema.namespace}\n"
        )
    return text


def registration_source(
    table: list[Row], header: str, function: str, *, manual: bool, boundary: bool
) -> str:
    """Registers every kernel when the program starts (unless `manual`) and on an explicit call."""
    lines = []
    pytorch = [row.schema for row in table if not row.kernels]
    for row in table:
        if not row.kernels:
            boxed = f"pytorch<kPyTorch, {pytorch.index(row.schema)}>"
            lines.append(f'    Kernel("{row.schema.qualified_name}", {boxed}),')
        for kernel in row.kernels:
            boxed = f"call<EXECUTORCH_FN_TYPE(::{kernel.qualified})>"
            for key in kernel.keys or ("",):
                key_text = f' KernelKey("{key}"),' if key else ""
                lines.append(f'    Kernel("{row.schema.qualified_name}",{key_text} {boxed}),')
    body = "::executorch::extension::WrapUnboxedIntoFunctor<Function>::call(context, stack);"
    if boundary:
        body = (
            f"try {{\n    {body}\n  }} catch (...) {{\n"
            "    context.fail(::executorch::runtime::Error::Internal);\n  }"
        )
    static_part = (
        ""
        if manual
        else f"""
namespace {{
[[maybe_unused]] const bool registered = [] {{
  const Error error = {function}();
  ET_CHECK_MSG(error == Error::Ok, "cannot register kernels: error 0x%x", unsigned(error));
  return true;
}}();
}}  // namespace
"""
    )
    return f"""{_HEAD}
{"#include <executorch/kernels/aten/pytorch_operator.h>" if pytorch else ""}
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/assert.h>

#include "{header}"

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelKey;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

namespace {{

template <typename Function>
void call(KernelRuntimeContext& context, Span<EValue*> stack) {{
  {body}
}}
{_pytorch_operators(pytorch) if pytorch else ""}
// The registry keeps names, keys and functions, so the array can go once it has been read.
Error register_all() {{
  const Kernel kernels[] = {{
{chr(10).join(lines)}
  }};
  return executorch::runtime::register_kernels({{kernels, sizeof(kernels) / sizeof(kernels[0])}});
}}

}}  // namespace

namespace executorch::kernels {{
Error {function}() {{
  return register_all();
}}
}}  // namespace executorch::kernels

using executorch::kernels::{function};
{static_part}"""


def _pytorch_operators(schemas: list[Schema]) -> str:
    """The operators that PyTorch computes: names and overloads as its dispatcher has them."""
    names = "\n".join(f'    {{"{s.namespace}::{s.name}", "{s.overload}"}},' for s in schemas)
    return f"""
using executorch::kernels::aten_mode::pytorch;

constexpr executorch::kernels::aten_mode::PyTorchOperator kPyTorch[] = {{
{names}
}};
"""


def with_pytorch_operators(table: list[Row], schemas: SchemaSource) -> list[Row]:
    """In ATen mode each ATen operator that the tables leave out is PyTorch's own: a row without kernels."""
    listed = {row.schema.qualified_name for row in table}
    rest = [s for s in schemas.aten() if s.qualified_name not in listed]
    return [*table, *(Row(schema, (), is_custom=False) for schema in rest)]


def selected_rows(table: list[Row], selection: Path | None, whitelist: list[str]) -> list[Row]:
    """The rows that an operator selection keeps; without a selection, all."""
    names = set(whitelist)
    if selection is not None:
        chosen = yaml.safe_load(selection.read_text()) or {}
        if chosen.get("include_all_operators"):
            return table
        names |= set(chosen.get("operators") or {})
    elif not whitelist:
        return table
    known = {row.schema.qualified_name for row in table}
    if absent := sorted(n for n in names - known if not n.startswith("executorch_prim::")):
        print(f"warning: selected, but not in this op table: {', '.join(absent)}", file=sys.stderr)
    return [row for row in table if row.schema.qualified_name in names]


def check_listed_once(tables: list[list[Row]], paths: list[Path]) -> None:
    """Raises SchemaError for an operator that two tables have: it could be registered once only."""
    first: dict[str, Path] = {}
    for rows, path in zip(tables, paths, strict=True):
        for row in rows:
            other = first.setdefault(row.schema.qualified_name, path)
            if other != path:
                raise SchemaError(
                    f"{row.schema.qualified_name} is in {other} and in {path}; merge_yaml(FUNCTIONS_YAML "
                    "<the one that wins> FALLBACK_YAML <the other> OUTPUT_DIR <folder>) chooses one"
                )


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("-s", "--source-path", help="accepted for existing build files; nothing is read from it")
    add("--functions-yaml-path", type=Path, help="op table with `op` rows")
    add("--custom-ops-yaml-path", type=Path, help="op table with `func` rows")
    add(
        "--aten-yaml-path",
        "--aten_yaml_path",
        help="accepted; schemas come from codegen/aten_schemas.txt",
    )
    add("-d", "--install-dir", "--install_dir", type=Path, default=Path("build/generated"))
    add("-o", "--output-dependencies", help="write a list of the generated files, divided by ;")
    add("--dry-run", action="store_true", help="check the table, write nothing")
    add("--static-dispatch-backend", nargs="*", help="accepted; without effect")
    add("--op-registration-whitelist", nargs="*", default=[], help="register these operators only")
    add("--op-selection-yaml-path", "--op_selection_yaml_path", type=Path)
    add("--tags-path", help="accepted; without effect")
    add("--rocm", action="store_true", help="accepted; without effect")
    add(
        "--use-aten-lib",
        action="store_true",
        help="ATen mode: PyTorch computes the operators of ATen that the tables leave out",
    )
    add("--manual-registration", "--manual_registration", action="store_true")
    add("--generate", nargs="*", choices=["headers", "sources"], default=["headers", "sources"])
    add(
        "--add-exception-boundary", action="store_true", help="turn exceptions into Error::Internal"
    )
    add("--registration-function", default="register_all_kernels", help="its name in C++")
    return parser


def main(argv: list[str] | None = None) -> int:
    parser = _arguments()
    options = parser.parse_args(argv)
    paths = [p for p in (options.functions_yaml_path, options.custom_ops_yaml_path) if p]
    if not paths:
        parser.error("give --functions-yaml-path or --custom-ops-yaml-path")
    try:
        schemas = SchemaSource()
        tables = [read_table(path, schemas) for path in paths]
        check_listed_once(tables, paths)
        table = [row for rows in tables for row in rows]
        if options.use_aten_lib:
            table = with_pytorch_operators(table, schemas)
    except (SchemaError, OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    table = selected_rows(table, options.op_selection_yaml_path, options.op_registration_whitelist)
    custom_only = options.functions_yaml_path is None
    native = "CustomOpsNativeFunctions.h" if custom_only else "NativeFunctions.h"
    files: dict[str, str] = {}
    if "headers" in options.generate:
        files[native] = native_functions_header(table)
        if not custom_only:
            files["Functions.h"] = functions_header(table)
    if "sources" in options.generate:
        files["RegisterCodegenUnboxedKernelsEverything.cpp"] = registration_source(
            table,
            native,
            options.registration_function,
            manual=options.manual_registration,
            boundary=options.add_exception_boundary,
        )
    if options.dry_run:
        return 0
    options.install_dir.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = options.install_dir / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    if options.output_dependencies:
        written = ";".join(str(options.install_dir / name) for name in files)
        Path(options.output_dependencies).write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
