// SPDX-License-Identifier: BSD-3-Clause
// Modules, run through the runtime. EXECUTORCH_PROGRAMS is a folder with add.pte, two float [1] inputs and their sum, and
// subtract.pte; without it add.pte is that of extension/module.
import XCTest

@testable import ExecuTorch

func program(_ name: String) throws -> String {
  let given = ProcessInfo.processInfo.environment["EXECUTORCH_PROGRAMS"].map { URL(fileURLWithPath: $0) }
  let folder = given ?? URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../module/test/resources")
  let path = folder.standardized.appendingPathComponent(name).path
  guard FileManager.default.fileExists(atPath: path) else {
    throw XCTSkip("set EXECUTORCH_PROGRAMS to the folder of \(name)")
  }
  return path
}

final class ModuleTest: XCTestCase {
  private func add() throws -> Module { Module(filePath: try program("add.pte")) }

  func testLoadsWhenNeeded() throws {
    let module = try add()
    XCTAssertFalse(module.isLoaded())
    XCTAssertFalse(module.isLoaded("forward"))
    try module.load()
    XCTAssertTrue(module.isLoaded())
    XCTAssertFalse(module.isLoaded("forward"))
    try module.load("forward")
    XCTAssertTrue(module.isLoaded("forward"))
    XCTAssertTrue(module.unload("forward"))
    XCTAssertFalse(module.isLoaded("forward"))
    XCTAssertFalse(module.unload("forward"))
    try module.load(.internalConsistency)
  }

  func testEveryLoadModeReads() throws {
    let path = try program("add.pte")
    for mode in [ModuleLoadMode.file, .mmap, .mmapUseMlockIgnoreErrors] {
      XCTAssertEqual(try Module(filePath: path, loadMode: mode).methodNames(), ["forward"])
    }
  }

  func testErrorsHaveTheRuntimesSentence() throws {
    let module = Module(filePath: "/nowhere/model.pte")
    XCTAssertThrowsError(try module.load()) { error in
      XCTAssertTrue(ErrorCode.accessFailed ~= error)
      XCTAssertTrue(error.localizedDescription.hasPrefix("Access failed: "), error.localizedDescription)
      XCTAssertTrue("\(error)".contains("/nowhere/model.pte"), "\(error)")
      XCTAssertEqual((error as NSError).domain, ErrorDomain)
      XCTAssertEqual((error as NSError).code, 34)
    }
    XCTAssertThrowsError(try add().execute("backward", Tensor<Float>(1))) { error in
      XCTAssertTrue("\(error)".contains("backward"), "\(error)")
    }
    do {
      try add().forward(Tensor<Float>([1, 2, 3]), Tensor<Float>([1]))
      XCTFail("sizes do not fit")
    } catch ErrorCode.notSupported {
    }
  }

  func testForwardInEachSpelling() throws {
    let module = try add()
    let (one, two) = (Tensor<Float>([1]), Tensor<Float>([2]))
    XCTAssertEqual(try module.forward(one, two), [Value(Tensor<Float>([3]))])
    XCTAssertEqual(try module.forward([one, two]), [Value(Tensor<Float>([3]))])
    XCTAssertEqual(try module.execute("forward", one, two).count, 1)
    XCTAssertEqual(try module.execute("forward", [one, two]).count, 1)
    let typed: Tensor<Float> = try module.forward(one, two)
    XCTAssertEqual(typed.scalars(), [3])
    let list: [Tensor<Float>] = try module.forward([one, two])
    XCTAssertEqual(list.map { $0.scalars() }, [[3]])
    let cast = try Tensor<Float>(module.forward(two, two))
    XCTAssertEqual(cast.scalars(), [4])
  }

  func testOutputsStayWhenTheMethodRunsAgain() throws {
    let module = try add()
    let first: Tensor<Float> = try module.forward(Tensor<Float>([1]), Tensor<Float>([1]))
    let second: Tensor<Float> = try module.forward(Tensor<Float>([5]), Tensor<Float>([5]))
    XCTAssertEqual(first.scalars() + second.scalars(), [2, 10])
    XCTAssertEqual(first.shapeDynamism == .static, (try? first.resize(to: [1, 1])) == nil)
    module.unload("forward")
    XCTAssertEqual(first.scalars(), [2])
  }

  func testTypesOfOutputsAreChecked() throws {
    let module = try add()
    let (one, two) = (Tensor<Float>([1]), Tensor<Float>([2]))
    XCTAssertThrowsError(try module.forward(one, two) as Tensor<Int32>) { error in
      XCTAssertTrue(ErrorCode.invalidType ~= error)
      XCTAssertTrue("\(error)".contains("Tensor is not of type Int32"), "\(error)")
    }
    XCTAssertThrowsError(try module.forward(one, two) as String) { error in
      XCTAssertEqual("\(error)", "Invalid type: Value is not a string")
    }
  }

  func testInputsThatStay() throws {
    let module = try add()
    try module.setInput(Tensor<Float>([2]), at: 1)
    try module.setInput(Tensor<Float>([1]))
    XCTAssertEqual(try module.forward() as Tensor<Float>, Tensor<Float>([3]))
    try module.setInputs(Tensor<Float>([4]), Tensor<Float>([5]))
    XCTAssertEqual(try module.forward() as Tensor<Float>, Tensor<Float>([9]))
    try module.setInputs([Tensor<Float>([4]), Tensor<Float>([6])], for: "forward")
    XCTAssertEqual(try module.forward() as Tensor<Float>, Tensor<Float>([10]))
    XCTAssertThrowsError(try module.setInput(Tensor<Float>([1]), at: 2))
    XCTAssertThrowsError(try module.setOutput("text"))
  }

