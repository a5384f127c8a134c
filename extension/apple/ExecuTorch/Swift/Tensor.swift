// SPDX-License-Identifier: BSD-3-Clause
// A tensor whose type of elements the compiler knows.
import Foundation

extension AnyTensor {
  /// nil if the elements are of another type.
  public func asTensor<T: Scalar>() -> Tensor<T>? { dataType == T.dataType ? Tensor<T>(self) : nil }
}

/// An AnyTensor with a type: elements are read and written as `T`.
public final class Tensor<T: Scalar>: Equatable, CustomStringConvertible {
  public let anyTensor: AnyTensor

  public init(_ tensor: AnyTensor) {
    precondition(tensor.dataType == T.dataType, "Tensor is not of type \(T.self)")
    anyTensor = tensor
  }

  public var dataType: DataType { anyTensor.dataType }
  public var shape: [Int] { anyTensor.shape }
  public var strides: [Int] { anyTensor.strides }
  public var dimensionOrder: [Int] { anyTensor.dimensionOrder }
  public var shapeDynamism: ShapeDynamism { anyTensor.shapeDynamism }
  public var count: Int { anyTensor.count }
  public var description: String { anyTensor.description }
  public static func == (left: Tensor, right: Tensor) -> Bool { left.anyTensor == right.anyTensor }

  /// A view of the same memory.
  public convenience init(
    _ tensor: Tensor<T>, shape: [Int] = [], dimensionOrder: [Int] = [], strides: [Int] = []
  ) {
    self.init(AnyTensor(tensor.anyTensor, shape: shape, dimensionOrder: dimensionOrder, strides: strides))
  }

  public convenience init(
    bytesNoCopy bytes: UnsafeMutableRawPointer, shape: [Int], strides: [Int] = [], dimensionOrder: [Int] = [],
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    self.init(AnyTensor(shape, strides, dimensionOrder, T.dataType, shapeDynamism, data: bytes))
  }

  public convenience init(
    bytes: UnsafeRawPointer, shape: [Int], strides: [Int] = [], dimensionOrder: [Int] = [],
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    self.init(
      AnyTensor(
        bytes: bytes, shape: shape, strides: strides, dimensionOrder: dimensionOrder, dataType: T.dataType,
        shapeDynamism: shapeDynamism))
  }

  public convenience init(
    data: Data, shape: [Int], strides: [Int] = [], dimensionOrder: [Int] = [],
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    self.init(
      AnyTensor(
        data: data, shape: shape, strides: strides, dimensionOrder: dimensionOrder, dataType: T.dataType,
        shapeDynamism: shapeDynamism))
  }

  /// Over the memory of the array, without a copy: the array must outlive the tensor and keep its length. Where that is not
  /// certain, take the initializer that copies.
  public convenience init(
    _ scalars: inout [T], shape: [Int] = [], strides: [Int] = [], dimensionOrder: [Int] = [],
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    let sizes = checkedShape(shape, of: scalars.count)
    self.init(
      AnyTensor(
        sizes, strides, dimensionOrder, T.dataType, shapeDynamism,
        data: scalars.withUnsafeMutableBytes { $0.baseAddress }))
  }

  public convenience init(
    _ scalars: [T], shape: [Int] = [], strides: [Int] = [], dimensionOrder: [Int] = [],
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) {
    let sizes = checkedShape(shape, of: scalars.count)
    self.init(AnyTensor(sizes, strides, dimensionOrder, T.dataType, shapeDynamism))
    withUnsafeMutableBytes { _ = $0.update(from: scalars) }
  }

  /// Of rank 0.
  public convenience init(_ scalar: T) { self.init(AnyTensor(scalar: scalar)) }

  public func copy() -> Tensor<T> { Tensor(anyTensor.copy()) }
  public func copy<U: Scalar>(to type: U.Type) -> Tensor<U> { Tensor<U>(anyTensor.copy(to: U.dataType)) }
  public func resize(to shape: [Int]) throws { try anyTensor.resize(to: shape) }
  public func scalars() -> [T] { withUnsafeBytes { Array($0) } }

