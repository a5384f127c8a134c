# SPDX-License-Identifier: BSD-3-Clause
"""Which line of the user's code an error of torch.export is about. Tracing by running has it in the traceback, tracing
by bytecode in the error's own stack or text, a guard on a size only while it is made."""

from __future__ import annotations

import ast
import inspect
import linecache
import logging
import os
import re
import sys
import sysconfig
import textwrap
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import torch

_TORCH = str(Path(torch.__file__).parent)
_OURS = os.path.dirname(__file__)
_PYTHON = sysconfig.get_paths()["stdlib"]
_PACKAGES = re.compile(r"/(?:site|dist)-packages/")
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')
_SHAPES = "torch.fx.experimental.symbolic_shapes"


@dataclass(frozen=True)
class Place:
    file: str
    line: int

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def place_of(problem: BaseException) -> Place | None:
    """The innermost line of the model: rather of the user's files than of installed packages."""
    for each in _chain(problem):
        for places in (_of_traceback(each), _of_stack(each), _of_text(str(each))):
            found = _innermost(places)
            if found is not None:
                return found
    return None


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield problem
        problem = problem.__cause__ or problem.__context__


def _innermost(places: list[Place]) -> Place | None:
    of_models = [each for each in places if not _is_foreign(each.file)]
    written = [each for each in of_models if not _PACKAGES.search(each.file)]
    return next(reversed(written or of_models), None)


def _is_foreign(file: str) -> bool:
    """Of torch, of Python itself, or traced code."""
    is_of_python = file.startswith(_PYTHON) and not _PACKAGES.search(file)
    return is_of_python or os.path.dirname(file) == _OURS or file.startswith((_TORCH, "<"))


def _of_traceback(problem: BaseException) -> list[Place]:
    """Of frames that torch.export called: before them stands who called it."""
    return _called_by_torch(_frames(problem))


def _frames(problem: BaseException) -> list[Place]:
    return [
        Place(each.filename, each.lineno or 0)
        for each in traceback.extract_tb(problem.__traceback__)
    ]


def _called_by_torch(frames: list[Place]) -> list[Place]:
    called = (i for i, each in enumerate(frames) if each.file.startswith(f"{_TORCH}/export/"))
    return frames[next(called, len(frames)) :]


def _of_stack(problem: BaseException) -> list[Place]:
    stack = getattr(problem, "real_stack", None) or getattr(problem, "user_stack", None) or ()
    return [Place(each.filename, each.lineno or 0) for each in stack]


def _of_text(text: str) -> list[Place]:
    return [Place(file, int(line)) for file, line in _FRAME.findall(text)]


def of_eager(problem: BaseException) -> Place | None:
    """Of an error of the model itself, without torch.export around it."""
    return _innermost(_frames(problem))


def of_input(module: torch.nn.Module) -> Place | None:
    """The line that begins forward."""
    function = _forward(module)
    return function and Place(function[0], function[1].lineno)


def of_output(module: torch.nn.Module) -> Place | None:
    """The last line of forward that returns something."""
    function = _forward(module)
    if function is None:
        return None
    returns = [node.lineno for node in ast.walk(function[1]) if isinstance(node, ast.Return)]
    return Place(function[0], max(returns, default=function[1].lineno))


def _forward(module: torch.nn.Module) -> tuple[str, ast.FunctionDef] | None:
    try:
        function = inspect.unwrap(type(module).forward)
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
        file = inspect.getsourcefile(function)
    except (OSError, TypeError, SyntaxError):
        return None
    ast.increment_lineno(tree, first - 1)
    (definition,) = tree.body
    return (file, definition) if file and isinstance(definition, ast.FunctionDef) else None


def of_guard(export: Callable[[], object], text: str) -> Place | None:
    """Exports once more, to see where the guard that `text` complains of is made."""
    watch = _Guards()
    logger = logging.getLogger(_SHAPES)
    level, is_passed_on, disabled = logger.level, logger.propagate, logging.root.manager.disable
    handlers = list(logger.handlers)
    logger.handlers = [watch]
    logger.propagate = False
    logging.disable(logging.NOTSET)
    logger.setLevel(logging.INFO)
    try:
        export()
    except Exception:  # as before
        pass
    finally:
        logger.handlers, logger.propagate = handlers, is_passed_on
        logger.setLevel(level)
        logging.disable(disabled)
    return watch.place(text)


class _Guards(logging.Handler):
    """Torch's log of guards; the line is on the stack while it is written."""

    _NAMED = re.compile(r"create_symbol (\w+) = .*? for (L\[.*?\]\.size\(\)\[\d+\])")

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}
        self._guards: list[tuple[str, Place]] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        named = self._NAMED.search(message)
        if named is not None:
            self._names[named[1]] = named[2]
        elif "[guard added]" in message:
            place = _innermost(_called_by_torch(_stack(sys._getframe()))) or _innermost(_traced())
            if place is not None:
                self._guards.append((message.partition("[guard added]")[0], place))

    def place(self, text: str) -> Place | None:
        """The first guard of a size that the text names, else the first."""
        blamed = [symbol for symbol, name in self._names.items() if name in text]
        for guard, place in self._guards:
            if any(re.search(rf"\b{symbol}\b", guard) for symbol in blamed):
                return place
        return self._guards[0][1] if self._guards else None


def _stack(frame: FrameType | None) -> list[Place]:
    places = []
    while frame is not None:
        places.append(Place(frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return places[::-1]


def _traced() -> list[Place]:
    """The stack of what is traced by its bytecode."""
    return [
        Place(each.filename, each.lineno or 0)
        for each in torch._guards.TracingContext.extract_stack()
    ]
