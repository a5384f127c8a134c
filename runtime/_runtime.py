# SPDX-License-Identifier: BSD-3-Clause
"""Runtime, Program and Method: thin, typed wrappers of the native module."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, BinaryIO

from executorch.extension.pybindings import portable_lib
from executorch.extension.pybindings.portable_lib import (
    ExecuTorchMethod,
    ExecuTorchProgram,
    MethodMeta,
    Verification,
)
from executorch.runtime._named_values import Outputs, in_order, laid_out


class Method:
    """A loaded method, with memory of its own. To be used by one thread at a time."""

    def __init__(self, method: ExecuTorchMethod) -> None:
        self._method = method
        self._output_names = self.metadata.output_names()

    def execute(self, inputs: Sequence[Any] | Mapping[str, Any], *, copy: bool = False) -> Outputs:
        """Runs the method and returns its outputs, which the caller owns: a list that also gives them by name.

        Inputs are torch.Tensor, numpy.ndarray, int, float, bool, str or None, in the order of the exported method or
        by their names; in order, dicts and nested lists are given leaf by leaf. Outputs are torch.Tensors; where all
        tensors among the inputs are NumPy's, so are the outputs. `copy`: tensors whose elements lie in memory in
        another order than the method takes, such as transposed arrays, are copied into that order.

        Raises RuntimeError if the inputs do not fit (the text says what was expected) or the execution fails.
        """
        if isinstance(inputs, Mapping):
            inputs = in_order(self.metadata, (), inputs)
        if copy:
            inputs = laid_out(self.metadata, inputs)
        return Outputs(self._method(inputs), self._output_names)

    def __call__(self, /, *inputs: Any, **named: Any) -> Outputs:
        """execute() as a call: `method(image, mask=mask)`, `method({"image": image, "mask": mask})`."""
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            inputs, named = (), {**inputs[0], **named}
        return self.execute(in_order(self.metadata, inputs, named) if named else inputs)

    @property
    def metadata(self) -> MethodMeta:
        """Names, sizes with their ranges, and dtypes of the inputs and outputs."""
        return self._method.method_meta()

    def __repr__(self) -> str:
        return f"Method({self.metadata._signature()})"


class Program:
    """A loaded program. May be shared by threads, each of which loads its own methods."""

    def __init__(self, program: ExecuTorchProgram, data: bytes | None) -> None:
        self._program = program
        self._data = data  # what the program points into
        self._names = [program.get_method_name(i) for i in range(program.num_methods())]
        self._of_thread = threading.local()

    @property
    def method_names(self) -> set[str]:
        """What load_method() takes."""
        return set(self._names)

    def __repr__(self) -> str:
        return f"Program({'; '.join(self.metadata(name)._signature() for name in self._names)})"

    def load_method(self, name: str) -> Method | None:
        """The method of this name. A thread always gets the same one, other threads get their own, with memory and
        state of its own. Raises KeyError if the program has no such method."""
        if name not in self._names:
            raise KeyError(f"the program has no method {name}, only {', '.join(self._names)}")
        methods = self._of_thread.__dict__.setdefault("methods", {})
        if name not in methods:
            methods[name] = Method(self._program.load_method(name))
        return methods[name]

    def metadata(self, method_name: str) -> MethodMeta:
        """What the file says about a method, without loading it."""
        return self._program.method_meta(method_name)

    @property
    def user_metadata(self) -> dict[str, Any]:
        """What `ExecutorchBackendConfig.user_metadata` gave the program. ValueError if it is no JSON."""
        return json.loads(self._program.user_metadata() or "{}")

    def write_etdump_result_to_file(
        self, etdump_path: str | os.PathLike[str], debug_buffer_path: str | os.PathLike[str] | None
    ) -> None:
        """Writes the events since loading or since the last call, and the values if there is a debug buffer.
        Raises RuntimeError unless the program was loaded with `enable_etdump`."""
        self._program.write_etdump_result_to_file(etdump_path, debug_buffer_path)


class BackendRegistry:
    """The backends this build has."""

    def __init__(self, legacy_module: ModuleType) -> None:
        self._legacy_module = legacy_module

    @property
    def registered_backend_names(self) -> list[str]:
        """The names that programs call them by."""
        return self._legacy_module._get_registered_backend_names()

    def is_available(self, backend_name: str) -> bool:
        """Whether programs that use the backend can run here."""
        return self._legacy_module._is_available(backend_name)

    def set_options(
        self, backend_name: str, options: Mapping[str, bool | int | str | os.PathLike[str]]
    ) -> None:
        """Gives a backend options at once: defaults for what is loaded later, and things to do. After

            set_options("XnnpackBackend", {"save_weight_cache_on_disk": True})

        the packed weights of methods that are loaded with a `packed_cache_path` are in their files.

        Raises RuntimeError if there is no such backend, or it refuses an option."""
        self._legacy_module._set_backend_options({backend_name: dict(options)})


class OperatorRegistry:
    """The operators this build has kernels for."""

    def __init__(self, legacy_module: ModuleType) -> None:
        self._legacy_module = legacy_module

    @property
    def operator_names(self) -> set[str]:
        """Names with overload: "aten::add.out"."""
        return set(self._legacy_module._get_operator_names())


class Runtime:
    """The runtime of this process. Use `Runtime.get()`."""

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def get() -> Runtime:
        """The one object of this class."""
        return Runtime(legacy_module=portable_lib)

    def __init__(self, *, legacy_module: ModuleType) -> None:
        self._legacy_module = legacy_module
        self.backend_registry = BackendRegistry(legacy_module)
        self.operator_registry = OperatorRegistry(legacy_module)

    def load_program(
        self,
        data: bytes | bytearray | memoryview | BinaryIO | os.PathLike[str] | str,
        *,
        verification: Verification = Verification.InternalConsistency,
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        data_path: os.PathLike[str] | str | None = None,
        backend_options: Mapping[str, Mapping[str, bool | int | str | os.PathLike[str]]]
        | None = None,
    ) -> Program:
        """Loads a program from a path, from bytes, or from a file opened for binary reading.

        `data_path`: the data file (.ptd) with the tensors that are not in the program. `backend_options`: by the names
        of backends, what they take when a method is loaded, such as

            {"XnnpackBackend": {"packed_cache_path": "model.packed"}}

        Raises RuntimeError if a file cannot be read or is no program, or for options that are none, and TypeError for
        other kinds of data.
        """
        options = {
            "enable_etdump": enable_etdump,
            "debug_buffer_size": debug_buffer_size,
            "program_verification": verification,
            "data_path": data_path,
            "backend_options": _dicts(backend_options),
        }
        if isinstance(data, (os.PathLike, str)):
            return Program(self._legacy_module._load_program(data, **options), None)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            if not hasattr(data, "read"):
                raise TypeError(
                    f"expected a path, bytes or a binary file to load a program from, got {type(data).__name__}"
                )
            data = data.read()
            if not isinstance(data, (bytes, bytearray)):
                raise TypeError(
                    "expected a file opened for binary reading, got one opened for text"
                )
        # What was verified must not change: a bytearray is copied.
        buffer = bytes(data)
        return Program(self._legacy_module._load_program_from_buffer(buffer, **options), buffer)


def _dicts(options: Mapping[str, Mapping[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
    return {name: dict(each) for name, each in options.items()} if options else None
