# SPDX-License-Identifier: BSD-3-Clause
"""Replaces calls one by one by calls of a backend's dialect, as functions that are registered per operator say.

class ToMine(AtenToDialectPass): ...

@ToMine.register_dialect_substitution(exir_ops.edge.aten.add.Tensor)
def add(node, dialect_pass): return DialectNodeSpec(exir_ops.backend.mine.add.default, node.args)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, replace
from executorch.exir.pass_base import ExportPass


@dataclass(frozen=True)
class DialectNodeSpec:
    op: Any
    args: tuple
    kwargs: dict | None = None


SubstitutionFn = Callable[[Node, "AtenToDialectPass"], DialectNodeSpec | None]


class AtenToDialectPass(ExportPass):
    """A subclass has substitutions of its own."""

    _DIALECT_SUBSTITUTIONS: ClassVar[dict[Any, SubstitutionFn]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._DIALECT_SUBSTITUTIONS = {}

    def __init__(self, exported_program: ExportedProgram) -> None:
        super().__init__()
        self.exported_program = exported_program

    @classmethod
    def register_dialect_substitution(
        cls, target: Any
    ) -> Callable[[SubstitutionFn], SubstitutionFn]:
        """Decorator of the function for `target`; what gives None leaves the call as it is."""

        def register(function: SubstitutionFn) -> SubstitutionFn:
            if target in cls._DIALECT_SUBSTITUTIONS:
                raise RuntimeError(f"{cls.__name__} has a substitution for {target} already")
            cls._DIALECT_SUBSTITUTIONS[target] = function
            return function

        return register

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            function = (
                self._DIALECT_SUBSTITUTIONS.get(node.target) if node.op == "call_function" else None
            )
            spec = function(node, self) if function else None
            if spec is not None:
                replace(node, _call_like(node, spec, function))
                modified = True
        return finished(graph_module, modified)


def _call_like(node: Node, spec: DialectNodeSpec, function: SubstitutionFn) -> Node:
    """Has all that is known of `node`, its value included, and says in its stack trace who put it there."""
    with node.graph.inserting_before(node):
        made = node.graph.call_function(spec.op, spec.args, spec.kwargs or {})
    code = function.__code__
    place = f'  File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_qualname}\n'
    made.meta = {**node.meta, "stack_trace": f"{node.meta.get('stack_trace') or ''}\n{place}"}
    return made
