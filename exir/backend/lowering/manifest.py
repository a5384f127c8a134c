# SPDX-License-Identifier: BSD-3-Clause
"""`BackendManifest`: what the `backend.py` of a backend's folder says of it, in names that nothing imports until they
are asked for. Commands, recipes, exports of language models, test flows and pages of operators read it;
`executorch.backends.discovery` finds all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# What `--quantize` calls the way of a backend's own quantizer, and the search for what each layer bears.
INT8, AUTO = "int8", "auto"


class BackendAbsent(ImportError, RuntimeError):
    """What a backend is made with is not installed; the text says what, and how to get it."""


@dataclass(frozen=True)
class OperatorPage:
    """The operators that a backend takes, as tools.backend_operators writes them: rows of `table` (an OpTable) with
    their conditions. `dtypes`: what it computes in. `quantization`: a function from a row to the kinds that the row
    takes. `path`: of the page in the guide, where documents name one."""

    table: str
    dtypes: str
    quantization: str = ""
    path: str = ""


@dataclass(frozen=True)
class BackendManifest:
    """`package`: the folder's, below which all names are: `aot.partitioner:XPartitioner` is `module:name`. Empty fields
    are what a backend does not have.

    name: what commands, recipes, flows and `backend.<name>.enabled` call it; the namespace of a backend's own
        operators.
    runs_on: the processors, in a few words.
    tried_with: what its programs have run with, where this package is made.
    id: its name in files; empty for a backend that is kernels.
    partitioner: the class, of which an instance without arguments is what users choose first.
    socs: of a backend that compiles for one chip, their names, any of which `partitioner` takes.
    graphs: a context manager of a path: in it exports need no SDK, and what its compiler is given goes there as text.
    passes: of a backend that is kernels: a function (method's name, exported program) -> passes of the edge program
        (`edge_transform_passes` of a LoweringRecipe).
    edge_config: of such a backend, a function that gives the EdgeCompileConfig it wants, as for operators to preserve.
    quantizer: the class, of which an instance without arguments is what users begin with.
    recipes: its RecipeType; importing the module registers the provider.
    recipe_of: what `--quantize` means, as members of that type; "" for none. A backend with a quantizer has "int8"
        without one, too.
    precisions: what `--quantize auto` may give a layer beside int8 and floats, by name: a member of that type, or a
        function that gives a quantizer.
    language_models: a module (LANGUAGE_MODELS says what of) for `export_llm`.
    pt2e_quantizations: values of quantization.pt2e_quantize that the documents do not name.
    flows: a list of TestFlow of `backends/test/suite`; empty: one flow of the partitioner or the passes, and one that
        quantizes first.
    operators: its page of operators.
    extras: pip's name of a set of packages -> their requirements (`pip install '.[name]'` in a clone); written out, as
        the build of the package reads it without running it.
    needs: modules of its SDK, without which it is absent; `get_sdk` says how they are had.
    why_missing: a function that says which variable, file or version of the SDK is missing; empty text when none is.
    is_installed: False for what is built for tests alone, such as a backend to copy: users' lists leave it out."""

    package: str
    name: str
    runs_on: str = ""
    tried_with: str = ""
    id: str = ""
    partitioner: str = ""
    socs: str = ""
    graphs: str = ""
    passes: str = ""
    edge_config: str = ""
    quantizer: str = ""
    recipes: str = ""
    recipe_of: Mapping[str, str] = field(default_factory=dict)
    precisions: Mapping[str, str] = field(default_factory=dict)
    language_models: str = ""
    pt2e_quantizations: tuple[str, ...] = ()
    flows: str = ""
    operators: OperatorPage | None = None
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    why_missing: str = ""
    get_sdk: str = ""
    is_installed: bool = True

    def why_absent(self) -> str:
        """Which part of the SDK is missing, and how to get it; empty where all is there."""
        missing = [module for module in self.needs if not _is_there(module)]
        if not missing:
            reason = self.named(self.why_missing)() if self.why_missing else ""
            return f"the backend {self.name} lacks its SDK: {reason}" if reason else ""
        how = f": {self.get_sdk}" if self.get_sdk else ""
        return f"the backend {self.name} needs {', '.join(missing)}, not installed here{how}"

    def quantizations(self) -> list[str]:
        """What `--quantize` may say."""
        of_quantizer = [INT8] if self.quantizer else []
        found = list(dict.fromkeys([*filter(None, self.recipe_of), *of_quantizer]))
        return [*found, AUTO] if INT8 in found else found

    def lowering(self, soc: str = "") -> dict[str, Any]:
        """What lowers a program to it, by the names of a LoweringRecipe. ValueError for a chip that is none of its."""
        chip = self._chip(soc)
        if self.partitioner:
            return {"partitioners": [self.named(self.partitioner)(*chip)]}
        config = {"edge_compile_config": self.load(self.edge_config)()} if self.edge_config else {}
        return {"edge_transform_passes": [self.load(self.passes)], **config}

    def _chip(self, soc: str) -> list[str]:
        if not soc:
            return []
        known = self.named(self.socs) if self.socs else ()
        if soc not in known:
            expected = (
                f"one of {', '.join(known)}" if known else f"none, as {self.name} is of no chip"
            )
            raise ValueError(f"--soc: expected {expected}, found {soc}")
        return [soc]

    def load(self, name: str) -> Any:
        """What a field names: a module, or an object of one. BackendAbsent without the SDK."""
        if reason := self.why_absent():
            raise BackendAbsent(reason)
        return self.named(name)

    def rows(self) -> Any:
        """The table of the page of operators, which a backend has without its SDK, too."""
        return self.named(self.operators.table)

    def named(self, name: str) -> Any:
        """The same, whether the SDK is there or not."""
        module, _, attribute = name.partition(":")
        found = import_module(f"{self.package}.{module}")
        return getattr(found, attribute) if attribute else found


# What the module of `language_models` has, all but the first optional:
#   partitioners(config) -> list        of an LlmConfig in which the backend is enabled, in order of priority
#   partitioner(**options)              what get_<name>_partitioner of export.partitioner_lib gives
#   quantizers(name) -> list            of quantization.pt2e_quantize=<name>, which begins with the backend's name
#   quantize(config, manager)           in place of torchao's way with these quantizers
#   PREFIX                              of the name of a file that is given none
#   RULES                               (when it holds of a config, what is wrong and what to do) for config.rules
#   KEEPS_BLOCKS                        whether operators on a GGUF file's blocks stay on the CPU beside the backend
LANGUAGE_MODELS = (
    *("partitioners", "partitioner", "quantizers", "quantize"),
    *("PREFIX", "RULES", "KEEPS_BLOCKS"),
)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a parent that is not there; one that cannot be looked into
        return False
