# SPDX-License-Identifier: BSD-3-Clause
"""Which operators a program file calls, and with tensors of which dtypes and dim orders.

The file is read through flatc, which the build needs anyway, so that selection works before anything is built.
"""

from __future__ import annotations

import io
import json
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

_SCHEMA = Path(__file__).resolve().parents[1] / "schema"
# flatc writes these numbers as C does; Python reads Infinity and NaN. Alone on a line, or after a name.
_NOT_FINITE = re.compile(r"^(\s*(?:\"double_val\": )?-?)(inf|nan)(,?)$", re.M)
_PROGRAM_OF_BUNDLE = 2  # the number of the field
_ENUMERATOR = re.compile(r"^\s*([A-Z0-9_]+)\s*=\s*(\d+)", re.M)


class ModelError(ValueError):
    """The file is not a program."""


def model_operators(path: Path) -> dict[str, list[str]]:
    """Operator name to the kernel keys of its calls, in all methods of the program at `path`."""
    program, types = as_json(path), scalar_types()
    keys: dict[str, dict[str, None]] = {}
    for plan in program.get("execution_plan", []):
        names = [operator_name(operator) for operator in plan.get("operators", [])]
        for chain in plan.get("chains", []):
            for instruction in chain.get("instructions", []):
                if instruction["instr_args_type"] != "KernelCall":
                    continue
                call = instruction["instr_args"]
                key = kernel_key([plan["values"][i] for i in call["args"]], types)
                keys.setdefault(names[call["op_index"]], {})[key] = None
    return {name: list(found) for name, found in keys.items()}


def operator_name(operator: dict[str, str]) -> str:
    overload = operator.get("overload", "")
    return operator["name"] + (f".{overload}" if overload else "")


def kernel_key(arguments: list[dict[str, Any]], types: dict[str, int]) -> str:
    parts = []
    for argument in arguments:
        if argument["val_type"] == "Tensor":
            tensor = argument["val"]
            order = ",".join(str(d) for d in tensor.get("dim_order", []))
            parts.append(f"{types[tensor['scalar_type']]};{order}")
    return "v1/" + "|".join(parts)


def scalar_types() -> dict[str, int]:
    text = (_SCHEMA / "scalar_type.fbs").read_text()
    return {name: int(number) for name, number in _ENUMERATOR.findall(text)}


def _program_in_bundle(file: bytes) -> bytes:
    """The field `program` of a bundled program (devtools/bundled_program/schema), which is a whole program file."""
    (root,) = struct.unpack_from("<I", file)
    (back,) = struct.unpack_from("<i", file, root)
    (place,) = struct.unpack_from("<H", file, root - back + 2 * (2 + _PROGRAM_OF_BUNDLE))
    (offset,) = struct.unpack_from("<I", file, root + place)
    (size,) = struct.unpack_from("<I", file, root + place + offset)
    begin = root + place + offset + 4
    return file[begin : begin + size]


def _program_bytes(path: Path) -> bytes:
    """The flatbuffer, without the segments behind it (which may be gigabytes)."""
    with path.open("rb") as stored:
        file: BinaryIO = stored
        head = file.read(24)
        if head[4:8] == b"BP08":
            try:
                program = _program_in_bundle(head + file.read())
            except struct.error as error:
                raise ModelError(f"{path}: the bundled program is corrupted: {error}") from None
            file, head = io.BytesIO(program), program[:24]
        if head[4:8] != b"ET12":
            raise ModelError(
                f"{path}: expected a program with identifier ET12, or a bundled program with BP08, found {head[4:8]!r}"
            )
        size = struct.unpack_from("<Q", head, 16)[0] if head[8:12] == b"eh00" else -1
        file.seek(0)
        return file.read(size)


def as_json(path: Path) -> dict[str, Any]:
    flatc = os.environ.get("FLATC_EXECUTABLE")  # builds have their own
    if not flatc:
        from executorch.data.bin import flatc_path

        flatc = flatc_path()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "program.bin"
        copy.write_bytes(_program_bytes(path))
        command = [flatc, "--json", "--strict-json"]
        command += ["--defaults-json", "--no-warnings", "--raw-binary", "-o", folder]
        command += ["-I", str(_SCHEMA), str(_SCHEMA / "program.fbs"), "--", str(copy)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        written = Path(folder) / "program.json"
        if done.returncode != 0 or not written.exists():
            reason = (done.stderr or done.stdout).strip()
            raise ModelError(f"{path}: cannot be read as a program: {reason}")
        names = {"inf": "Infinity", "nan": "NaN"}
        text = _NOT_FINITE.sub(lambda m: m[1] + names[m[2]] + m[3], written.read_text())
        return json.loads(text)
