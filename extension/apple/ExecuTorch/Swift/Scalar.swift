// SPDX-License-Identifier: BSD-3-Clause
// Types of elements, and how one becomes another.
import CExecuTorch
import Foundation

public enum DataType: Int8, CaseIterable {
  case byte = 0, char, short, int, long, half, float, double
  case complexHalf, complexFloat, complexDouble, bool, qInt8, quInt8, qInt32, bFloat16
  case quInt4x2, quInt2x4, bits1x8, bits2x4, bits4x2, bits8, bits16
  case float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz
  case uInt16, uInt32, uInt64, undefined, numOptions

  /// As descriptions of tensors print it.
  var name: String {
    switch self {
    case .qInt8, .quInt8, .qInt32, .bFloat16, .quInt4x2, .quInt2x4, .uInt16, .uInt32, .uInt64:
      return "\(self)".lowercased()
    default: return "\(self)"
    }
  }
}

public enum ShapeDynamism: UInt8 {
  case `static` = 0, dynamicBound, dynamicUnbound
}

/// Bytes of an element; 0 of what is no type.
public func size(ofDataType dataType: DataType) -> Int {
  var info = ExecuTorchDtypeInfo()
  withSize(&info, \.struct_size)
  let status = api.dtype_info(Int32(dataType.rawValue), &info)
  if status != 0 {
    _ = api.release(status)
    return 0
  }
  return info.size
}

public func elementCount(ofShape shape: [Int]) -> Int { shape.reduce(1, *) }

/// A Swift type that is a tensor's element.
public protocol Scalar: Equatable {
  static var dataType: DataType { get }
  func asNSNumber() -> NSNumber
  /// Integers wrap around into smaller types; fractions are cut; what is no number becomes 0.
  static func cast<Other: Scalar>(_ other: Other) -> Self
  var isInteger: Bool { get }
  var asInteger: Int64 { get }
  var asReal: Double { get }
}

extension BinaryInteger where Self: Scalar & FixedWidthInteger {
  public static func cast<Other: Scalar>(_ other: Other) -> Self { Self(truncatingIfNeeded: other.asInteger) }
  public var isInteger: Bool { true }
  public var asInteger: Int64 { Int64(truncatingIfNeeded: self) }
  public var asReal: Double { Double(self) }
}

extension BinaryFloatingPoint where Self: Scalar {
  public static func cast<Other: Scalar>(_ other: Other) -> Self {
    other.isInteger && other.asReal.magnitude < 0x1p62 ? Self(other.asInteger) : Self(other.asReal)
  }
  public var isInteger: Bool { false }
  public var asInteger: Int64 {
    guard isFinite else { return 0 }
    return Int64(exactly: Double(self).rounded(.towardZero)) ?? (self < 0 ? .min : .max)
  }
  public var asReal: Double { Double(self) }
}

extension UInt8: Scalar {
  public static var dataType: DataType { .byte }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Int8: Scalar {
  public static var dataType: DataType { .char }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Int16: Scalar {
  public static var dataType: DataType { .short }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Int32: Scalar {
  public static var dataType: DataType { .int }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Int64: Scalar {
  public static var dataType: DataType { .long }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Int: Scalar {
  public static var dataType: DataType { .long }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension UInt16: Scalar {
  public static var dataType: DataType { .uInt16 }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension UInt32: Scalar {
  public static var dataType: DataType { .uInt32 }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension UInt64: Scalar {
  public static var dataType: DataType { .uInt64 }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension UInt: Scalar {
  public static var dataType: DataType { .uInt64 }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Float: Scalar {
  public static var dataType: DataType { .float }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
extension Double: Scalar {
  public static var dataType: DataType { .double }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
}
// Swift has no Float16 on Macs with Intel's processors.
#if !(os(macOS) && arch(x86_64))
extension Float16: Scalar {
  public static var dataType: DataType { .half }
  public func asNSNumber() -> NSNumber { NSNumber(value: Float(self)) }
}
#endif
extension Bool: Scalar {
  public static var dataType: DataType { .bool }
  public func asNSNumber() -> NSNumber { NSNumber(value: self) }
  public static func cast<Other: Scalar>(_ other: Other) -> Bool { other.asReal != 0 }
  public var isInteger: Bool { true }
  public var asInteger: Int64 { self ? 1 : 0 }
  public var asReal: Double { self ? 1 : 0 }
}

/// The upper half of a Float, of bfloat16 tensors.
struct BFloat16: Scalar {
  var bits: UInt16
  static var dataType: DataType { .bFloat16 }
  func asNSNumber() -> NSNumber { NSNumber(value: Float(asReal)) }
  /// Rounds to nearest, ties to even.
  static func cast<Other: Scalar>(_ other: Other) -> BFloat16 {
    let value = Float.cast(other)
    if value.isNaN { return BFloat16(bits: 0x7fc0) }
    let pattern = value.bitPattern
    return BFloat16(bits: UInt16((pattern &+ 0x7fff &+ ((pattern >> 16) & 1)) >> 16))
  }
  var isInteger: Bool { false }
  var asReal: Double { Double(Float(bitPattern: UInt32(bits) << 16)) }
  var asInteger: Int64 { asReal.asInteger }
}

extension DataType {
  /// The Swift type of such elements; nil of types that Swift has none for.
  var scalar: (any Scalar.Type)? {
    switch self {
    case .byte: return UInt8.self
    case .char: return Int8.self
    case .short: return Int16.self
    case .int: return Int32.self
    case .long: return Int64.self
    case .float: return Float.self
    case .double: return Double.self
    case .bool: return Bool.self
    case .uInt16: return UInt16.self
    case .uInt32: return UInt32.self
    case .uInt64: return UInt64.self
    case .bFloat16: return BFloat16.self
    #if !(os(macOS) && arch(x86_64))
    case .half: return Float16.self
    #endif
    default: return nil
    }
  }
}
