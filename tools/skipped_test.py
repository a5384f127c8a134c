# SPDX-License-Identifier: BSD-3-Clause
"""Tests that were left out are listed with their reasons."""

from pathlib import Path

import pytest

from executorch.tools.skipped import main

RESULTS = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3"><testsuite name="Gemm">
  <testcase name="Runs" status="run" result="completed" classname="Gemm"/>
  <testcase name="Wide" status="run" result="skipped" classname="Gemm">
    <skipped message="gemm_test.cpp:29&#x0A;this processor has no AVX-512"><![CDATA[x]]></skipped>
  </testcase>
  <testcase name="Off" status="run" result="skipped" classname="Gemm"><skipped message=""/></testcase>
</testsuite></testsuites>
"""


def test_reasons_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gemm_test.xml").write_text(RESULTS)
    main([str(tmp_path)])
    assert capsys.readouterr().out.splitlines() == [
        "SKIPPED gemm_test: Gemm.Wide: this processor has no AVX-512",
        "SKIPPED gemm_test: Gemm.Off: no reason given",
    ]
    main([str(tmp_path / "nothing")])
    assert capsys.readouterr().out == ""
