// SPDX-License-Identifier: BSD-3-Clause
// A tensor whose type of elements is known at run time.
import CExecuTorch
import Foundation

/// Memory, a shape and a type of elements. Initializers stop the program when shape, strides and size of the data do not
/// agree, as Swift's arrays do at a wrong index.
public final class AnyTensor: Hashable, CustomStringConvertible {
  let handle: Handle
  public let shapeDynamism: ShapeDynamism

  init(_ handle: Handle, _ shapeDynamism: ShapeDynamism) {
    self.handle = handle
    self.shapeDynamism = shapeDynamism
  }

  /// Over `data`, whose owner the tensor keeps; without data, zeroed memory of its own.
  convenience init(
    _ shape: [Int], _ strides: [Int], _ dimensionOrder: [Int], _ dataType: DataType, _ dynamism: ShapeDynamism,
    data: UnsafeMutableRawPointer? = nil, owner: AnyObject? = nil
  ) {
    let order = checkedOrder(shape, strides, dimensionOrder)
    var spec = ExecuTorchTensorSpec()
    withSize(&spec, \.struct_size)
    spec.dtype = Int32(dataType.rawValue)
    spec.dynamism = dynamism == .static ? 0 : 1
    spec.rank = shape.count
    if let data {
      spec.data = data
      spec.data_size = elementCount(ofShape: shape) * size(ofDataType: dataType)
    }
    if let owner {
      spec.context = Unmanaged.passRetained(owner).toOpaque()
      spec.release = { context, _ in Unmanaged<AnyObject>.fromOpaque(context!).release() }
    }
    var number: ExecuTorchTensor = 0
    let sizes = shape.map { Int32($0) }
    sizes.withUnsafeBufferPointer { sizes in
      order.map { UInt8($0) }.withUnsafeBufferPointer { order in
        spec.sizes = sizes.baseAddress
        spec.dim_order = shape.isEmpty ? nil : order.baseAddress
        require(api.tensor_new(&spec, &number))
      }
    }
    self.init(Handle(number), dynamism)
  }

  var info: ExecuTorchTensorInfo {
    var info = ExecuTorchTensorInfo()
    withSize(&info, \.struct_size)
    require(api.tensor_info(handle.number, &info))
    return info
  }

  public var dataType: DataType { DataType(rawValue: Int8(info.dtype)) ?? .undefined }
  public var count: Int { info.num_elements }
  public var shape: [Int] { numbers(info.sizes, info.rank) }
  public var strides: [Int] { numbers(info.strides, info.rank) }
  public var dimensionOrder: [Int] { numbers(info.dim_order, info.rank) }

  private func numbers<Number: BinaryInteger>(_ first: UnsafePointer<Number>?, _ count: Int) -> [Int] {
    UnsafeBufferPointer(start: first, count: first == nil ? 0 : count).map { Int($0) }
  }

  // ---- Views and copies

  /// A view of the same memory. What is empty is as in `tensor`.
  public convenience init(
    _ tensor: AnyTensor, shape: [Int] = [], dimensionOrder: [Int] = [], strides: [Int] = []
  ) {
    let sizes = shape.isEmpty ? tensor.shape : shape
    let inherits = dimensionOrder.isEmpty && strides.isEmpty && sizes == tensor.shape
    self.init(
      sizes, strides, inherits ? tensor.dimensionOrder : dimensionOrder, tensor.dataType, tensor.shapeDynamism,
      data: tensor.info.data, owner: tensor)
  }

  public func copy() -> AnyTensor {
    var number: ExecuTorchTensor = 0
    require(api.tensor_copy(handle.number, &number))
    return AnyTensor(Handle(number), shapeDynamism)
  }

  /// With each element in another type.
  public func copy(to dataType: DataType) -> AnyTensor {
    let result = AnyTensor(shape, [], dimensionOrder, dataType, shapeDynamism)
    convertElements(of: self, to: result)
    return result
  }

  // ---- Memory

  /// Calls `handler` with the address of the elements, their number and their type.
  public func bytes<Result>(
    _ handler: (UnsafeRawPointer, Int, DataType) throws -> Result
  ) rethrows -> Result {
    try mutableBytes { try handler(UnsafeRawPointer($0), $1, $2) }
  }

  public func mutableBytes<Result>(
    _ handler: (UnsafeMutableRawPointer, Int, DataType) throws -> Result
  ) rethrows -> Result {
    try withExtendedLifetime(self) {
      let found = info
      // A tensor without elements may have no memory; its address is never read.
      return try handler(
        found.data ?? UnsafeMutableRawPointer(bitPattern: 64)!, found.num_elements, dataType)
    }
  }

