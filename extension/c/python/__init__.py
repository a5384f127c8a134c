# SPDX-License-Identifier: BSD-3-Clause
"""Programs by libexecutorch_c and ctypes: neither torch nor a compiler is needed.

    library = Library()  # that of the wheel; elsewhere Library("libexecutorch_c.so")
    with library.load("add.pte") as module:
        (total,) = module.execute(array, array)  # what has Python's buffer protocol, as NumPy's arrays
        print(total.view().tolist())

The folder may be copied into other projects: it imports nothing else."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import raw

# Formats of buffers, of each dtype that has one.
FORMATS = {
    raw.UINT8: "B", raw.INT8: "b", raw.INT16: "h", raw.INT32: "i", raw.INT64: "q", raw.FLOAT16: "e",
    raw.FLOAT32: "f", raw.FLOAT64: "d", raw.BOOL: "?", raw.UINT16: "H", raw.UINT32: "I", raw.UINT64: "Q",
}  # fmt: skip
DTYPES = {form: dtype for dtype, form in FORMATS.items()} | {"l": raw.INT64, "L": raw.UINT64}
REASONS = ("nothing", "end_of_text", "length", "context_full", "stopped", "stop_text")


class ExecuTorchError(RuntimeError):
    """`code`: a number of raw.py, as INVALID_ARGUMENT."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def structure(kind: type[Any], **members: Any) -> Any:
    return kind(struct_size=ctypes.sizeof(kind), **members)


def _in_the_wheel() -> Path | None:
    """In executorch/lib, where this folder is executorch/extension/c/python."""
    folder = Path(__file__).resolve().parents[3] / "lib"
    return next(folder.glob("*executorch_c.[sd]*"), None)


class Library:
    def __init__(self, path: str | Path | None = None) -> None:
        found = path or _in_the_wheel() or ctypes.util.find_library("executorch_c")
        if found is None:
            raise ImportError(
                "expected the path of libexecutorch_c, or the library on the loader's path"
            )
        self._library = ctypes.CDLL(str(found))
        get_api = self._library.executorch_get_api
        get_api.restype = ctypes.POINTER(raw.ExecuTorchApi)
        get_api.argtypes = [ctypes.c_uint32]
        table = get_api(raw.API_VERSION)
        if not table:
            raise ImportError(f"{path} is older than version {raw.API_VERSION} of this binding")
        self.api = table.contents

    @property
    def version(self) -> str:
        return self.api.library_version.decode()

    def check(self, status: int) -> None:
        if status:
            error = ExecuTorchError(
                self.api.status_code(status),
                self.api.status_message(status).decode(errors="replace"),
            )
            self.api.release(status)
            raise error

    def tensor(self, array: Any) -> Tensor:
        """Over the memory of the array, which it keeps."""
        return Tensor.of_buffer(self, array)

    def load(
        self, program: str | Path | bytes, data_files: Sequence[str | Path] = (), **options: Any
    ) -> Module:
        """`options`: members of raw.ExecuTorchModuleOptions."""
        files = [raw.ExecuTorchSource(path=str(each).encode()) for each in data_files]
        array = (raw.ExecuTorchSource * max(len(files), 1))(*files)
        source = raw.ExecuTorchSource()
        if isinstance(program, bytes):
            source.data = ctypes.cast(ctypes.c_char_p(program), ctypes.c_void_p)
            source.size = len(program)
        else:
            source.path = str(program).encode()
        given = structure(
            raw.ExecuTorchModuleOptions,
            program=source, data_files=array, num_data_files=len(files), **options,
        )  # fmt: skip
        handle = raw.ExecuTorchModule()
        self.check(self.api.module_load(ctypes.byref(given), ctypes.byref(handle)))
        return Module(self, handle.value, program)

    def text(
        self, program: str | Path, tokenizer: str | Path | None = None, **options: Any
    ) -> TextSession:
        given = structure(
            raw.ExecuTorchTextOptions,
            program=str(program).encode(),
            tokenizer=None if tokenizer is None else str(tokenizer).encode(),
            **options,
        )
        handle = raw.ExecuTorchText()
        self.check(self.api.text_new(ctypes.byref(given), 1, ctypes.byref(handle)))
        return TextSession(self, handle.value)


class Handle:
    """Released with the object, or before by close() or `with`."""

    def __init__(self, library: Library, handle: int, keeps: object = None) -> None:
        self.library = library
        self.handle = handle
        self._keeps = keeps

    def close(self) -> None:
        handle, self.handle = self.handle, 0
        self.library.check(self.library.api.release(handle))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "handle", 0):
            self.library.api.release(self.handle)


