# SPDX-License-Identifier: BSD-3-Clause
"""What each backend makes of many networks: hashes of payloads, calls left undelegated, seconds. A change that should
change no payload is held against the state before it:

    python -m executorch.tools.bench.payloads before.json                    # in a checkout without the change
    python -m executorch.tools.bench.payloads after.json --against before.json

Prints a line per network and backend; with --against, each difference and their number, which is also the exit status.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from executorch.backends.discovery import backends
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name
from executorch.tools.bench.suite.table import NETWORKS

Found = dict[str, Any]
DEFAULT = 30  # networks, evenly from all families


def lowered(program: torch.export.ExportedProgram, partitioner: Any) -> Found:
    start = time.perf_counter()
    try:
        manager = to_edge_transform_and_lower(program, partitioner=[partitioner])
    except Exception:
        return {"failed": traceback.format_exc().splitlines()[-1][:300]}
    seconds = time.perf_counter() - start
    module = manager.exported_program().graph_module
    delegates = [child for _, child in module.named_modules() if hasattr(child, "processed_bytes")]
    named = [
        (key, bytes(store.buffers[entry.buffer_index]))
        for each in delegates
        if (store := each.named_data_store_output) is not None
        for key, entry in sorted(store.pte_data.items())
    ]
    digest = hashlib.sha256()
    for text in [each.processed_bytes for each in delegates] + [x for pair in named for x in pair]:
        digest.update(text if isinstance(text, bytes) else str(text).encode())
    left = Counter(name for node in module.graph.nodes if (name := op_name(node)))
    return {
        "delegates": len(delegates),
        "undelegated": dict(sorted(left.items())),
        "payloads": digest.hexdigest()[:16],
        "seconds": round(seconds, 2),
    }


def differences(found: Found, before: Found) -> list[str]:
    shown = ("failed", "delegates", "undelegated", "payloads")
    return [
        f"{network} {backend}: {key} {old.get(key)} -> {new.get(key)}"
        for network, by_backend in found.items()
        for backend, new in by_backend.items()
        if (old := before.get(network, {}).get(backend)) is not None
        for key in shown
        if old.get(key) != new.get(key)
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, help="a JSON file")
    parser.add_argument("--against", type=Path, help="another such file")
    parser.add_argument("--networks", nargs="*", help=f"default: {DEFAULT} of the benchmark suite")
    parser.add_argument("--backends", nargs="*", help="default: all that have a partitioner")
    options = parser.parse_args(argv)
    known = {name: each for name, each in backends().items() if each.partitioner}
    before = json.loads(options.against.read_text()) if options.against else {}
    by_name = {each.name: each for each in NETWORKS}
    chosen = options.networks or [each.name for each in NETWORKS[:: len(NETWORKS) // DEFAULT]]
    found: Found = {}
    for name in chosen:
        module, inputs = by_name[name].build()
        program = torch.export.export(module, inputs, strict=False)
        for backend in options.backends or known:
            if not known[backend].why_absent():
                made = lowered(program, known[backend].load(known[backend].partitioner)())
                found.setdefault(name, {})[backend] = made
                print(f"{name:24} {backend:12} {json.dumps(made)[:110]}", flush=True)
        options.output.write_text(json.dumps(found, indent=1))
    unlike = differences(found, before)
    print("\n".join(unlike))
    if options.against:
        print(f"{len(unlike)} differences in {sum(map(len, found.values()))} lowerings")
    return min(len(unlike), 100)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    sys.exit(main())
