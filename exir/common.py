# SPDX-License-Identifier: BSD-3-Clause
"""Small services around schemas and logging, under their documented path."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Any

import torch

_LOGGER = logging.getLogger("executorch.exir")


@contextlib.contextmanager
def no_dispatch() -> Iterator[None]:
    """No dispatch mode and no tensor subclass sees the calls inside."""
    with torch._C._DisableTorchDispatch():
        yield


def get_schema_for_operators(ops: list[str]) -> dict[str, str]:
    """ "namespace::op.overload" -> its schema as text."""
    result = {}
    for name in ops:
        base, _, overload = name.partition(".")
        namespace, op_name = base.split("::")
        packet = getattr(getattr(torch.ops, namespace), op_name)
        result[name] = str(getattr(packet, overload or "default")._schema)
    return result


def extract_out_arguments(
    schema: torch.FunctionSchema, keyword_args: dict[str, Any]
) -> tuple[str, Any] | list[tuple[str, Any]]:
    """The out argument among `keyword_args` with its name; a list when there are several."""
    outs = [
        (arg.name, keyword_args[arg.name])
        for arg in schema.arguments
        if arg.is_out and arg.name in keyword_args
    ]
    return outs[0] if len(outs) == 1 else outs


def format_schema_name(schema: torch.FunctionSchema) -> str:
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name


@contextlib.contextmanager
def override_logger(
    newLevel: int = logging.DEBUG,
    fmtstr: str = "%(message)s",
    filename: str | None = None,
) -> Iterator[None]:
    """The compiler's log at `newLevel` to standard error or a file, inside."""
    handler: logging.Handler = (
        logging.FileHandler(filename) if filename else logging.StreamHandler(sys.stderr)
    )
    handler.setFormatter(logging.Formatter(fmtstr))
    level = _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(newLevel)
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(level)
        handler.close()


@contextlib.contextmanager
def setting_python_recursive_limit(limit: int = 10000) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
