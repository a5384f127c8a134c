// swift-tools-version:5.9
// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package` from tools/apple/frameworks.py.
import Foundation
import PackageDescription

let package = Package(
  name: "executorch",
  platforms: [.iOS(.v17), .macOS(.v12)],
  products: [
    .library(name: "executorch", targets: ["executorch_with_dependencies"]),
    .library(name: "executorch_debug", targets: ["executorch_debug_with_dependencies"]),
    .library(name: "executorch_llm", targets: ["executorch_llm_with_dependencies"]),
    .library(name: "executorch_llm_debug", targets: ["executorch_llm_debug_with_dependencies"]),
    .library(name: "backend_coreml", targets: ["backend_coreml_with_dependencies"]),
    .library(name: "backend_coreml_debug", targets: ["backend_coreml_debug_with_dependencies"]),
    .library(name: "backend_mps", targets: ["backend_mps_with_dependencies"]),
    .library(name: "backend_mps_debug", targets: ["backend_mps_debug_with_dependencies"]),
    .library(name: "backend_xnnpack", targets: ["backend_xnnpack_with_dependencies"]),
    .library(name: "backend_xnnpack_debug", targets: ["backend_xnnpack_debug_with_dependencies"]),
    .library(name: "kernels_llm", targets: ["kernels_llm_with_dependencies"]),
    .library(name: "kernels_llm_debug", targets: ["kernels_llm_debug_with_dependencies"]),
    .library(name: "kernels_optimized", targets: ["kernels_optimized_with_dependencies"]),
    .library(name: "kernels_optimized_debug", targets: ["kernels_optimized_debug_with_dependencies"]),
    .library(name: "kernels_quantized", targets: ["kernels_quantized_with_dependencies"]),
    .library(name: "kernels_quantized_debug", targets: ["kernels_quantized_debug_with_dependencies"]),
    .library(name: "kernels_torchao", targets: ["kernels_torchao_with_dependencies"]),
    .library(name: "kernels_torchao_debug", targets: ["kernels_torchao_debug_with_dependencies"]),
  ],
  targets: [
    .binaryTarget(name: "executorch", path: "cmake-out/executorch.xcframework"),
    .target(
      name: "executorch_with_dependencies", dependencies: ["executorch", "threadpool"],
      path: ".Package.swift/executorch", linkerSettings: [.linkedFramework("Foundation"), .linkedLibrary("c++")]),
    .binaryTarget(name: "executorch_debug", path: "cmake-out/executorch_debug.xcframework"),
    .target(
      name: "executorch_debug_with_dependencies", dependencies: ["executorch_debug", "threadpool_debug"],
      path: ".Package.swift/executorch_debug", linkerSettings: [.linkedFramework("Foundation"), .linkedLibrary("c++")]),
    .binaryTarget(name: "executorch_llm", path: "cmake-out/executorch_llm.xcframework"),
    .target(
      name: "executorch_llm_with_dependencies", dependencies: ["executorch_llm", "executorch_with_dependencies"],
      path: ".Package.swift/executorch_llm", linkerSettings: []),
    .binaryTarget(name: "executorch_llm_debug", path: "cmake-out/executorch_llm_debug.xcframework"),
    .target(
      name: "executorch_llm_debug_with_dependencies", dependencies: ["executorch_llm_debug", "executorch_debug_with_dependencies"],
      path: ".Package.swift/executorch_llm_debug", linkerSettings: []),
    .binaryTarget(name: "threadpool", path: "cmake-out/threadpool.xcframework"),
    .binaryTarget(name: "threadpool_debug", path: "cmake-out/threadpool_debug.xcframework"),
    .binaryTarget(name: "backend_coreml", path: "cmake-out/backend_coreml.xcframework"),
    .target(
      name: "backend_coreml_with_dependencies", dependencies: ["backend_coreml"],
      path: ".Package.swift/backend_coreml", linkerSettings: [.linkedFramework("Accelerate"), .linkedFramework("CoreML"), .linkedLibrary("sqlite3")]),
    .binaryTarget(name: "backend_coreml_debug", path: "cmake-out/backend_coreml_debug.xcframework"),
    .target(
      name: "backend_coreml_debug_with_dependencies", dependencies: ["backend_coreml_debug"],
      path: ".Package.swift/backend_coreml_debug", linkerSettings: [.linkedFramework("Accelerate"), .linkedFramework("CoreML"), .linkedLibrary("sqlite3")]),
    .binaryTarget(name: "backend_mps", path: "cmake-out/backend_mps.xcframework"),
    .target(
      name: "backend_mps_with_dependencies", dependencies: ["backend_mps"],
      path: ".Package.swift/backend_mps", linkerSettings: [.linkedFramework("Metal"), .linkedFramework("MetalPerformanceShaders"), .linkedFramework("MetalPerformanceShadersGraph")]),
    .binaryTarget(name: "backend_mps_debug", path: "cmake-out/backend_mps_debug.xcframework"),
    .target(
      name: "backend_mps_debug_with_dependencies", dependencies: ["backend_mps_debug"],
      path: ".Package.swift/backend_mps_debug", linkerSettings: [.linkedFramework("Metal"), .linkedFramework("MetalPerformanceShaders"), .linkedFramework("MetalPerformanceShadersGraph")]),
    .binaryTarget(name: "backend_xnnpack", path: "cmake-out/backend_xnnpack.xcframework"),
    .target(
      name: "backend_xnnpack_with_dependencies", dependencies: ["backend_xnnpack", "threadpool"],
      path: ".Package.swift/backend_xnnpack", linkerSettings: []),
    .binaryTarget(name: "backend_xnnpack_debug", path: "cmake-out/backend_xnnpack_debug.xcframework"),
    .target(
      name: "backend_xnnpack_debug_with_dependencies", dependencies: ["backend_xnnpack_debug", "threadpool_debug"],
      path: ".Package.swift/backend_xnnpack_debug", linkerSettings: []),
    .binaryTarget(name: "kernels_llm", path: "cmake-out/kernels_llm.xcframework"),
    .target(
      name: "kernels_llm_with_dependencies", dependencies: ["kernels_llm", "kernels_optimized_with_dependencies"],
      path: ".Package.swift/kernels_llm", linkerSettings: []),
    .binaryTarget(name: "kernels_llm_debug", path: "cmake-out/kernels_llm_debug.xcframework"),
    .target(
      name: "kernels_llm_debug_with_dependencies", dependencies: ["kernels_llm_debug", "kernels_optimized_debug_with_dependencies"],
      path: ".Package.swift/kernels_llm_debug", linkerSettings: []),
    .binaryTarget(name: "kernels_optimized", path: "cmake-out/kernels_optimized.xcframework"),
    .target(
      name: "kernels_optimized_with_dependencies", dependencies: ["kernels_optimized", "threadpool"],
      path: ".Package.swift/kernels_optimized", linkerSettings: [.linkedFramework("Accelerate")]),
    .binaryTarget(name: "kernels_optimized_debug", path: "cmake-out/kernels_optimized_debug.xcframework"),
    .target(
      name: "kernels_optimized_debug_with_dependencies", dependencies: ["kernels_optimized_debug", "threadpool_debug"],
      path: ".Package.swift/kernels_optimized_debug", linkerSettings: [.linkedFramework("Accelerate")]),
    .binaryTarget(name: "kernels_quantized", path: "cmake-out/kernels_quantized.xcframework"),
    .target(
      name: "kernels_quantized_with_dependencies", dependencies: ["kernels_quantized", "threadpool"],
      path: ".Package.swift/kernels_quantized", linkerSettings: []),
    .binaryTarget(name: "kernels_quantized_debug", path: "cmake-out/kernels_quantized_debug.xcframework"),
    .target(
      name: "kernels_quantized_debug_with_dependencies", dependencies: ["kernels_quantized_debug", "threadpool_debug"],
      path: ".Package.swift/kernels_quantized_debug", linkerSettings: []),
    .binaryTarget(name: "kernels_torchao", path: "cmake-out/kernels_torchao.xcframework"),
    .target(
      name: "kernels_torchao_with_dependencies", dependencies: ["kernels_torchao", "threadpool"],
      path: ".Package.swift/kernels_torchao", linkerSettings: []),
    .binaryTarget(name: "kernels_torchao_debug", path: "cmake-out/kernels_torchao_debug.xcframework"),
    .target(
      name: "kernels_torchao_debug_with_dependencies", dependencies: ["kernels_torchao_debug", "threadpool_debug"],
      path: ".Package.swift/kernels_torchao_debug", linkerSettings: []),
  ]
)

// Frameworks that were not built are left out, where others were.
let built = Set(
  package.targets.map(\.name).filter {
    FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/cmake-out/\($0).xcframework")
  })
if !built.isEmpty {
  package.products.removeAll { !built.contains($0.name) }
  package.targets.removeAll { !built.contains($0.name.replacingOccurrences(of: "_with_dependencies", with: "")) }
}

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