  /// Other sizes with the same memory, for a tensor that is not static.
  public func resize(to shape: [Int]) throws {
    let sizes = shape.map { Int32(clamping: $0) }
    try check(api.tensor_resize(handle.number, sizes.count, sizes))
  }

  /// `bytesNoCopy` stays where it is as long as the tensor.
  public convenience init(
    bytesNoCopy bytes: UnsafeMutableRawPointer, shape: [Int], strides: [Int] = [], dimensionOrder: [Int] = [],
    dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    self.init(shape, strides, dimensionOrder, dataType, shapeDynamism, data: bytes)
  }

  public convenience init(
    bytes: UnsafeRawPointer, shape: [Int], strides: [Int] = [], dimensionOrder: [Int] = [],
    dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    self.init(shape, strides, dimensionOrder, dataType, shapeDynamism)
    let found = info
    if found.num_bytes > 0 { found.data.copyMemory(from: bytes, byteCount: found.num_bytes) }
  }

  /// Keeps the data and does not copy it. (On Linux, small Data lies in the value itself and is copied.)
  public convenience init(
    data: Data, shape: [Int], strides: [Int] = [], dimensionOrder: [Int] = [],
    dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    precondition(
      data.count >= elementCount(ofShape: shape) * size(ofDataType: dataType), "Data length is too small")
    let kept = data as NSData
    self.init(
      shape, strides, dimensionOrder, dataType, shapeDynamism,
      data: UnsafeMutableRawPointer(mutating: kept.bytes), owner: kept)
  }

  public convenience init(_ scalar: UInt16) { self.init(scalar: scalar) }
  public convenience init(_ scalar: UInt32) { self.init(scalar: scalar) }
  public convenience init(_ scalar: UInt64) { self.init(scalar: scalar) }
  public convenience init(_ scalar: Int) { self.init(scalar: scalar) }
  public convenience init(_ scalar: UInt) { self.init(scalar: scalar) }

  convenience init<T: Scalar>(scalar: T) {
    self.init([], [], [], T.dataType, .dynamicBound)
    fill(with: scalar)
  }

  // ---- Comparison and text

  /// Of type, shape, strides, dimension order and bytes; not of shape dynamism.
  public static func == (left: AnyTensor, right: AnyTensor) -> Bool {
    let (a, b) = (left.info, right.info)
    return a.dtype == b.dtype && left.shape == right.shape && left.strides == right.strides
      && left.dimensionOrder == right.dimensionOrder
      && (a.num_bytes == 0 || memcmp(a.data, b.data, a.num_bytes) == 0)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(dataType)
    hasher.combine(shape)
    bytes { pointer, count, dataType in
      hasher.combine(bytes: UnsafeRawBufferPointer(start: pointer, count: count * size(ofDataType: dataType)))
    }
  }

  public var description: String {
    """
    Tensor {
      dataType: \(dataType.name),
      shape: \(listed(shape)),
      strides: \(listed(strides)),
      dimensionOrder: \(listed(dimensionOrder)),
      shapeDynamism: \(shapeDynamism),
      count: \(count),
      scalars: [\(firstScalars(100))]
    }
    """
  }

  private func listed(_ numbers: [Int]) -> String { "[\(numbers.map(String.init).joined(separator: ","))]" }
}

/// The dimensions from outermost to innermost, by what is given; strides must be those of that order.
private func checkedOrder(_ shape: [Int], _ strides: [Int], _ dimensionOrder: [Int]) -> [Int] {
  precondition(strides.isEmpty || strides.count == shape.count, "\(strides.count) strides for \(shape.count) dimensions")
  var order = dimensionOrder.isEmpty ? Array(shape.indices) : dimensionOrder
  precondition(order.sorted() == Array(shape.indices), "dimensionOrder \(order) is no order of \(shape.count) dimensions")
  if strides.isEmpty { return order }
  if dimensionOrder.isEmpty {
    order = order.sorted { (-strides[$0], $0) < (-strides[$1], $1) }
  }
  var stride = 1
  for dimension in order.reversed() {
    precondition(
      shape[dimension] == 1 || strides[dimension] == stride,
      "strides \(strides) leave gaps or overlap in shape \(shape)")
    stride *= max(shape[dimension], 1)
  }
  return order
}
