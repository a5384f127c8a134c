// SPDX-License-Identifier: BSD-3-Clause
// Swift types that become values, and that values become.
import Foundation

public protocol ValueConvertible {
  func asValue() -> Value
}

public protocol ValueConstructible {
  static func from(_ value: Value) throws -> Self
}

/// What the outputs of a method are read as.
public protocol ValueSequenceConstructible {
  static func from(_ values: [Value]) throws -> Self
}

extension ValueConstructible {
  public init(_ value: Value) throws { self = try Self.from(value) }
}

extension ValueSequenceConstructible {
  public init(_ values: [Value]) throws { self = try Self.from(values) }
}

extension ValueSequenceConstructible where Self: ValueConstructible {
  public static func from(_ values: [Value]) throws -> Self {
    guard values.count == 1 else {
      throw ErrorCode(.invalidType, "Expected 1 value, got \(values.count)")
    }
    return try from(values[0])
  }
}

extension Array: ValueSequenceConstructible where Element: ValueConstructible {
  public static func from(_ values: [Value]) throws -> [Element] { try values.map { try Element.from($0) } }
}

extension Value: ValueConvertible, ValueConstructible, ValueSequenceConstructible {
  public func asValue() -> Value { self }
  public static func from(_ value: Value) throws -> Value { value }
}

extension AnyTensor: ValueConvertible, ValueConstructible, ValueSequenceConstructible {
  public func asValue() -> Value { Value(self) }
  public static func from(_ value: Value) throws -> AnyTensor {
    guard let tensor = value.anyTensor else { throw ErrorCode(.invalidType, "Value is not a tensor") }
    return tensor
  }
}

extension Tensor: ValueConvertible, ValueConstructible, ValueSequenceConstructible {
  public func asValue() -> Value { Value(anyTensor) }
  public static func from(_ value: Value) throws -> Tensor<T> {
    let tensor = try AnyTensor.from(value)
    guard let typed: Tensor<T> = tensor.asTensor() else {
      throw ErrorCode(.invalidType, "Tensor is not of type \(T.self), but of \(tensor.dataType.name)")
    }
    return typed
  }
}

extension String: ValueConvertible, ValueConstructible, ValueSequenceConstructible {
  public func asValue() -> Value { Value(self) }
  public static func from(_ value: Value) throws -> String {
    guard let text = value.string else { throw ErrorCode(.invalidType, "Value is not a string") }
    return text
  }
}

extension NSNumber: ValueConvertible {
  public func asValue() -> Value { Value(self) }
}

extension ValueConvertible where Self: Scalar {
  public func asValue() -> Value {
    if let boolean = self as? Bool { return Value(boolean) }
    return isInteger ? Value(Int(asInteger)) : Value(asReal)
  }
}

extension ValueConstructible where Self: FixedWidthInteger {
  public static func from(_ value: Value) throws -> Self {
    guard value.isScalar else { throw ErrorCode(.invalidType, "Value is not a scalar") }
    let found = value.isDouble ? Self(exactly: value.double) : Self(exactly: value.isBoolean ? (value.boolean ? 1 : 0) : value.integer)
    guard let found else {
      throw ErrorCode(.invalidType, "Cannot convert scalar to \(Self.self): it is \(value.scalar!)")
    }
    return found
  }
}

extension ValueConstructible where Self: BinaryFloatingPoint {
  public static func from(_ value: Value) throws -> Self {
    guard value.isDouble else { throw ErrorCode(.invalidType, "Value is not a \(Self.self == Float.self ? "float" : "double")") }
    return Self(value.double)
  }
}

extension Bool: ValueConvertible, ValueConstructible, ValueSequenceConstructible {
  public static func from(_ value: Value) throws -> Bool {
    guard value.isBoolean else { throw ErrorCode(.invalidType, "Value is not a boolean") }
    return value.boolean
  }
}

extension UInt8: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Int8: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Int16: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Int32: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Int64: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Int: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension UInt16: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension UInt32: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension UInt64: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension UInt: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Float: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
extension Double: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
#if !(os(macOS) && arch(x86_64))
extension Float16: ValueConvertible, ValueConstructible, ValueSequenceConstructible {}
#endif
