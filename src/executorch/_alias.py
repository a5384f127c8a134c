# SPDX-License-Identifier: BSD-3-Clause
"""Makes root-relative imports (`exir.X`, `python -m examples.portable...`) the same modules as `executorch.exir.X`.

A root package calls `install()` when it finds itself imported under its short name. From then on every import of
`<root>` or `<root>.anything` gives the module object of `executorch.<root>.anything`; nothing is loaded twice.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

ROOTS = frozenset(
    {
        "backends",
        "codegen",
        "devtools",
        "examples",
        "exir",
        "export",
        "extension",
        "kernels",
        "runtime",
    }
    | {"schema", "test", "tools", "util"}
)


def _full_name(name: str) -> str:
    return f"executorch.{name}"


class _AliasLoader(importlib.abc.InspectLoader):
    """Hands out the module that already lives under the full name."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_full_name(spec.name))
        self._true_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._true_spec  # the import system wrote the alias' spec into it

    def get_code(self, fullname: str) -> CodeType | None:
        """Lets `python -m <root>.module` run the real file."""
        spec = importlib.util.find_spec(_full_name(fullname))
        if spec is None or not isinstance(spec.loader, importlib.abc.InspectLoader):
            raise ImportError(f"no code for {fullname}", name=fullname)
        return spec.loader.get_code(spec.name)

    def get_source(self, fullname: str) -> str | None:
        spec = importlib.util.find_spec(_full_name(fullname))
        loader = spec.loader if spec else None
        return (
            loader.get_source(spec.name)
            if isinstance(loader, importlib.abc.InspectLoader)
            else None
        )

    def is_package(self, fullname: str) -> bool:
        spec = importlib.util.find_spec(_full_name(fullname))
        return spec is not None and spec.submodule_search_locations is not None


class _AliasFinder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in _active:
            return None
        real = importlib.util.find_spec(_full_name(fullname))
        if real is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, _AliasLoader(), origin=real.origin)
        spec.submodule_search_locations = real.submodule_search_locations
        spec.has_location = real.has_location
        return spec


_active: set[str] = set()
_finder = _AliasFinder()


def install(root: str) -> None:
    """Aliases the root package `root` (its short name) to `executorch.<root>`; safe to call again."""
    if root not in ROOTS:
        raise ImportError(
            f"{root!r} is not a root package of executorch; expected one of {sorted(ROOTS)}"
        )
    _active.add(root)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    sys.modules[root] = importlib.import_module(_full_name(root))
