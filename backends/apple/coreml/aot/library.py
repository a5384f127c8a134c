# SPDX-License-Identifier: BSD-3-Clause
"""coremltools, without its noise: every use of it is through here."""

from __future__ import annotations

import gc
import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from types import ModuleType

from executorch.backends.apple.coreml.logging import get_coreml_log_level
from executorch.exir.backend.lowering.external.compiler import MissingCompiler
from executorch.exir.error import ExportErrorType

VERSION = "9.0"


def _coremltools() -> ModuleType:
    """It says at import what it cannot do off macOS, and which versions it was not tested with."""
    try:
        with quiet(logging.CRITICAL):
            import coremltools
    except ImportError as error:
        raise MissingCompiler(
            ExportErrorType.MISSING_PROPERTY,
            f"Core ML's backend needs coremltools {VERSION}, not installed here: pip install coremltools=={VERSION}",
        ) from error
    return coremltools


@contextmanager
def quiet(level: int | None = None) -> Iterator[list[str]]:
    """What coremltools logs goes into a list; from `level` on (ET_COREML_LOG_LEVEL) to its own handlers, too."""
    log = logging.getLogger("coremltools")
    heard: list[str] = []
    listener = _Listener(heard)
    least = get_coreml_log_level(logging.WARNING) if level is None else level
    before = log.level, log.propagate
    handlers = [(each, each.level) for each in log.handlers]
    log.addHandler(listener)
    log.setLevel(min(least, logging.WARNING))
    for handler, _ in handlers:
        handler.setLevel(max(least, logging.CRITICAL if least > logging.INFO else least))
    log.propagate = least <= logging.INFO
    bars = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stderr(bars):
            warnings.simplefilter("ignore")
            yield heard
    finally:
        log.removeHandler(listener)
        for handler, old in handlers:
            handler.setLevel(old)
        log.setLevel(before[0])
        log.propagate = before[1]


@contextmanager
def without_old_garbage() -> Iterator[None]:
    """coremltools collects garbage after each conversion, which looks at everything that is in memory: with PyTorch
    loaded, 2 seconds. Only what is new is looked at here."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Listener(logging.Handler):
    def __init__(self, heard: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        self._heard.append(record.getMessage())


ct = _coremltools()
