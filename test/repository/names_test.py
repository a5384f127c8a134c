# SPDX-License-Identifier: BSD-3-Clause
"""Own code uses its own names, not the historic aliases, and files are called for what they hold."""

from __future__ import annotations

import re
from pathlib import Path

from executorch.test.repository.sources import ROOT, files, includes, with_suffix

# Spellings that only users write; torch::executor::native and ::function are the documented homes of kernels.
ALIASES = re.compile(r"\b(torch::executor::(?!native\b|function\b)\w+|exec_aten::\w+)")
DEFINES_ALIASES = re.compile(r"namespace\s+(torch::executor|torch|exec_aten)\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
# Documented places that test/api does not list.
DOCUMENTED = (
    "tools/cmake/Utils.cmake",
    "extension/pybindings",
    "backends/apple/coreml/compiler/enumerated_shape_utils",
    "backends/arm/common",
    "backends/arm/util",
    "backends/cadence/aot/utils",
    "backends/cadence/runtime/utils",
    "backends/xnnpack/utils",
    "backends/nxp/quantizer/utils",
    "backends/qualcomm/export_utils",
    "backends/qualcomm/partition/utils",
    "backends/qualcomm/utils",
    "backends/qualcomm/utils/utils",
    "backends/samsung/utils",
    "backends/samsung/utils/export_utils",
    "examples/mediatek/aot_utils",
    "examples/mediatek/aot_utils/oss_utils",
    "examples/mediatek/aot_utils/oss_utils/utils",
    "exir/_program_utils",
    "exir/backend/utils",
    "exir/dialects/edge/dtype/utils",
    "exir/operator/util",
    "kernels/portable/cpu/util",
)
# Headers here have the names that other projects gave them.
SHAPED_BY_OTHERS = ("runtime/core/portable_type/c10/c10/util",)
VAGUE = re.compile(r"(^|_)(utils?|common|misc|helpers?)(\.|_test\.|$)", re.I)


def user_facing(path: Path, text: str) -> bool:
    """Headers that define the aliases, and tests that prove them."""
    return bool(DEFINES_ALIASES.search(text)) or path.stem.endswith("_test")


def test_own_code_does_not_use_the_historic_namespaces() -> None:
    offences = []
    for path in with_suffix(".h", ".cpp"):
        if path.parts[0] in ("docs", "test"):
            continue
        text = (ROOT / path).read_text(errors="replace")
        if user_facing(path, text):
            continue
        code = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
        for found in ALIASES.finditer(code):
            offences.append(f"{path}:{code.count(chr(10), 0, found.start()) + 1}: {found[0]}")
    assert not offences, "\n".join(offences)


def test_requirement_rows_are_named_where_results_tell_them() -> None:
    """A comment proves nothing; what RecordProperty says stands in the program's result file."""
    offences = [
        str(path)
        for path in with_suffix(".cpp", ".cc", ".h")
        if re.search(r"//\s*req:", (ROOT / path).read_text(errors="replace"))
    ]
    assert not offences, f'write RecordProperty("req", "RT-010"); in the test\'s body: {offences}'


PACKAGE = Path("src/executorch")


def documented_places() -> set[str]:
    """Every header and module that test/api has, without suffix, and the folders above them."""
    places = set(DOCUMENTED)
    for row in (ROOT / "test/api/included-headers.tsv").read_text().splitlines()[1:]:
        header = row.split("\t")[1].removeprefix("executorch/").removesuffix(".h")
        places.update({header, *map(str, Path(header).parents)})
    for page in (ROOT / "test" / "api").glob("*.md"):
        for title in re.findall(r"^## (\S+)", page.read_text(), re.M):
            is_header = title.endswith(".h")
            place = (
                title.removesuffix(".h")
                if is_header
                else title.removeprefix("executorch.").replace(".", "/")
            )
            places.update({place, *map(str, Path(place).parents)})
    table = (ROOT / "test/api/imported-names.tsv").read_text().splitlines()[1:]
    for module in {row.split("\t")[1] for row in table}:
        place = module.removeprefix("executorch.").replace(".", "/")
        places.update({place, *map(str, Path(place).parents)})
    return places


def test_nothing_is_called_util_common_misc_or_helpers() -> None:
    """Only a documented path may be: its own file, its test beside it, and the folders above it."""
    documented = documented_places()
    offences = set()
    for path in files():
        if path.parts[0] in ("docs", "third-party"):
            continue
        for depth, part in enumerate(path.parts):
            place = Path(*path.parts[: depth + 1])
            if PACKAGE in place.parents:  # beside the links to the root's folders
                place = place.relative_to(PACKAGE)
            plain = Path(str(place.with_suffix("")).removesuffix("_test"))
            known = documented & {str(place), str(plain)} or str(plain.parent) in SHAPED_BY_OTHERS
            named_for_folder = plain.name == plain.parent.name
            if VAGUE.search(part) and not known and not named_for_folder:
                offences.add(str(place))
    assert not offences, "\n".join(sorted(offences))


def test_includes_are_spelled_from_the_package() -> None:
    """<executorch/...> everywhere: a header means the same file to us and to users, whose projects have their own."""
    offences = [
        f"{path}:{line}: {included}"
        for path in with_suffix(".h", ".cpp")
        if path.parts[:2] != ("test", "consumer")
        for line, included in includes(path)
        if included.startswith(("../", "./")) or (ROOT / path.parent / included).is_file()
    ]
    assert not offences, "\n".join(offences)