class Tensor(Handle):
    """A caller's, or an output: then its contents change with the module's next execution."""

    @classmethod
    def of_buffer(cls, library: Library, array: Any) -> Tensor:
        view = memoryview(array)
        form = view.format.lstrip("@=<")
        if form not in DTYPES or not view.c_contiguous:
            raise TypeError(
                f"expected a contiguous array of numbers, found the format {view.format!r}"
            )
        shape = (ctypes.c_int32 * max(view.ndim, 1))(*view.shape)
        if view.readonly:  # no address to be had by ctypes
            view = memoryview(bytearray(view.cast("B")))
            data = (ctypes.c_char * view.nbytes).from_buffer(view)
        else:
            data = (ctypes.c_char * view.nbytes).from_buffer(
                view.cast("B") if view.nbytes else view
            )
        spec = structure(
            raw.ExecuTorchTensorSpec,
            dtype=DTYPES[form], dynamism=raw.BOUNDED_SIZES, rank=memoryview(array).ndim, sizes=shape,
            data=ctypes.addressof(data), data_size=view.nbytes,
        )  # fmt: skip
        handle = raw.ExecuTorchTensor()
        library.check(library.api.tensor_new(ctypes.byref(spec), ctypes.byref(handle)))
        return cls(library, handle.value, data)

    def info(self) -> Any:
        info = structure(raw.ExecuTorchTensorInfo)
        self.library.check(self.library.api.tensor_info(self.handle, ctypes.byref(info)))
        return info

    @property
    def shape(self) -> tuple[int, ...]:
        info = self.info()
        return tuple(info.sizes[: info.rank])

    def view(self) -> memoryview:
        """Its memory, without a copy; valid as long as the tensor has it."""
        info = self.info()
        order = list(info.dim_order[: info.rank])
        if order != sorted(order):
            raise ValueError(f"expected a contiguous tensor, found the dim order {order}")
        if info.dtype not in FORMATS:
            raise TypeError(f"dtype {info.dtype} has no format of Python's")
        memory = (ctypes.c_char * info.num_bytes).from_address(info.data or 0)
        shape = tuple(info.sizes[: info.rank])
        return memoryview(memory).cast("B").cast(FORMATS[info.dtype], shape)

    def copy(self) -> Tensor:
        handle = raw.ExecuTorchTensor()
        self.library.check(self.library.api.tensor_copy(self.handle, ctypes.byref(handle)))
        return Tensor(self.library, handle.value)


class OutputTensor(Tensor):
    """The module's: it keeps the module, and releases nothing."""

    def close(self) -> None:
        self.handle = 0

    def __del__(self) -> None:
        pass


class Module(Handle):
    def share(self) -> Module:
        """Another module over the same program, for another thread."""
        handle = raw.ExecuTorchModule()
        self.library.check(self.library.api.module_share(self.handle, ctypes.byref(handle)))
        return Module(self.library, handle.value, self._keeps)

    def methods(self) -> Iterator[str]:
        name = ctypes.c_char_p()
        for index in range(1 << 31):
            try:
                self.library.check(
                    self.library.api.method_name(self.handle, index, ctypes.byref(name))
                )
            except ExecuTorchError as error:
                if error.code != raw.NOT_FOUND:
                    raise
                return
            yield name.value.decode()

    def method_info(self, method: str = "forward") -> Any:
        info = structure(raw.ExecuTorchMethodInfo)
        api = self.library.api
        self.library.check(api.method_info(self.handle, method.encode(), ctypes.byref(info)))
        return info

    def value_info(self, port: int, index: int, method: str = "forward") -> Any:
        info = structure(raw.ExecuTorchValueInfo)
        status = self.library.api.value_info(
            self.handle, method.encode(), port, index, ctypes.byref(info)
        )
        self.library.check(status)
        return info

    def execute(self, *inputs: Any, method: str = "forward", **named: Any) -> list[Any]:
        """Tensors, arrays, numbers and texts, all by place or all by name."""
        given = [(value, None) for value in inputs]
        given += [(value, name.encode()) for name, value in named.items()]
        kept: list[Any] = []
        values = (raw.ExecuTorchValue * max(len(given), 1))()
        for slot, (value, name) in zip(values, given):
            self._fill(slot, value, kept)
            slot.name = name
        count = self.method_info(method).num_outputs
        outputs = (raw.ExecuTorchValue * max(count, 1))()
        status = self.library.api.execute(
            self.handle, method.encode(), values, len(given), outputs, count
        )
        self.library.check(status)
        return [self._value(outputs[i]) for i in range(count)]

    def take_events(self) -> bytes:
        """The ETDump of what ran since the last call."""
        events = raw.ExecuTorchMemory()
        status = self.library.api.module_take_events(self.handle, ctypes.byref(events), None)
        self.library.check(status)
        return ctypes.string_at(events.data, events.size) if events.size else b""

    def _fill(self, slot: Any, value: Any, kept: list[Any]) -> None:
        if isinstance(value, (bool, int)):
            slot.kind = raw.BOOLEAN if isinstance(value, bool) else raw.INT
            slot.integer = value
        elif isinstance(value, float):
            slot.kind, slot.number = raw.DOUBLE, value
        elif isinstance(value, str):
            text = value.encode()
            slot.kind, slot.text, slot.text_size = raw.STRING, text, len(text)
        elif value is not None:
            tensor = value if isinstance(value, Tensor) else Tensor.of_buffer(self.library, value)
            kept.append(tensor)
            slot.kind, slot.tensor = raw.TENSOR, tensor.handle

    def _value(self, value: Any) -> Any:
        if value.kind == raw.TENSOR:
            return OutputTensor(self.library, value.tensor, self)
        if value.kind == raw.STRING:
            start = ctypes.c_void_p.from_buffer(value, raw.ExecuTorchValue.text.offset).value
            return ctypes.string_at(start, value.text_size).decode(errors="replace")
        numbers = {
            raw.DOUBLE: value.number,
            raw.INT: value.integer,
            raw.BOOLEAN: bool(value.integer),
        }
        return numbers.get(value.kind)


