// SPDX-License-Identifier: BSD-3-Clause
// Elements of a tensor whose type is known at run time: filled, converted, printed; and tensors made so.
import Foundation

private func typed<T: Scalar>(_ tensor: AnyTensor, _ type: T.Type) -> UnsafeMutableBufferPointer<T> {
  let info = tensor.info
  return UnsafeMutableBufferPointer(start: info.data?.assumingMemoryBound(to: T.self), count: info.num_elements)
}

func convertElements(of source: AnyTensor, to result: AnyTensor) {
  func convert<From: Scalar, To: Scalar>(_: From.Type, _: To.Type) {
    let from = typed(source, From.self)
    let to = typed(result, To.self)
    for index in from.indices { to[index] = To.cast(from[index]) }
  }
  guard let from = source.dataType.scalar, let to = result.dataType.scalar else {
    fatalError("no conversion from \(source.dataType.name) to \(result.dataType.name)")
  }
  withExtendedLifetime(source) { convert(from, to) }
}

extension AnyTensor {
  /// Each element by a call.
  @discardableResult
  func generate<Value: Scalar>(_ make: () -> Value) -> AnyTensor {
    func write<T: Scalar>(_: T.Type) {
      let elements = typed(self, T.self)
      for index in elements.indices { elements[index] = T.cast(make()) }
    }
    guard let type = dataType.scalar else { fatalError("\(dataType.name) tensors cannot be filled") }
    write(type)
    return self
  }

  @discardableResult
  func fill<Value: Scalar>(with value: Value) -> AnyTensor { generate { value } }

  /// Numbers as NSNumber prints them: 3.0 is 3.
  func firstScalars(_ limit: Int) -> String {
    func text<T: Scalar>(_ type: T.Type) -> String {
      let elements = typed(self, type)
      let first = elements.prefix(limit).map { element in
        element.isInteger ? "\(element.asInteger)" : shortest(element)
      }
      return first.joined(separator: ",") + (elements.count > limit ? ",..." : "")
    }
    return withExtendedLifetime(self) { dataType.scalar.map { text($0) } ?? "..." }
  }

  private func shortest<T: Scalar>(_ element: T) -> String {
    let value = element.asReal
    if value == value.rounded(), value.magnitude < 1e15 { return "\(Int64(value))" }
    return T.self == Double.self ? "\(value)" : "\(Float(value))"
  }

  // ---- Factories

  public static func empty(
    shape: [Int], strides: [Int] = [], dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { AnyTensor(shape, strides, [], dataType, shapeDynamism) }

  /// With the shape and strides of `tensor`; its type of elements if none is given.
  public static func empty(
    like tensor: AnyTensor, dataType: DataType? = nil, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    AnyTensor(tensor.shape, [], tensor.dimensionOrder, dataType ?? tensor.dataType, shapeDynamism)
  }

  public static func full<T: Scalar>(
    shape: [Int], scalar: T, strides: [Int] = [], shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    empty(shape: shape, strides: strides, dataType: T.dataType, shapeDynamism: shapeDynamism).fill(with: scalar)
  }

  public static func full<T: Scalar>(
    like tensor: AnyTensor, scalar: T, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    empty(like: tensor, dataType: T.dataType, shapeDynamism: shapeDynamism).fill(with: scalar)
  }

  public static func ones(
    shape: [Int], dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { empty(shape: shape, dataType: dataType, shapeDynamism: shapeDynamism).fill(with: 1) }

  public static func ones(
    like tensor: AnyTensor, dataType: DataType? = nil, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { empty(like: tensor, dataType: dataType, shapeDynamism: shapeDynamism).fill(with: 1) }

  public static func zeros(
    shape: [Int], dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { empty(shape: shape, dataType: dataType, shapeDynamism: shapeDynamism) }

  public static func zeros(
    like tensor: AnyTensor, dataType: DataType? = nil, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { empty(like: tensor, dataType: dataType, shapeDynamism: shapeDynamism) }

  /// Uniform in [0, 1).
  public static func rand(
    shape: [Int], strides: [Int] = [], dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    empty(shape: shape, strides: strides, dataType: dataType, shapeDynamism: shapeDynamism).generate(uniform)
  }

  public static func rand(
    like tensor: AnyTensor, dataType: DataType? = nil, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { empty(like: tensor, dataType: dataType, shapeDynamism: shapeDynamism).generate(uniform) }

  /// Normal, of mean 0 and variance 1.
  public static func randn(
    shape: [Int], strides: [Int] = [], dataType: DataType, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    empty(shape: shape, strides: strides, dataType: dataType, shapeDynamism: shapeDynamism).generate(normal)
  }

  public static func randn(
    like tensor: AnyTensor, dataType: DataType? = nil, shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor { empty(like: tensor, dataType: dataType, shapeDynamism: shapeDynamism).generate(normal) }

  /// Integers in [low, high).
  public static func randint(
    low: Int, high: Int, shape: [Int], strides: [Int] = [], dataType: DataType,
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    empty(shape: shape, strides: strides, dataType: dataType, shapeDynamism: shapeDynamism)
      .generate { Int.random(in: low..<high) }
  }

  public static func randint(
    like tensor: AnyTensor, low: Int, high: Int, dataType: DataType? = nil,
    shapeDynamism: ShapeDynamism = .dynamicBound
  ) -> AnyTensor {
    empty(like: tensor, dataType: dataType, shapeDynamism: shapeDynamism).generate { Int.random(in: low..<high) }
  }
}

/// 24 bits, so that no float rounds up to 1.
private func uniform() -> Double { Double(UInt32.random(in: 0..<(1 << 24))) / Double(1 << 24) }

/// Box and Muller's transform of two uniform numbers.
private func normal() -> Double {
  (-2 * log(1 - uniform())).squareRoot() * cos(2 * Double.pi * uniform())
}
