# SPDX-License-Identifier: BSD-3-Clause
"""The build by Emscripten in headless Chromium: networks and a language model beside the native numbers, threads with
and without the headers that they need, the page that shows a program."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from executorch.test.e2e.chromium import Chromium, needs_chromium

Serve = Callable[..., AbstractContextManager[str]]

pytestmark = [
    pytest.mark.full,
    needs_chromium,
    pytest.mark.skipif(
        shutil.which("emcmake") is None, reason="needs Emscripten (scripts/apt-packages.txt)"
    ),
]
THREADS = 2


def result_of(page: Chromium, work: str, seconds: float = 120) -> Any:
    """What an asynchronous function of JavaScript gives."""
    page.value(
        f"window.found = undefined; ({work})().then((value) => {{ window.found = {{ value }}; }}, "
        "(error) => { window.found = { error: error.message }; }); 0"
    )
    page.wait_for("window.found !== undefined", seconds)
    found = page.value("window.found")
    assert "error" not in found, found
    return found["value"]


RUN = """async () => {
  const { load } = await import("./index.mjs");
  const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const et = await load({ threads: THREADS });
  const module = et.Module.load(await bytes("program.pte"));
  const data = await bytes("inputs");
  let begin = 0;
  const inputs = module.getMethodMeta("forward").inputTensorMeta.map((info) => {
    const tensor = et.Tensor.zeros(info.sizes, info.scalarType);
    new Uint8Array(tensor.data.buffer).set(data.subarray(begin, begin += info.nbytes));
    return tensor;
  });
  const times = [];
  let outputs = [];
  for (let i = 0; i < 11; ++i) {
    const start = performance.now();
    outputs = module.forward(inputs);
    times.push(performance.now() - start);
  }
  return {
    outputs: outputs.flatMap((each) => Array.from(each.data)), median: times.slice(1).sort((a, b) => a - b)[5],
    threads: et.numThreads, why: et.whyOneThread,
  };
}"""


def test_a_network_gives_the_native_numbers(
    threaded: Path, network: Path, serve: Serve, tmp_path: Path
) -> None:
    """With one thread and with more, which are the same numbers."""
    for name in ("program.pte", "inputs"):
        shutil.copy(network / name, threaded / name)
    expected = np.fromfile(network / "expected", np.float32)
    found = {}
    with serve(threaded, is_isolated=True) as site, Chromium(tmp_path / "profile") as page:
        for threads in (1, THREADS):
            page.open(f"{site}/package.json")
            found[threads] = result_of(page, RUN.replace("THREADS", str(threads)))
        assert not page.exceptions
    outputs = np.array(found[1]["outputs"], np.float32)
    difference = np.abs(outputs - expected).max() / max(1.0, np.abs(expected).max())
    alone, together = found[1]["median"], found[THREADS]["median"]
    native = float((network / "milliseconds").read_text())
    print(
        f"{network.name}: {difference:.1e} from the native numbers, {alone:.1f} ms beside {native:.1f} native; "
        f"{THREADS} threads: {together:.1f} ms, {alone / together:.2f} times as fast"
    )
    assert difference < 1e-4 and [found[each]["threads"] for each in found] == [1, THREADS]
    assert found[THREADS]["outputs"] == found[1]["outputs"]


@pytest.mark.parametrize("is_isolated", [True, False])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_runs_a_program(
    serve: Serve, threaded: Path, small: Path, width: int, is_isolated: bool, tmp_path: Path
) -> None:
    """And says what it lacks for threads, where it lacks it."""
    shutil.copy(small / "add_mul.pte", threaded / "add_mul.pte")
    (threaded / "wrong.pte").write_bytes(bytes(64))
    with serve(threaded, is_isolated) as site, Chromium(tmp_path / "profile") as page:
        page.resize(width, 900)
        page.open(f"{site}/index.html?program=add_mul.pte")
        page.wait_for("document.querySelectorAll('#times div').length === 4")
        shown = page.value("document.body.innerText")
        for text in ("aten::mm.out", "aten::add.out", "2 × 2", "Float", "Planned for values"):
            assert text in shown, shown
        footer = page.value("document.querySelector('#version').innerText")
        if is_isolated:
            assert footer.endswith(f"{os.cpu_count()} threads"), footer
        else:
            assert "one thread: threads need memory that is shared" in footer
            assert "Cross-Origin-Opener-Policy: same-origin" in footer
        # Nothing is wider than the window.
        assert page.value(
            "(root => root.scrollWidth <= root.clientWidth)(document.documentElement)"
        )
        page.open(f"{site}/index.html?program=wrong.pte")
        page.wait_for("document.querySelector('#status').className === 'bad'")
        assert "Failed to load program, error: 0x23" in page.value(
            "document.querySelector('#status').innerText"
        )
        assert not page.exceptions


WRITE = """async () => {
  const { loadInWorker } = await import("./worker.mjs");
  const bytes = async (name) => (await fetch(name)).arrayBuffer();
  const et = await loadInWorker();
  const tokenizer = await bytes("tokenizer.json");
  const session = await et.loadText(await bytes("model.pte"), { tokenizer });
  const pieces = [];
  const settings = { temperature: 0, maxNewTokens: COUNT, ignoresEnd: true };
  const answer = await session.generate(PROMPT, settings, (piece) => pieces.push(piece));
  et.terminate();
  return { ...answer, pieces };
}"""


def test_smollm2_writes_what_it_writes_natively(
    with_text: Path, smollm2: dict[str, Any], serve: Serve, tmp_path: Path
) -> None:
    """135 million weights, as floats: the same tokens, piece by piece, from a worker."""
    folder = tmp_path / "page"
    shutil.copytree(with_text, folder)
    (folder / "model.pte").symlink_to(smollm2["program"])
    (folder / "tokenizer.json").symlink_to(smollm2["tokenizer"])
    work = WRITE.replace("PROMPT", json.dumps(smollm2["prompt"]))
    with serve(folder) as site, Chromium(tmp_path / "profile") as page:
        page.open(f"{site}/package.json")
        answer = result_of(page, work.replace("COUNT", str(smollm2["count"])), 600)
        assert not page.exceptions
    speed = (answer["newTokens"] - 1) / answer["answerSeconds"]
    print(f"SmolLM2 in Chromium: {speed:.1f} tokens/s, natively {smollm2['speed']:.1f}, as floats")
    assert answer["text"] == smollm2["text"] == "".join(answer["pieces"])
    assert answer["newTokens"] == smollm2["count"] and len(answer["pieces"]) > 10
