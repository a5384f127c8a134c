# SPDX-License-Identifier: BSD-3-Clause
"""Package.swift, its template for releases, the sources of the targets that link the frameworks, and settings of
Xcode for apps without the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from executorch.tools.apple.frameworks import AVAILABLE, FRAMEWORKS, PLATFORMS, Framework, named

_HEAD = """// swift-tools-version:5.9
// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package` from tools/apple/frameworks.py.
"""

# SwiftPM takes no package of which one framework is missing.
_BUILT = """
// Frameworks that were not built are left out, where others were.
let built = Set(
  package.targets.map(\\.name).filter {
    FileManager.default.fileExists(atPath: "\\(Context.packageDirectory)/cmake-out/\\($0).xcframework")
  })
if !built.isEmpty {
  package.products.removeAll { !built.contains($0.name) }
  package.targets.removeAll { !built.contains($0.name.replacingOccurrences(of: "_with_dependencies", with: "")) }
}
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


def variants(rows: Iterable[Framework] = FRAMEWORKS) -> Iterator[tuple[Framework, str]]:
    """Each framework and the end of its name: of Release, then of Debug."""
    for framework in rows:
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


def _package(rows: Iterable[Framework], imports: str, binary: Callable[[str], str]) -> str:
    products, targets = "", ""
    for framework, suffix in variants(rows):
        name = framework.name + suffix
        targets += f'    .binaryTarget(name: "{name}", {binary(name)}),\n'
        if framework.is_product:
            products += f'    .library(name: "{name}", targets: ["{name}_with_dependencies"]),\n'
            targets += _wrapper(framework, suffix)
    return (
        f'{_HEAD}{imports}\nlet package = Package(\n  name: "executorch",\n  platforms: [.iOS(.v17), .macOS(.v12)],\n'
        f"  products: [\n{products}  ],\n  targets: [\n{targets}  ]\n)\n"
    )


def package() -> str:
    """Of a checkout, whose frameworks scripts/build_apple_frameworks.sh makes."""
    imports = "import Foundation\nimport PackageDescription\n"
    made = _package(FRAMEWORKS, imports, lambda name: f'path: "cmake-out/{name}.xcframework"')
    return made + _BUILT + _FROM_SOURCE


def template(url: str = "https://ossci-ios.s3.amazonaws.com/executorch") -> str:
    """Of a release: __VERSION__ and the sums of archives are still to be filled in."""
    return _package(
        AVAILABLE,
        "import PackageDescription\n",
        lambda name: f'url: "{url}/{name}-__VERSION__.zip", checksum: "__SHA256_{name}__"',
    )


def filled(version: str, sums: dict[str, str]) -> str:
    """The template with a version and the SHA-256 of each archive by its framework's name."""
    text = template().replace("__VERSION__", version)
    for name, checksum in sums.items():
        text = text.replace(f"__SHA256_{name}__", checksum)
    names = [row.name + suffix for row, suffix in variants(AVAILABLE)]
    left = [name for name in names if f"__SHA256_{name}__" in text]
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


def linking() -> str:
    """Settings of Xcode for an app that links the libraries by itself: each whole, as nothing asks for its symbol."""
    pairs = {"simulator": "iphonesimulator", "ios": "iphoneos", "macos": "macos"}
    platforms = [f"ET_PLATFORM[sdk={pairs[name]}*] = {name}" for name, _ in PLATFORMS.values()]
    names = [f"{row.name}{'_debug' if row.name == 'executorch' else ''}" for row in AVAILABLE]
    system = sorted({name for row in AVAILABLE for name in row.system_frameworks})
    libraries = sorted({name for row in AVAILABLE for name in row.system_libraries})
    flags = [f"-force_load $(BUILT_PRODUCTS_DIR)/lib{name}_$(ET_PLATFORM).a" for name in names]
    flags += [f"-framework {name}" for name in system] + [f"-l{name}" for name in libraries]
    lines = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        "// Made by `python -m executorch.tools.apple package`. For an app that links frameworks without the Swift",
        "// package, which needs no flags. Lines of what it does not link go. The runtime of Debug has logs.",
        *platforms, "", " \\\n  ".join(["OTHER_LDFLAGS = $(inherited)", *flags]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """All that stands in the tree, by its path."""
    made = {
        "Package.swift": package(),
        "scripts/Package.swift.template": template(),
        "extension/apple/ExecuTorch.xcconfig": linking(),
    }
    for framework, suffix in variants():
        if framework.is_product:
            path = f".Package.swift/{framework.name}{suffix}/dummy.swift"
            made[path] = link_source(framework, suffix)
    return made
