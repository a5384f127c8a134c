# SPDX-License-Identifier: BSD-3-Clause
"""The class of `executorch wrap --lang kotlin` on a desktop's JVM: numbers, labels, and what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.extension.android.test.jvm import LIBRARY, Jvm
from executorch.test.cli import wrapped
from executorch.test.install.commands import command
from executorch.tools.android.classes import class_path, compile_classes, kotlin_library

pytestmark = pytest.mark.full

LACKS = ("text", "image", "waves")
WRONG = """
import com.example.AllOfIt

fun said(call: () -> Unit): String? =
  try { call(); "nothing" } catch (problem: RuntimeException) { problem.message }

fun main(words: Array<String>) {
  val one = AllOfIt.Elements(FloatArray(1), 1)
  AllOfIt(words[0]).use { model ->
    println(said { model.ranges(AllOfIt.Elements(FloatArray(9), 3, 3), AllOfIt.Elements(FloatArray(8), 8), one) })
    println(said { model.ranges(rows = AllOfIt.Elements(FloatArray(12), 3, 4), pairs = one, width = one) })
    println(said { model.store(AllOfIt.Elements(FloatArray(2), 3)) })
    println(model.scalars(AllOfIt.Elements(FloatArray(8), 4, 2)).output1)
  }
  AllOfIt(words[1]).use { other ->
    println(said { other.delete() })
    println(said { other.useKvCache() })
    println(said { other.halves(AllOfIt.Elements(ShortArray(2), 2)) })
  }
  println(AllOfIt.labels)
}
"""


def test_the_class_compiles_and_gives_the_numbers(java: Jvm, tmp_path: Path) -> None:
    program = wrapped.write(tmp_path)
    chosen = [name for name in (*wrapped.EXPECTED, "store") if name not in LACKS]
    words = [word for name in chosen for word in ("--method", name)]
    sources = tmp_path / "sources"
    sources.mkdir()
    wrapped.wrapped(program, "kotlin", sources, ".kt", "--package", "com.example", *words)
    (sources / "wrong.kt").write_text(WRONG)
    classes = java.classes / "main"
    made = compile_classes(tmp_path / "classes", [sources], uses=[classes])
    path = class_path([classes, made, kotlin_library()])
    start = ["java", f"-Djava.library.path={LIBRARY.parent}", "-Dfile.encoding=UTF-8", "-cp", path]
    names = {"getMaxSeqLen": "get_max_seq_len", "useKvCache": "use_kv_cache"}
    bits = float(0x3800)  # of a half 0.5: Kotlin has no halves
    wrapped.same(command(*start, "MainKt", program), names, LACKS, halves=bits, bfloats=0x3F00)
    other = wrapped.save(tmp_path / "other.pte", wrapped.others(), use_kv_cache=2)
    printed = command(*start, "WrongKt", program, other)
    for sentence in (
        "dimension 0 of input rows is 3, so dimension 0 of input pairs must be 6, got 8",
        "input 0 (rows): expected Float [3..6, 3], got Float [3, 4]",
        "input x: expected 3 elements for sizes [3], found 2",
        "Input n of method delete: it is not a tensor",
        "Expected EValue type Bool, actual type Int",
        "input 0 (x): expected Float [2], got BFloat16 [2]",
        str(wrapped.LABELS).replace("'", ""),
    ):
        assert sentence in printed, printed
    assert "\n4\n" in printed  # x.shape[0]
