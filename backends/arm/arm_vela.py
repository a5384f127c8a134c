# SPDX-License-Identifier: BSD-3-Clause
"""Vela, Arm's compiler for Ethos-U, as a program."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from torch.export import ExportedProgram

from executorch.backends.arm.aot.lowering import tosa_of
from executorch.backends.arm.ethosu.compile_spec import EthosUCompileSpec
from executorch.backends.arm.ethosu.payload import packed, ports
from executorch.exir.backend.lowering.external.compiler import Refused, specs_of
from executorch.exir.backend.lowering.external.tool import ExternalTool

vela_bin_pack_io = ports
WANTED = ">=5.1,<6"
_LARGEST = 2 << 30
_ON_CPU = re.compile(r"CPU operators = (\d+)")
_WORD = re.compile(r"[A-Za-z_]\w+")


def vela_compile(
    tosa_graph: bytes,
    args: Sequence[str],
    verbose: bool = False,
    intermediate_path: str | None = None,
) -> bytes:
    """The payload of EthosUBackend. Raises Refused for what Vela does not take."""
    if len(tosa_graph) > _LARGEST:
        raise RuntimeError(
            f"Vela takes graphs of up to 2 GiB, this one has {len(tosa_graph)} bytes"
        )
    if intermediate_path is not None:
        Path(intermediate_path).mkdir(parents=True, exist_ok=True)
        return _compiled(tosa_graph, args, verbose, Path(intermediate_path))
    with tempfile.TemporaryDirectory() as folder:
        return _compiled(tosa_graph, args, verbose, Path(folder))


def _compiled(graph: bytes, args: Sequence[str], verbose: bool, folder: Path) -> bytes:
    source = folder / "out.tosa"
    source.write_bytes(graph)
    command = [str(VELA.path()), *args, f"--output-dir={folder / 'output'}", str(source)]
    if verbose:
        command.append("--verbose-all")
    ran = subprocess.run(command, capture_output=True, text=True)
    output = ran.stdout + ran.stderr
    made = folder / "output" / "out_vela.npz"
    on_cpu = _ON_CPU.search(output)
    if ran.returncode or not made.exists() or (on_cpu and int(on_cpu[1])):
        raise _refused(output, ran.returncode)
    for line in output.splitlines():
        if line.startswith("Total ") and "used" in line:
            print(line)
    return packed(np.load(made, allow_pickle=True))


def _refused(message: str, code: int) -> Refused:
    lines = [each.strip() for each in message.splitlines() if each.strip()]
    telling = [
        each for each in lines if re.search(r"(?i)error|could not|unsupported|invalid", each)
    ]
    reason = (telling or lines or [f"exit status {code}"])[-1]
    words = _WORD.findall("\n".join(telling))
    names = {each.split("__")[0] for each in words}
    return Refused(f"Vela does not take it: {reason}", names)


def _compile_program(
    program: ExportedProgram, options: Mapping[str, str], place: Path | None
) -> bytes:
    spec = EthosUCompileSpec._from_list(specs_of(options))
    graph = tosa_of(program, spec, "EthosUBackend", place)
    return vela_compile(graph, spec.compiler_flags, intermediate_path=spec.get_intermediate_path())


VELA = ExternalTool(
    "Vela", "ethos-u-vela", WANTED, "", _compile_program, backend="arm", tool="vela"
)
