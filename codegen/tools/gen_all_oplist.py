# SPDX-License-Identifier: BSD-3-Clause
"""Joins the selected-operators files of several models into one, selected_operators.yaml."""

from __future__ import annotations

import argparse
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import yaml

FILE = "selected_operators.yaml"
_FLAGS = ("include_all_non_op_selectives", "include_all_operators")
_OPERATOR_FLAGS = ("is_root_operator", "is_used_for_training", "include_all_overloads")


def model_files(listed: str) -> list[Path]:
    """`@file` names a file of paths, divided by white space; a folder stands for its selected_operators.yaml."""
    paths = Path(listed[1:]).read_text().split() if listed.startswith("@") else [listed]
    return [path / FILE if path.is_dir() else path for path in map(Path, paths)]


def merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """What either of two selections needs."""
    result = {name: bool(first.get(name) or second.get(name)) for name in _FLAGS}
    operators: dict[str, dict[str, Any]] = {}
    for name, operator in (*_items(first, "operators"), *_items(second, "operators")):
        known = operators.setdefault(
            name, {**dict.fromkeys(_OPERATOR_FLAGS, False), "debug_info": []}
        )
        known.update({flag: known[flag] or bool(operator.get(flag)) for flag in _OPERATOR_FLAGS})
        known["debug_info"] = list(
            dict.fromkeys([*known["debug_info"], *(operator.get("debug_info") or ())])
        )
    result["operators"] = dict(sorted(operators.items()))
    for table in ("kernel_metadata", "et_kernel_metadata"):
        keys: dict[str, list[str]] = {}
        for name, values in (*_items(first, table), *_items(second, table)):
            keys[name] = list(dict.fromkeys([*keys.get(name, ()), *values]))
        result[table] = dict(sorted(keys.items()))
    for table in ("custom_classes", "build_features"):
        result[table] = sorted({*(first.get(table) or ()), *(second.get(table) or ())})
    return result


def _named_by(path: Path, selection: dict[str, Any]) -> dict[str, Any]:
    """The selection, each operator's `debug_info` the file that names it."""
    operators = {
        name: {**(operator or {}), "debug_info": [str(path)]}
        for name, operator in _items(selection, "operators")
    }
    return {**selection, "operators": operators}


def _items(selection: dict[str, Any], table: str) -> list[tuple[str, Any]]:
    return list((selection.get(table) or {}).items())


def throw_if_any_op_includes_overloads(selective_builder: Any) -> None:
    """ValueError that names the operators selected with all their overloads. Takes a selection as read from its file,
    or torchgen's SelectiveBuilder."""
    operators = (
        selective_builder["operators"]
        if isinstance(selective_builder, dict)
        else selective_builder.operators
    )
    whole = [
        name for name, operator in operators.items()
        if (operator["include_all_overloads"] if isinstance(operator, dict)
            else operator.include_all_overloads)
    ]  # fmt: skip
    if whole:
        raise ValueError(
            f"Operators that include all overloads are not allowed: {', '.join(whole)}; name their overloads, or give "
            "--allow-include-all-overloads"
        )


def _check_not_overlapping(selections: dict[Path, dict[str, Any]]) -> None:
    owner: dict[str, Path] = {}
    for path, selection in selections.items():
        for name, _ in _items(selection, "operators"):
            if name in owner:
                raise ValueError(
                    f"Operator {name} is used in 2 models: {owner[name]} and {path}; leave it in one of them, or give "
                    "no --check-ops-not-overlapping"
                )
            owner[name] = path


def main(argv: list[Any] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--output-dir", "--output_dir", required=True, help=f"folder to write {FILE} to")
    add("--model-file-list-path", "--model_file_list_path", required=True,
        help="@file with the paths of the models' selections, or one path")  # fmt: skip
    add("--allow-include-all-overloads", "--allow_include_all_overloads", action="store_true")
    add("--check-ops-not-overlapping", "--check_ops_not_overlapping", action="store_true",
        help="an error when two models use the same operator")  # fmt: skip
    add("--DEBUG-ONLY-check-prim-ops", "--DEBUG_ONLY_check_prim_ops",
        help="accepted for existing build files; without effect")  # fmt: skip
    options = parser.parse_args(argv)
    selections = {
        path: yaml.safe_load(path.read_text()) or {}
        for path in model_files(options.model_file_list_path)
    }
    for path, selection in selections.items():
        if not isinstance(selection, dict):
            raise ValueError(
                f"{path}: expected a selection of operators as gen_oplist writes it, found a "
                f"{type(selection).__name__}; put an @ before a list of files"
            )
    if options.check_ops_not_overlapping:
        _check_not_overlapping(selections)
    named = [_named_by(path, selection) for path, selection in selections.items()]
    selection = reduce(merged, named, {})
    if not options.allow_include_all_overloads:
        throw_if_any_op_includes_overloads(selection)
    folder = Path(options.output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(yaml.safe_dump(selection, sort_keys=False))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, yaml.YAMLError) as error:
        sys.exit(f"error: {error}")