@dataclass(frozen=True)
class Answer:
    text: str
    reason: str  # of REASONS
    prompt_tokens: int
    new_tokens: int


class TextSession(Handle):
    """A context, behind which each prompt and answer goes."""

    def generate(
        self, prompt: str, on_text: Callable[[str], object] = lambda text: None, **options: Any
    ) -> Answer:
        """`options`: `stops`, texts that end the answer; `sampling`, numbers by name; members of
        raw.ExecuTorchGenerateOptions. An error of on_text ends the answer and is raised."""

        def call(*given: Any) -> int:
            return self.library.api.text_generate(self.handle, prompt.encode(), *given)

        return self._answer(call, on_text, **options)

    def chat(
        self,
        messages: Sequence[tuple[str, str]],
        on_text: Callable[[str], object] = lambda text: None,
        form: str | None = None,
        **options: Any,
    ) -> Answer:
        """Of (role, content). `form`: chatml, llama3 or gemma, else that of the model's chat template."""
        array = (raw.ExecuTorchMessage * max(len(messages), 1))(
            *(raw.ExecuTorchMessage(role.encode(), text.encode()) for role, text in messages)
        )
        named = None if form is None else form.encode()

        def call(*given: Any) -> int:
            return self.library.api.text_chat(self.handle, array, len(messages), named, *given)

        return self._answer(call, on_text, **options)

    def _answer(
        self,
        call: Callable[..., int],
        on_text: Callable[[str], object],
        stops: Sequence[str] = (),
        sampling: dict[str, float] | None = None,
        **options: Any,
    ) -> Answer:
        pieces: list[str] = []
        errors: list[BaseException] = []

        def show(_: object, address: int, size: int) -> int:
            try:
                text = ctypes.string_at(address, size).decode(errors="replace")
                pieces.append(text)
                on_text(text)
            except BaseException as error:
                errors.append(error)
            return len(errors)

        settings = [raw.ExecuTorchSetting(k.encode(), v) for k, v in (sampling or {}).items()]
        callback = dict(raw.ExecuTorchGenerateOptions._fields_)["on_text"](show)
        given = structure(
            raw.ExecuTorchGenerateOptions,
            sampling=(raw.ExecuTorchSetting * max(len(settings), 1))(*settings),
            num_sampling=len(settings),
            stops=(ctypes.c_char_p * max(len(stops), 1))(*(each.encode() for each in stops)),
            num_stops=len(stops),
            on_text=callback,
            **options,
        )
        result = structure(raw.ExecuTorchTextResult)
        status = call(ctypes.byref(given), ctypes.byref(result))
        if errors:
            raise errors[0]
        self.library.check(status)
        counts = result.prompt_tokens, result.new_tokens
        return Answer("".join(pieces), REASONS[result.reason], *counts)

    def stop(self) -> None:
        self.library.check(self.library.api.text_stop(self.handle))

    @property
    def position(self) -> int:
        position = ctypes.c_int64()
        self.library.check(self.library.api.text_position(self.handle, ctypes.byref(position)))
        return position.value

    def rewind(self, position: int = 0) -> None:
        self.library.check(self.library.api.text_rewind(self.handle, position))