  public func withUnsafeBytes<Result>(
    _ body: (UnsafeBufferPointer<T>) throws -> Result
  ) rethrows -> Result {
    try anyTensor.bytes { pointer, count, _ in
      try body(UnsafeBufferPointer(start: pointer.assumingMemoryBound(to: T.self), count: count))
    }
  }

  public func withUnsafeMutableBytes<Result>(
    _ body: (UnsafeMutableBufferPointer<T>) throws -> Result
  ) rethrows -> Result {
    try anyTensor.mutableBytes { pointer, count, _ in
      try body(UnsafeMutableBufferPointer(start: pointer.assumingMemoryBound(to: T.self), count: count))
    }
  }
}

private func checkedShape(_ shape: [Int], of count: Int) -> [Int] {
  let sizes = shape.isEmpty ? [count] : shape
  precondition(elementCount(ofShape: sizes) == count, "\(count) scalars do not fill shape \(sizes)")
  return sizes
}

// ---- Factories: those of AnyTensor, whose elements are T

extension Tensor {
  public static func empty(
    shape: [Int], strides: [Int] = [], shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> {
    Tensor(AnyTensor.empty(shape: shape, strides: strides, dataType: T.dataType, shapeDynamism: shapeDynamism))
  }
  public static func empty(
    like tensor: Tensor<T>, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> { Tensor(AnyTensor.empty(like: tensor.anyTensor, shapeDynamism: shapeDynamism)) }

  public static func full(
    shape: [Int], scalar: T, strides: [Int] = [], shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> {
    Tensor(AnyTensor.full(shape: shape, scalar: scalar, strides: strides, shapeDynamism: shapeDynamism))
  }
  public static func full(
    like tensor: Tensor<T>, scalar: T, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> { Tensor(AnyTensor.full(like: tensor.anyTensor, scalar: scalar, shapeDynamism: shapeDynamism)) }

  public static func ones(shape: [Int], shapeDynamism: ShapeDynamism = .dynamicBound) -> Tensor<T> {
    Tensor(AnyTensor.ones(shape: shape, dataType: T.dataType, shapeDynamism: shapeDynamism))
  }
  public static func ones(
    like tensor: Tensor<T>, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> { Tensor(AnyTensor.ones(like: tensor.anyTensor, shapeDynamism: shapeDynamism)) }

  public static func zeros(shape: [Int], shapeDynamism: ShapeDynamism = .dynamicBound) -> Tensor<T> {
    Tensor(AnyTensor.zeros(shape: shape, dataType: T.dataType, shapeDynamism: shapeDynamism))
  }
  public static func zeros(
    like tensor: Tensor<T>, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> { Tensor(AnyTensor.zeros(like: tensor.anyTensor, shapeDynamism: shapeDynamism)) }

  public static func rand(
    shape: [Int], strides: [Int] = [], shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> {
    Tensor(AnyTensor.rand(shape: shape, strides: strides, dataType: T.dataType, shapeDynamism: shapeDynamism))
  }
  public static func rand(
    like tensor: Tensor<T>, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> { Tensor(AnyTensor.rand(like: tensor.anyTensor, shapeDynamism: shapeDynamism)) }

  public static func randn(
    shape: [Int], strides: [Int] = [], shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> {
    Tensor(AnyTensor.randn(shape: shape, strides: strides, dataType: T.dataType, shapeDynamism: shapeDynamism))
  }
  public static func randn(
    like tensor: Tensor<T>, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> { Tensor(AnyTensor.randn(like: tensor.anyTensor, shapeDynamism: shapeDynamism)) }

  public static func randint(
    low: Int, high: Int, shape: [Int], strides: [Int] = [], shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> {
    Tensor(
      AnyTensor.randint(
        low: low, high: high, shape: shape, strides: strides, dataType: T.dataType, shapeDynamism: shapeDynamism))
  }
  public static func randint(
    like tensor: Tensor<T>, low: Int, high: Int, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> Tensor<T> {
    Tensor(AnyTensor.randint(like: tensor.anyTensor, low: low, high: high, shapeDynamism: shapeDynamism))
  }
}
