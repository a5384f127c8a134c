# SPDX-License-Identifier: BSD-3-Clause
"""The tools that guard the core: they see what they look for. The built library is scanned by ctest (core_symbols)."""

from __future__ import annotations

import pytest

from executorch.test.size import report, symbols


@pytest.mark.parametrize(
    "symbol",
    [
        "malloc",
        "_Znwm",
        "_Znam",
        "__cxa_throw",
        "_ZSt20__throw_length_errorPKc",
        "pthread_create",
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm",
        "__tls_get_addr",
        "fprintf",
        "__cxa_guard_acquire",
    ],
)
def test_forbidden_symbols_are_seen(symbol: str) -> None:
    assert symbols.offences([("method.cpp.o", symbol)])
    assert not symbols.offences([("posix.cpp.o", symbol)])


@pytest.mark.parametrize("symbol", ["memcpy", "strcmp", "et_pal_allocate", "vsnprintf", "_ZdlPvm"])
def test_allowed_symbols_are_not(symbol: str) -> None:
    assert not symbols.offences([("method.cpp.o", symbol)])


def test_map_is_summed_per_object() -> None:
    text = """
Discarded input sections
 .text.gone     0x0000000000000000       0x99 libexecutorch_core.a(method.cpp.o)
Linker script and memory map
 .text.short    0x0000000000001000       0x10 libexecutorch_core.a(method.cpp.o)
 .text._ZN10executorch7runtime6Method4loadE
                0x0000000000001010       0x20 lib/libexecutorch_core.a(method.cpp.o)
 .bss.pool      0x0000000000002000     0x1000 libexecutorch_core.a(method.cpp.o)
 .rodata.x      0x0000000000003000        0x8 CMakeFiles/size_test.dir/size_test.cpp.o
"""
    assert report.section_sizes(text) == {"method.cpp": 0x30, "size_test.cpp": 8}
