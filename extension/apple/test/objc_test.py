# SPDX-License-Identifier: BSD-3-Clause
"""The Objective-C layers: run with GNUstep's Foundation, and checked by clang under ARC."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.extension.apple.test.objc import (
    CLANG,
    MISSING,
    build,
    flags,
    own_messages,
    run,
    sources,
)
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.repository.sources import ROOT

PROMPT = "The capital of France is"
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {' '.join(MISSING)} (apt-get install)"),
]


@pytest.mark.req(
    "APL-040", "APL-043", "APL-045", "APL-046", "APL-047", "APL-048", "APL-049", "APL-051"
)
def test_every_class(tmp_path: Path) -> None:
    program = build(tmp_path / "objc_test", "objc_test.m")
    add = ROOT / "extension" / "module" / "test" / "resources" / "add.pte"
    done = run([program, add])
    assert done.returncode == 0, done.stderr
    checks, failures = (int(word) for word in done.stdout.split() if word.isdigit())
    assert checks > 100 and failures == 0


@pytest.mark.req("APL-053", "APL-054")
def test_language_models(tmp_path: Path, program_store: ProgramStore) -> None:
    llama = tiny_llama.kept(tmp_path / "llama", program_store)
    program = build(tmp_path / "llm_test", "llm_test.m")
    done = run([program, llama.program, llama.tokenizer, PROMPT])
    expected = llama.decode(llama.greedy(llama.encode(PROMPT), 16))
    first, second, errors = done.stdout.split("\n---\n")
    assert first == second == expected
    assert errors.splitlines() == [
        "0 Invalid argument: the prompt leaves no room in the sequence",
        "0 Operation not supported: the C interface takes text alone",
        "org.pytorch.executorch.llm.error",
    ]


ARC = ["-fsyntax-only", "-fobjc-arc", "-fobjc-runtime=gnustep-2.2", "-ferror-limit=0"]


def test_arc_takes_the_sources() -> None:
    """GCC's headers have errors of their own under ARC; those are not counted."""
    for source in sources():
        assert own_messages(run([CLANG, *flags(), *ARC, source]).stderr) == []


def test_the_check_sees_what_arc_forbids(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.m"
    wrong.write_text("id f(id x) { return [x retain]; }\n")
    assert (
        "ARC forbids explicit message send of 'retain'"
        in run([CLANG, *flags(), *ARC, wrong]).stderr
    )


@pytest.mark.req("APL-052")
def test_what_is_experimental_warns(tmp_path: Path) -> None:
    use = tmp_path / "use.m"
    use.write_text(
        '#import "ExecuTorch.h"\n#import "ExecuTorchLLM.h"\n'
        "void module(ExecuTorchModule* one) { [one load:NULL]; }\n"
        "void text(ExecuTorchLLMTextRunner* one) { [one stop]; }\n"
    )
    words = [CLANG, *flags(), "-fsyntax-only", "-fobjc-runtime=gnustep-2.2", use]
    messages = run(words).stderr.splitlines()
    found = [line for line in messages if line.startswith(str(use)) and "warning:" in line]
    assert len(found) == 1 and found[0].startswith(f"{use}:4:"), messages
    assert "'ExecuTorchLLMTextRunner' is deprecated: This API is experimental." in found[0]
