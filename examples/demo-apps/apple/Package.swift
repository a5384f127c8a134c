// swift-tools-version:5.9
// SPDX-License-Identifier: BSD-3-Clause
// What the apps do with models, tests of it, and, on a Mac, the apps.
import PackageDescription

// With EXECUTORCH_FROM_SOURCE=1 over the Swift sources and libexecutorch_c (see extension/apple), else over the frameworks.
let fromSource = Context.environment["EXECUTORCH_FROM_SOURCE"] == "1"

func products(_ source: [String], _ frameworks: [String]) -> [Target.Dependency] {
  (fromSource ? source : frameworks).map { .product(name: $0, package: "executorch") }
}

let package = Package(
  name: "DemoApps",
  platforms: [.iOS(.v17), .macOS(.v14)],
  products: [
    .library(name: "Chat", targets: ["Chat"]),
    .library(name: "Classification", targets: ["Classification"]),
  ],
  dependencies: [.package(name: "executorch", path: "../../..")],
  targets: [
    .target(
      name: "Chat",
      dependencies: products(
        ["ExecuTorch", "ExecuTorchLLM"],
        ["executorch", "executorch_llm", "backend_xnnpack", "kernels_llm", "kernels_optimized", "kernels_quantized"]),
      path: "etLLM/Chat"),
    .testTarget(name: "ChatTests", dependencies: ["Chat"], path: "etLLM/Tests"),
    .target(
      name: "Classification",
      dependencies: products(
        ["ExecuTorch"], ["executorch", "backend_coreml", "backend_xnnpack", "kernels_optimized"]),
      path: "ExecuTorchDemo/Classification"),
    .testTarget(name: "ClassificationTests", dependencies: ["Classification"], path: "ExecuTorchDemo/Tests"),
  ]
)

#if os(macOS)
package.targets += [
  .executableTarget(name: "etLLM", dependencies: ["Chat"], path: "etLLM/App"),
  .executableTarget(name: "ExecuTorchDemo", dependencies: ["Classification"], path: "ExecuTorchDemo/App"),
]
#endif
