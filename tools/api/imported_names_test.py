# SPDX-License-Identifier: BSD-3-Clause
"""The tables of imported names against modules of known content."""

import re
from collections import Counter
from pathlib import Path

from executorch.tools.api.imported_names import area_of, used_headers, used_names
from executorch.tools.api.report import Rule, share, used_by_area

NAMES = """files\tmodule\tname\twhat it is
3\texecutorch.tools.api.listing\tRow\t@dataclass(frozen=True) class() unit: str; scope: str; text: str
2\texecutorch.tools.api.listing\tRow\t@dataclass class() unit: str; area: str; parse(self) -> None
2\texecutorch.tools.api.listing\tread_cpp\tdef (path: Path) -> list[Row]
2\texecutorch.tools.api.listing\tread_cpp\tdef (path: Path, encoding: str='utf-8') -> list[Row]
1\texecutorch.tools.api.listing\tread_cpp\tdef (path: Path) -> (Row, Row)
1\texecutorch.tools.api.listing\tread_cpp\tdef (*args, **kwargs)
1\texecutorch.tools.api.listing\tread_cpp\tdef (self)
1\texecutorch.tools.api.report\tmain\tdef () -> None
1\texecutorch.tools.api\tlisting\tmodule
1\texecutorch.tools.api.listing\tno_such_name\t= 3
1\texecutorch.tools.no_such_module\t\tmodule
"""


def test_a_name_exists_differs_or_is_missing(tmp_path: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text(NAMES)
    used = used_names(table)
    states = [each.verdict.state for each in used]
    assert states == [
        "exists",
        "differs",
        "exists",
        "differs",
        "exists",
        "exists",
        "exists",
        "exists",
        "exists",
        "missing",
        "missing",
    ]
    assert "area absent" in used[1].verdict.note and "parse" in used[1].verdict.note
    assert "ours: (path)" in used[3].verdict.note


def test_names_are_weighed_by_files_and_what_is_to_come_is_counted_apart(tmp_path: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text(NAMES)
    rules = [Rule(re.compile("no_such_module"), "comes", open="issue 1")]
    areas = used_by_area(used_names(table), rules)
    assert areas["open"]["names"] == Counter(open=1)
    assert areas["tools"]["files"] == Counter(exists=10, differs=4, missing=1)
    assert round(share(areas["tools"]["files"]), 1) == 93.3  # (10 + 4) / 15


def test_headers_are_files_of_the_include_folders(tmp_path: Path) -> None:
    (tmp_path / "executorch").mkdir()
    (tmp_path / "executorch/here.h").touch()
    table = tmp_path / "headers.tsv"
    table.write_text("files\theader\n4\texecutorch/here.h\n1\texecutorch/absent.h\n")
    states = [each.verdict.state for each in used_headers(table, [tmp_path])]
    assert states == ["exists", "missing"]


def test_areas_are_root_folders_and_the_folders_of_the_broad_ones() -> None:
    assert area_of("executorch.exir.passes.spec_prop_pass") == "exir"
    assert area_of("executorch.backends.xnnpack.utils.utils") == "backends.xnnpack"
    assert area_of("executorch/extension/tensor/tensor.h") == "extension.tensor"
