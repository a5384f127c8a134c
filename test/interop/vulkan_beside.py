# SPDX-License-Identifier: BSD-3-Clause
"""Networks lowered to Vulkan here and by ExecuTorch 1.4.1: what is left outside of delegates, and what this runtime
makes of both files.

usage: python -m executorch.test.interop.vulkan_beside FOLDER [--peer PYTHON] [--load-times] [name ...]

FOLDER keeps the files; those that are there are not made again. Columns, ours / 1.4.1's: delegates + calls left, calls
in the delegates, dispatches of the first run, their pipelines, megabytes that they read and write, megabytes that
delegates hold on the device; with --load-times milliseconds to load ours without and with a file of pipelines. A row is
marked where ours has more delegates or leaves more; what cannot be exported has a dash and, below the table, why.
`--peer` is EXECUTORCH_PEER_PYTHON unless given."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from executorch.backends.vulkan.test import vulkan_peer_networks
from executorch.backends.vulkan.test.lowered import kernels_of, payloads
from executorch.backends.vulkan.test.reference import graph_of
from executorch.devtools import Inspector
from executorch.examples.models import MODEL_NAME_TO_MODEL, make_example
from executorch.examples.models.model_factory import EagerModelFactory
from executorch.runtime import Runtime
from executorch.test.repository.sources import ROOT

SIDES = ("ours", "theirs")
MODELS = ("mv2_untrained", "lite0", "deep_autoencoder", "ds_cnn", "mobilenet_v1_025")
EXAMPLES = ("resnet18", "bert", "llama")
INTEROP = ROOT / "test" / "interop"
Row = dict[str, Any]


# ---- The files ----


def export(folder: Path, names: list[str]) -> None:
    """Of larger networks, each once for both sides."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*MODELS, *EXAMPLES):
        path = folder / f"{name}.pt2"
        if path.exists() or (names and name not in names):
            continue
        torch.manual_seed(0)
        if name in MODELS:
            model, inputs, _, _ = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL[name])
            program = torch.export.export(model.eval(), tuple(inputs), strict=True)
        else:
            method = make_example(name).methods["forward"]
            (program,), inputs = make_example(name).export().values(), method.calls[0]
        torch.save(list(torch.utils._pytree.tree_leaves(inputs)), path.with_suffix(".inputs"))
        torch.export.save(program, path)


def lower(folder: Path, side: str, python: str, names: list[str]) -> None:
    made = folder / side
    made.mkdir(exist_ok=True)
    env = dict(os.environ)
    if side == "theirs":
        env.pop("PYTHONPATH", None)
    made_before = {path.stem for path in made.iterdir() if path.suffix in (".pte", ".error")}
    missing = [name for name in names if name not in made_before]
    if missing:
        script = [vulkan_peer_networks.__file__, str(made), str(INTEROP), *missing]
        more = ["--exported", str(folder / "exported")]
        subprocess.run([python, *script, *more], env=env, check=True, capture_output=True)


# ---- What is in them ----


def counted(path: Path) -> Row:
    """Of the file alone."""
    data = path.read_bytes()
    found = payloads(data)
    calls = sum(
        call.name != "et_vk.prepack.default" for each in found for call in graph_of(each).chain
    )
    left = kernels_of(data)
    return {"delegates": len(found), "left": sum(left.values()), "calls": calls, "names": left}


def measured(path: Path) -> Row:
    """Of its first run."""
    inputs, _ = torch.load(path.with_suffix(".pt"), weights_only=True)[0]
    program = Runtime.get().load_program(path.read_bytes(), enable_etdump=True)
    program.load_method("forward").execute(inputs)
    with tempfile.TemporaryDirectory() as folder:
        dump = str(Path(folder) / "run.etdp")
        program.write_etdump_result_to_file(dump, None)
        blocks = Inspector(etdump_path=dump).event_blocks
    events = [each for block in blocks for each in block.events if each.is_delegated_op]
    shaders = [json.loads(each.name) for each in events if each.name.startswith("{")]
    memory = [
        int.from_bytes(bytes(data), "little")
        for each in events
        if each.name == "ETVK_EXECUTE"
        for data in each.raw_delegate_debug_metadatas
    ]
    return {
        "dispatches": len(shaders),
        "pipelines": len({(each["kernel_name"], *each["constants"]) for each in shaders}),
        "moved": sum(each["bytes"] for each in shaders),
        "memory": sum(memory),
    }


