# SPDX-License-Identifier: BSD-3-Clause
"""Our end of the talk with the upstream wheel: finds or makes its environment, sends jobs, reads results.

EXECUTORCH_PEER_PYTHON names the interpreter of an environment that has the first of VERSIONS; without it, and for
others, one is made under build/, where a package index that has the wheel can be reached.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

HERE = Path(__file__).resolve().parent
Job = dict[str, Any]
# The first is the one that other folders' tests and tools compare with; the last is the newest.
VERSIONS = ("1.4.1", "1.5.1")


@functools.cache
def python(version: str = VERSIONS[0]) -> str:
    """The peer's interpreter; skips the test where the wheel cannot be installed."""
    given = os.environ.get("EXECUTORCH_PEER_PYTHON")
    if given and version == VERSIONS[0]:
        return given
    words = [str(HERE / "make_peer.sh"), version]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"the upstream wheel cannot be installed here: {done.stderr[-400:]}")
    return done.stdout.strip()


def lower_job(
    exported: dict[str, Path],
    out: Path,
    external_constants: bool = False,
    partitioner: str | None = None,
    record: Path | None = None,
) -> Job:
    """`partitioner`: "demo" or "xnnpack"; without one nothing is delegated. `record`: where an ETRecord goes."""
    methods = {name: str(path) for name, path in exported.items()}
    return {
        "do": "lower",
        "methods": methods,
        "out": str(out),
        "external_constants": external_constants,
        "partitioner": partitioner,
        "record": str(record) if record else None,
    }


def read_job(program: Path, out: Path) -> Job:
    """The delegates that the peer finds in a file of ours."""
    return {"do": "read", "program": str(program), "out": str(out)}


def export_llm_job(config: dict[str, Any], out: Path) -> Job:
    """A language model by the peer's export_llm; `config` is what its YAML file would hold."""
    return {"do": "export_llm", "config": config, "out": str(out)}


def run_job(
    program: Path, calls: list[Any], out: Path, data: Path | None = None, llm: bool = False
) -> Job:
    """`llm`: with the operators of language models."""
    saved = out.with_suffix(".calls")
    torch.save(calls, saved)
    return {
        "do": "run",
        "program": str(program),
        "calls": str(saved),
        "out": str(out),
        "data": str(data) if data else None,
        "llm": llm,
    }


def train_job(
    program: Path,
    rows: list[Any],
    steps: int,
    options: dict[str, Any],
    out: Path,
    data: Path | None,
) -> Job:
    """SGD with `options` on the rows in turn; `out` gets (losses, parameters)."""
    saved = out.with_suffix(".rows")
    torch.save(rows, saved)
    return {
        "do": "train",
        "program": str(program),
        "data": str(data) if data else None,
        "rows": str(saved),
        "steps": steps,
        "options": options,
        "out": str(out),
    }


def quantize_job(network: str, precision: str, program: Path, out: Path) -> Job:
    """`network` of xnnpack_precisions.py; `out` gets its inputs and what the file gave where it was made."""
    names = {"network": network, "precision": precision}
    return {"do": "quantize", **names, "program": str(program), "out": str(out)}


def do(jobs: list[Job], folder: Path, version: str = VERSIONS[0]) -> None:
    """All jobs in one process of the peer; what fails leaves `<out>.error`."""
    listing = folder / "jobs.json"
    listing.write_text(json.dumps(jobs))
    _run(python(version), _apart(), (HERE / "peer_side.py", listing), folder)


def do_here(jobs: list[Job], folder: Path) -> None:
    """The same, with this repository's package instead of upstream's."""
    listing = folder / "jobs_here.json"
    listing.write_text(json.dumps(jobs))
    run_here(HERE / "peer_side.py", listing, cwd=folder)


def run(*words: str | Path, cwd: Path | None = None, **environment: str) -> None:
    """`python words ...` of the peer."""
    _run(python(), {**_apart(), **environment}, words, cwd)


def _apart() -> dict[str, str]:
    """The environment in which the peer does not find this repository's package."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run_here(*words: str | Path, cwd: Path | None = None) -> None:
    """The same with this repository's package."""
    _run(sys.executable, dict(os.environ), words, cwd)


def lower_each(script: str, folder: Path, *packages: str | Path) -> None:
    """`lower` of a script makes <name>.pte, a result(), of each FOLDER/<name>.pt2, a captured model with its example
    inputs. `packages`: folders of what the script imports besides the wheel."""
    run(HERE / "peer_lower.py", script, folder, *packages)


def _run(
    interpreter: str, environment: dict[str, str], words: tuple[str | Path, ...], cwd: Path | None
) -> None:
    done = subprocess.run(
        [interpreter, *map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (
        f"{interpreter} ended with {done.returncode}: {done.stderr[-2000:]}"
    )


def result(out: Path) -> Path:
    """`out`, when the peer made it; its error otherwise."""
    error = Path(f"{out}.error")
    assert not error.exists(), f"the peer failed: {error.read_text()}"
    assert out.exists(), f"the peer left no {out.name}"
    return out
