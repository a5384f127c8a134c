// SPDX-License-Identifier: BSD-3-Clause
// What a program says about its methods and their values.
import CExecuTorch
import Foundation

public final class TensorMetadata {
  public let name: String
  /// Upper bounds where sizes vary.
  public let shape: [Int]
  public let dimensionOrder: [Int]
  public let dataType: DataType
  public let isMemoryPlanned: Bool

  init(_ info: ExecuTorchValueInfo) {
    name = text(info.name)
    shape = UnsafeBufferPointer(start: info.sizes, count: info.rank).map { Int($0) }
    dimensionOrder = UnsafeBufferPointer(start: info.dim_order, count: info.rank).map { Int($0) }
    dataType = DataType(rawValue: Int8(info.dtype)) ?? .undefined
    isMemoryPlanned = info.is_planned != 0
  }
}

public final class MethodMetadata {
  public let name: String
  public let inputValueTags: [ValueTag]
  public let outputValueTags: [ValueTag]
  /// Of inputs that are tensors, by their index.
  public let inputTensorMetadata: [Int: TensorMetadata]
  public let outputTensorMetadata: [Int: TensorMetadata]
  public let attributeTensorMetadata: [TensorMetadata]
  public let memoryPlannedBufferSizes: [Int]
  public let backendNames: [String]

  init(_ module: Module, _ method: String) throws {
    let info = try module.methodInfo(method)
    let inputs = try (0..<info.num_inputs).map { try module.valueInfo(method, EXECUTORCH_INPUT, $0) }
    let outputs = try (0..<info.num_outputs).map { try module.valueInfo(method, EXECUTORCH_OUTPUT, $0) }
    let attributes = try (0..<info.num_attributes).map { try module.valueInfo(method, EXECUTORCH_ATTRIBUTE, $0) }
    let number = try module.loaded().number
    name = method
    inputValueTags = inputs.map(tag)
    outputValueTags = outputs.map(tag)
    inputTensorMetadata = tensors(inputs)
    outputTensorMetadata = tensors(outputs)
    attributeTensorMetadata = attributes.map(TensorMetadata.init)
    memoryPlannedBufferSizes = try (0..<info.num_planned_buffers).map { index in
      var size = 0
      try check(api.planned_buffer_size(number, method, index, &size))
      return size
    }
    backendNames = try (0..<info.num_backends).map { index in
      var found: UnsafePointer<CChar>?
      try check(api.method_backend(number, method, index, &found))
      return text(found)
    }
  }
}

private func tag(_ info: ExecuTorchValueInfo) -> ValueTag { ValueTag(rawValue: UInt32(info.kind)) ?? .none }

private func tensors(_ infos: [ExecuTorchValueInfo]) -> [Int: TensorMetadata] {
  var found: [Int: TensorMetadata] = [:]
  for (index, info) in infos.enumerated() where tag(info) == .tensor { found[index] = TensorMetadata(info) }
  return found
}

extension Module {
  /// Loads the program.
  public func methodNames() throws -> Set<String> {
    let number = try loaded().number
    var names: Set<String> = []
    while true {
      var found: UnsafePointer<CChar>?
      do { try check(api.method_name(number, names.count, &found)) } catch ErrorCode.notFound { return names }
      names.insert(text(found))
    }
  }

  public func methodMetadata(_ method: String) throws -> MethodMetadata { try MethodMetadata(self, method) }

  func methodInfo(_ method: String) throws -> ExecuTorchMethodInfo {
    var info = ExecuTorchMethodInfo()
    withSize(&info, \.struct_size)
    try check(api.method_info(loaded().number, method, &info))
    return info
  }

  func valueInfo(_ method: String, _ port: ExecuTorchPort, _ index: Int) throws -> ExecuTorchValueInfo {
    var info = ExecuTorchValueInfo()
    withSize(&info, \.struct_size)
    try check(api.value_info(loaded().number, method, Int32(port.rawValue), index, &info))
    return info
  }
}