def load_times(path: Path) -> tuple[float, float]:
    """Without a file of pipelines, which the first load writes, and with it; each in a process of its own, and without
    the driver's own files."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", __spec__.name, str(path), "--load", f"{folder}/pipelines"]
        env = {**os.environ, "MESA_SHADER_CACHE_DISABLE": "true"}
        first, second = (
            subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
            for _ in range(2)
        )
    return float(first.split()[-1]), float(second.split()[-1])


def load(path: Path, pipelines: str) -> float:
    runtime = Runtime.get()
    runtime.backend_registry.set_options("VulkanBackend", {"pipeline_cache_path": pipelines})
    program = runtime.load_program(path)
    start = time.perf_counter()
    program.load_method("forward")
    return 1000 * (time.perf_counter() - start)


# ---- The table ----


def row(folder: Path, name: str, with_times: bool) -> Row:
    found: Row = {"name": name}
    for side in SIDES:
        path = folder / side / f"{name}.pte"
        if path.exists():
            found[side] = {**counted(path), **measured(path)}
        else:
            found[f"{side} fail"] = path.with_suffix(".error").read_text().strip().splitlines()[-1]
    if "ours" in found and with_times:
        found["load"] = load_times(folder / "ours" / f"{name}.pte")
    return found


def is_worse(found: Row) -> bool:
    if "ours" not in found or "theirs" not in found:
        return "ours" not in found
    ours, theirs = found["ours"], found["theirs"]
    return ours["delegates"] > theirs["delegates"] or ours["left"] > theirs["left"]


def line(found: Row) -> str:
    sides = [found.get(side) for side in SIDES]

    def both(text: Any) -> str:
        return " / ".join(text(each) if each else "-" for each in sides)

    cells = [
        found["name"] + (" (more)" if is_worse(found) else ""),
        both(lambda each: f"{each['delegates']} + {each['left']}"),
        *(both(lambda each, key=key: str(each[key])) for key in ("calls", "dispatches", "pipelines")),
        *(both(lambda each, key=key: f"{each[key] / 1e6:.2f}") for key in ("moved", "memory")),
        " / ".join(f"{each:.0f}" for each in found.get("load", ())),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


HEAD = (
    "| network | delegates + left | calls | dispatches | pipelines | MB moved | MB held | load, ms |\n"
    "|---|---|---|---|---|---|---|---|"
)


def rows(folder: Path, peer: str, names: list[str], with_times: bool) -> Iterator[Row]:
    export(folder / "exported", names)
    known = {**vulkan_peer_networks.cases(), **vulkan_peer_networks.exported(folder / "exported")}
    chosen = names or list(known)
    for side, python in zip(SIDES, (sys.executable, peer), strict=True):
        lower(folder, side, python, chosen)
    for name in chosen:
        yield row(folder, name, with_times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("folder", type=Path, help="where files are kept")
    parser.add_argument("names", nargs="*", help="only these networks")
    parser.add_argument("--peer", default=os.environ.get("EXECUTORCH_PEER_PYTHON", ""), help="its Python")  # fmt: skip
    parser.add_argument("--load-times", action="store_true", help="how long loading takes, too")
    parser.add_argument("--load", metavar="PIPELINES", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load:
        print(load(given.folder, given.load))
        return
    sys.path.append(str(INTEROP))
    print(HEAD)
    found = []
    for each in rows(given.folder, given.peer, given.names, given.load_times):
        print(line(each), flush=True)
        found.append(each)
    more = [each for each in found if is_worse(each)]
    print(f"\n{len(found)} networks; more delegates or calls left than 1.4.1 in {len(more)}:")
    for each in more:
        sides = {side: each[side]["names"] for side in SIDES if side in each}
        print(f"  {each['name']}: " + "; ".join(f"{side} {dict(names)}" for side, names in sides.items()))  # fmt: skip
    for each in found:
        for side in SIDES:
            if reason := each.get(f"{side} fail"):
                print(f"{each['name']}: {side} fail: {reason[:160]}")


if __name__ == "__main__":
    main()
