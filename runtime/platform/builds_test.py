# SPDX-License-Identifier: BSD-3-Clause
"""What is in an object file of the platform layer: the minimal platform's needs, and which message texts stay."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDES = [f"-I{ROOT}/src", f"-I{ROOT}/runtime/core/portable_type/c10"]
COMPILER = shutil.which("c++")

pytestmark = pytest.mark.skipif(
    COMPILER is None or shutil.which("nm") is None, reason="needs a C++ compiler and nm"
)

MESSAGES = """
#include <executorch/runtime/core/error.h>
executorch::runtime::Error f(int x) {
  ET_LOG(Debug, "debug-text %d", x);
  ET_LOG(Info, "info-text %d", x);
  ET_CHECK_OR_RETURN_ERROR(x > 0, InvalidArgument, "error-text %d", x);
  return executorch::runtime::Error::Ok;
}
"""


def compile_object(source: Path, target: Path, *flags: str) -> bytes:
    command = [
        str(COMPILER),
        "-std=c++17",
        "-O2",
        *flags,
        *INCLUDES,
        "-c",
        str(source),
        "-o",
        str(target),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_bytes()


@pytest.mark.req("RT-036")
def test_minimal_platform_needs_nothing(tmp_path: Path) -> None:
    compile_object(ROOT / "runtime/platform/default/minimal.cpp", tmp_path / "minimal.o")
    symbols = subprocess.run(
        ["nm", str(tmp_path / "minimal.o")], check=True, capture_output=True, text=True
    ).stdout
    undefined = [line for line in symbols.splitlines() if " U " in line]
    assert undefined == []
    for name in (
        "init",
        "abort",
        "current_ticks",
        "ticks_to_ns_multiplier",
        "emit_log_message",
        "allocate",
        "free",
    ):
        assert f" W et_pal_{name}\n" in symbols


def test_minimal_platform_has_no_time_and_no_heap(tmp_path: Path) -> None:
    source = tmp_path / "main.cpp"
    source.write_text(
        f'#include "{ROOT}/runtime/platform/default/minimal.cpp"\n'
        "int main() {\n"
        "  const auto ratio = et_pal_ticks_to_ns_multiplier();\n"
        "  return et_pal_current_ticks() == 11223344 && ratio.numerator == 1 &&\n"
        "                 ratio.denominator == 1 && et_pal_allocate(8) == nullptr\n"
        "             ? 0\n"
        "             : 1;\n"
        "}\n"
    )
    program = tmp_path / "main"
    subprocess.run(
        [str(COMPILER), "-std=c++17", *INCLUDES, str(source), "-o", str(program)], check=True
    )
    assert subprocess.run([str(program)]).returncode == 0


ANDROID_LOG_H = """
enum { ANDROID_LOG_UNKNOWN, ANDROID_LOG_DEBUG = 3, ANDROID_LOG_INFO, ANDROID_LOG_ERROR = 6, ANDROID_LOG_FATAL };
#include <cstdarg>
#include <cstdio>
inline int __android_log_print(int priority, const char* tag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::printf("%d %s ", priority, tag);
  std::vprintf(format, arguments);
  std::printf("\\n");
  va_end(arguments);
  return 0;
}
"""


@pytest.mark.req("RT-037")
def test_messages_of_the_android_platform_go_to_the_log_of_the_system(tmp_path: Path) -> None:
    """With a header of our own in the place of Android's, which prints what the log would get."""
    (tmp_path / "android").mkdir()
    (tmp_path / "android" / "log.h").write_text(ANDROID_LOG_H)
    source, program = tmp_path / "main.cpp", tmp_path / "main"
    source.write_text(
        f'#include "{ROOT}/runtime/platform/default/android.cpp"\n'
        "int main() {\n"
        "  et_pal_init();\n"
        '  et_pal_emit_log_message(0, kError, "file.cpp", "f", 7, "text", 4);\n'
        '  et_pal_emit_log_message(0, kInfo, "file.cpp", "f", 8, "more", 4);\n'
        "}\n"
    )
    command = [str(COMPILER), "-std=c++17", *INCLUDES, f"-I{tmp_path}", str(source)]
    subprocess.run([*command, "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    assert printed.stdout == "6 ExecuTorch [file.cpp:7] text\n4 ExecuTorch [file.cpp:8] more\n"
    assert printed.stderr == ""


@pytest.mark.req("RT-040")
@pytest.mark.parametrize("optimization", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("flags", "present"),
    [
        (["-DET_MIN_LOG_LEVEL=Debug"], {b"debug-text", b"info-text", b"error-text"}),
        ([], {b"info-text", b"error-text"}),
        (["-DET_MIN_LOG_LEVEL=Error"], {b"error-text"}),
        (["-DET_LOG_ENABLED=0"], set()),
    ],
)
def test_message_text_in_the_object(
    tmp_path: Path, flags: list[str], present: set[bytes], optimization: str
) -> None:
    source = tmp_path / "messages.cpp"
    source.write_text(MESSAGES)
    contents = compile_object(source, tmp_path / "messages.o", optimization, *flags)
    assert {
        text for text in (b"debug-text", b"info-text", b"error-text") if text in contents
    } == present


@pytest.mark.req("RT-040", "BLD-052", "BLD-C05")
def test_log_level_in_any_case(tmp_path: Path) -> None:
    for level, expected in (("DEBUG", "Debug"), ("info", "Info"), ("Fatal", "Fatal")):
        script = tmp_path / "level.cmake"
        script.write_text(
            f'include("{ROOT}/runtime/log_level.cmake")\n'
            f"et_min_log_level(level {level} ON)\n"
            'message(STATUS "level=${level}")\n'
        )
        done = subprocess.run(
            ["cmake", "-P", str(script)], check=True, capture_output=True, text=True
        )
        assert f"level={expected}\n" in done.stdout