  func testMetadata() throws {
    let metadata = try add().methodMetadata("forward")
    XCTAssertEqual(metadata.name, "forward")
    XCTAssertEqual(metadata.inputValueTags, [.tensor, .tensor])
    XCTAssertEqual(metadata.outputValueTags, [.tensor])
    XCTAssertEqual(metadata.inputTensorMetadata[1]?.shape, [1])
    XCTAssertEqual(metadata.inputTensorMetadata[0]?.dataType, .float)
    XCTAssertEqual(metadata.inputTensorMetadata[0]?.dimensionOrder, [0])
    XCTAssertEqual(metadata.outputTensorMetadata.count, 1)
    XCTAssertEqual(metadata.attributeTensorMetadata.count, 0)
    XCTAssertEqual(metadata.backendNames, [])
    XCTAssertGreaterThan(metadata.memoryPlannedBufferSizes.count, 0)
    XCTAssertThrowsError(try add().methodMetadata("backward"))
  }

  func testNames() throws {
    // subtract.pte: its inputs are called left and right.
    let module = Module(filePath: try program("subtract.pte"))
    XCTAssertEqual(try module.methodMetadata("forward").inputTensorMetadata[1]?.name, "right")
    let outputs = try module.forward(named: ["right": Tensor<Float>([1]), "left": Tensor<Float>([3])])
    XCTAssertEqual(outputs.values.map(\.anyTensor), [Tensor<Float>([2]).anyTensor])
    XCTAssertThrowsError(try module.forward(named: ["left": Tensor<Float>([1]), "middle": Tensor<Float>([1])])) {
      XCTAssertTrue("\($0)".contains("middle"), "\($0)")
    }
  }

  func testAwait() async throws {
    let module = try add()
    let sum: Tensor<Float> = try await module.forward(Tensor<Float>([1]), Tensor<Float>([2]))
    XCTAssertEqual(sum.scalars(), [3])
    let many = try await withThrowingTaskGroup(of: Float.self) { group in
      for index in 0..<20 {
        group.addTask {
          let outputs = try await module.forward([Tensor([Float(index)]), Tensor([Float(1)])])
          return try Tensor<Float>(outputs).scalars()[0]
        }
      }
      return try await group.reduce(0, +)
    }
    XCTAssertEqual(many, 210)  // 1 + 2 + ... + 20
  }

  func testCancelledBeforeItsTurn() async throws {
    let module = try add()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await module.forward([Tensor<Float>([1]), Tensor<Float>([2])])
    }
    task.cancel()
    do {
      _ = try await task.value
      XCTFail("expected CancellationError")
    } catch is CancellationError {
    }
  }

  func testBackendOptions() throws {
    let map = try BackendOptionsMap(options: ["CoreMLBackend": [BackendOption("compute_unit", "cpu_only")]])
    XCTAssertEqual("\(map)", #"<ExecuTorchBackendOptionsMap CoreMLBackend=[compute_unit="cpu_only" (string)]>"#)
    XCTAssertEqual("\(BackendOption("k", true))", "<ExecuTorchBackendOption k=true (bool)>")
    XCTAssertEqual("\(BackendOption("k", 3))", "<ExecuTorchBackendOption k=3 (int)>")
    XCTAssertEqual("\(try BackendOptionsMap(options: [:]))", "<ExecuTorchBackendOptionsMap (empty)>")
    let refused: [([String: [BackendOption]], String)] = [
      (["": []], "backend id is empty"),
      (["b": [BackendOption("", 1)]], "option key for backend 'b' is empty"),
      (["b": [BackendOption("k", 1), BackendOption("k", 2)]], "given twice"),
      (["b": [BackendOption("k", 1 << 40)]], "does not fit into 32 bits"),
      (["b": [BackendOption(String(repeating: "k", count: 64), 1)]], "is 64 bytes; limit is 63"),
      (["b": [BackendOption("k", String(repeating: "v", count: 256))]], "is 256 bytes; limit is 255"),
    ]
    for (options, reason) in refused {
      XCTAssertThrowsError(try BackendOptionsMap(options: options)) { error in
        XCTAssertTrue("\(error)".contains(reason), "\(error)")
      }
    }
    let module = try add()
    try module.load(options: BackendOptionsMap(options: [:]))
    XCTAssertThrowsError(try module.load(options: map)) { XCTAssertTrue(ErrorCode.invalidState ~= $0) }
  }

  func testAThousandLoads() throws {
    func once() throws { _ = try add().forward(Tensor<Float>([1]), Tensor<Float>([2])) }
    func resident() throws -> Int {
      let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      return Int(text.split(separator: " ")[1])! * 4
    }
    #if os(Linux)
    for _ in 0..<50 { try once() }
    let before = try resident()
    for _ in 0..<1000 { try once() }
    let more = try resident() - before
    print("\(more) KiB more after 1,000 loads")
    XCTAssertLessThan(more, 1000)  // a leak of a program's structures would be more than 1 KiB a load
    #endif
  }
}
