# SPDX-License-Identifier: BSD-3-Clause
"""Pages of C++ headers: which there are, and what they say of a header."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from executorch.tools.site.pages import ROOT
from executorch.tools.site.reference import cpp, headers, pages, python

CLASSES = """Program Method MethodMeta DataLoader MemoryAllocator HierarchicalAllocator MemoryManager EValue
Tensor""".split()
HEADER = """\
// SPDX-License-Identifier: BSD-3-Clause
// Pump: moves water. Owns nothing.
//
// `rate` is in litres.
#pragma once

namespace executorch {
namespace internal {
class Hidden {};
}  // namespace internal

// Belongs to one thread.
//   on: it turns
class Pump final : public Part {
 public:
  enum class State : uint8_t {
    On,   // it turns,
          // and is warm
    // Without it.
    Off = 2,
    Gone = 3,
  };

  // Takes `rate__` of what_ is <there>; see @nothing.
  ET_NODISCARD Error start(int rate = 3) const;

  /* implicit */ Pump(int rate) : rate_(rate) {}
  Pump(const Pump&) = delete;

  ET_DEPRECATED virtual Error run() = 0;

 private:
  void secret();
  int rate_;
};

template <typename T>
T twice(T value);

// Runs it, or returns.
#define ET_PUMP(pump, rate) (pump).start(rate)
}  // namespace executorch
"""
PAGE = """\
.. cpp:class:: executorch::Pump final : public Part

   Belongs to one thread. on: it turns

   .. cpp:enum-class:: State : uint8_t

      .. cpp:enumerator:: On

         it turns, and is warm

      .. cpp:enumerator:: Off = 2

      .. cpp:enumerator:: Gone = 3

   .. cpp:function:: Error start(int rate=3) const

      Takes ``rate__`` of what\\_ is <there>; see @nothing.

   .. cpp:function:: Pump(int rate)

   .. cpp:function:: virtual Error run() = 0

      Deprecated: :doc:`/api_life_cycle` says what to write instead.

.. cpp:function:: template <typename T> T executorch::twice(T value)

.. c:macro:: ET_PUMP(pump, rate)

   Runs it, or returns.
"""


def _plain(lines: list[str]) -> str:
    return "\n".join(line for line in "\n".join(lines).splitlines() if line.strip())


def test_what_a_header_says_of_itself() -> None:
    assert headers.about(HEADER) == "Pump: moves water. Owns nothing.\n\n`rate` is in litres."
    assert cpp.summary(HEADER) == "Pump"
    block = "/* SPDX-License-Identifier: BSD-3-Clause\n   One table.\n\n     a(b);\n*/\nint x;\n"
    assert headers.about(block) == "One table.\n\n  a(b);"


@pytest.mark.skipif(not shutil.which(headers.PROGRAM), reason="needs doxygen")
def test_names_of_a_header_stand_in_its_order_with_their_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pump.h").write_text(HEADER)
    monkeypatch.setattr(headers, "BY_AREA", {"Water": ("pump.h",)})
    found = cpp.Headers(headers.read(tmp_path, tmp_path / "out"))
    assert _plain(found.of("pump.h")) == _plain(PAGE.splitlines())


def test_the_documented_classes_are_on_the_page_of_headers() -> None:
    listed = pages.cpp_index(ROOT, set())
    assert [each for each in CLASSES if f"`{each}`" not in listed] == []
    for path in headers.paths():
        assert f"[{path}]({path})" in listed and cpp.summary((ROOT / path).read_text()), path


def test_without_doxygen_headers_stand_for_their_pages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(python, "MODULES", ())
    made = pages.pages(ROOT)
    assert [name for name in made if name.startswith(f"{cpp.CPP}/")] == []
    assert "(runtime/executor/method.h)" in made[cpp.CPP]
    assert (
        "expected doxygen on the PATH (make setup, or apt-get install doxygen)"
        in capsys.readouterr().err
    )
