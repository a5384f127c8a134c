# SPDX-License-Identifier: BSD-3-Clause
"""Package.swift, its template for releases, and the sources of the targets that link the frameworks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from executorch.tools.apple.frameworks import FRAMEWORKS, Framework, named

_HEAD = """// swift-tools-version:5.9
// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package` from tools/apple/frameworks.py.
import PackageDescription
"""

# The Swift layer as sources, for tests and for systems that frameworks are not for.
_FROM_SOURCE = """
// With EXECUTORCH_FROM_SOURCE=1 in the environment: the Swift sources, over libexecutorch_c where the linker finds it.
if Context.environment["EXECUTORCH_FROM_SOURCE"] == "1" {
  package.products = [
    .library(name: "ExecuTorch", targets: ["ExecuTorch"]),
    .library(name: "ExecuTorchLLM", targets: ["ExecuTorchLLM"]),
  ]
  package.targets = [
    .systemLibrary(name: "CExecuTorch", path: "extension/apple/ExecuTorch/CExecuTorch"),
    .target(
      name: "ExecuTorch", dependencies: ["CExecuTorch"], path: "extension/apple/ExecuTorch/Swift",
      linkerSettings: [.linkedLibrary("executorch_c")]),
    .target(
      name: "ExecuTorchLLM", dependencies: ["ExecuTorch", "CExecuTorch"],
      path: "extension/llm/apple/ExecuTorchLLM/Swift"),
    .testTarget(
      name: "ExecuTorchTests", dependencies: ["ExecuTorch"], path: "extension/apple/ExecuTorch/__tests__"),
    .testTarget(
      name: "ExecuTorchLLMTests", dependencies: ["ExecuTorch", "ExecuTorchLLM"],
      path: "extension/llm/apple/ExecuTorchLLM/__tests__"),
  ]
}
"""


def variants() -> Iterator[tuple[Framework, str]]:
    """Each framework and the end of its name: of Release, then of Debug."""
    for framework in FRAMEWORKS:
        yield framework, ""
        yield framework, "_debug"


def _list(words: list[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _wrapper(framework: Framework, suffix: str) -> str:
    needed = [framework.name + suffix]
    needed += [
        f"{name}{suffix}" + ("_with_dependencies" if named(name).is_product else "")
        for name in framework.needs
    ]
    settings = [f'.linkedFramework("{name}")' for name in framework.system_frameworks]
    settings += [f'.linkedLibrary("{name}")' for name in framework.system_libraries]
    name = framework.name + suffix
    return (
        f'    .target(\n      name: "{name}_with_dependencies", dependencies: [{_list(needed)}],\n'
        f'      path: ".Package.swift/{name}", linkerSettings: [{", ".join(settings)}]),\n'
    )


def _package(binary: Callable[[str], str]) -> str:
    products, targets = "", ""
    for framework, suffix in variants():
        name = framework.name + suffix
        targets += f'    .binaryTarget(name: "{name}", {binary(name)}),\n'
        if framework.is_product:
            products += f'    .library(name: "{name}", targets: ["{name}_with_dependencies"]),\n'
            targets += _wrapper(framework, suffix)
    return (
        f'{_HEAD}\nlet package = Package(\n  name: "executorch",\n  platforms: [.iOS(.v17), .macOS(.v12)],\n'
        f"  products: [\n{products}  ],\n  targets: [\n{targets}  ]\n)\n"
    )


def package() -> str:
    """Of a checkout, whose frameworks scripts/build_apple_frameworks.sh makes."""
    return _package(lambda name: f'path: "cmake-out/{name}.xcframework"') + _FROM_SOURCE


def template(url: str = "https://ossci-ios.s3.amazonaws.com/executorch") -> str:
    """Of a release: __VERSION__ and the sums of archives are still to be filled in."""
    return _package(
        lambda name: f'url: "{url}/{name}-__VERSION__.zip", checksum: "__SHA256_{name}__"'
    )


def filled(version: str, sums: dict[str, str]) -> str:
    """The template with a version and the SHA-256 of each archive by its framework's name."""
    text = template().replace("__VERSION__", version)
    for name, checksum in sums.items():
        text = text.replace(f"__SHA256_{name}__", checksum)
    left = [name for name in (f.name + s for f, s in variants()) if f"__SHA256_{name}__" in text]
    if left:
        raise ValueError(f"expected a sum for each framework; none for {', '.join(left)}")
    return text


def link_source(framework: Framework, suffix: str = "") -> str:
    """The source of a target: it refers to the symbol, so that the linker takes what registers kernels or a backend."""
    name = framework.name + suffix
    return f"""// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes {name} for this symbol; nothing calls it.
@_silgen_name("{framework.symbol}") private func symbol()
@_cdecl("executorch_links_{name}") public func executorch_links_{name}() {{ symbol() }}
"""


def files() -> dict[str, str]:
    """All that stands in the tree, by its path."""
    made = {"Package.swift": package(), "scripts/Package.swift.template": template()}
    for framework, suffix in variants():
        if framework.is_product:
            path = f".Package.swift/{framework.name}{suffix}/dummy.swift"
            made[path] = link_source(framework, suffix)
    return made
