# SPDX-License-Identifier: BSD-3-Clause
"""Archives of the Java interface, without Gradle.

python -m executorch.tools.android aar --libraries cmake-out-android-so --out aar-out [--flavor vulkan] [--maven DIR]
python -m executorch.tools.android jvm --library linux-x86_64=FILE [--library linux-aarch64=FILE] --out FILE.jar
python -m executorch.tools.android release --aar FILE --flavor qnn --out DIR [--snapshot YYYYMMDD]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from executorch.tools.android import archive, publish
from executorch.tools.android.classes import MissingTool, compile_classes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="executorch.tools.android", description=__doc__.splitlines()[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    aar = commands.add_parser("aar", help="executorch.aar and its sum")
    aar.add_argument(
        "--libraries", type=Path, required=True, help="a folder for each ABI, with libexecutorch.so"
    )
    jvm = commands.add_parser("jvm", help="a jar for desktops")
    jvm.add_argument(
        "--library", action="append", required=True, help="linux-x86_64=FILE or linux-aarch64=FILE"
    )
    jvm.add_argument("--standalone", action="store_true", help="with Kotlin's library inside")
    for command in (aar, jvm):
        command.add_argument("--out", type=Path, required=True)
        command.add_argument(
            "--classes", type=Path, help="a jar or folder; compiled here if none is given"
        )
        command.add_argument("--maven", type=Path, help="a repository to put it into, too")
    copy = commands.add_parser("release", help="folders as releases are downloaded from")
    copy.add_argument("--aar", type=Path, required=True)
    copy.add_argument("--out", type=Path, required=True)
    copy.add_argument("--snapshot", default="", help="a day, YYYYMMDD")
    for command in (aar, copy):
        command.add_argument("--flavor", choices=publish.FLAVORS, default="xnnpack")
    for command in (aar, jvm, copy):
        command.add_argument("--version", default=archive.VERSION)
    return parser


def _run(given: argparse.Namespace) -> Path:
    if given.command == "release":
        folder = publish.release_folder(given.flavor, given.version, given.snapshot)
        return publish.release(given.out, given.aar, folder)
    with tempfile.TemporaryDirectory() as scratch:
        classes = given.classes or compile_classes(Path(scratch) / "classes")
        if given.command == "aar":
            made = archive.write_aar(given.out, classes, given.libraries)
            if given.maven:
                publish.publish(given.maven, made, given.flavor, given.version)
            return made
        pairs = [word.partition("=") for word in given.library]
        libraries = {desktop: Path(file) for desktop, _, file in pairs}
        made = archive.write_jvm_jar(given.out, classes, libraries, given.standalone)
        if given.maven:
            publish.publish_jvm(given.maven, made, given.version)
        return made


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        print(_run(given))
    except (MissingTool, archive.BadContents, OSError, ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
