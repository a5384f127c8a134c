// SPDX-License-Identifier: BSD-3-Clause
// What methods take and give: nothing, a tensor, a text, a number or a truth value.
import CExecuTorch
import Foundation

public enum ValueTag: UInt32 {
  case none = 0, tensor, string, double, integer, boolean
}

public typealias ScalarValue = NSNumber
public typealias StringValue = String
public typealias BoolValue = Bool
public typealias IntegerValue = Int
public typealias DoubleValue = Double
public typealias FloatValue = Float

public final class Value: Equatable, CustomStringConvertible {
  enum Content: Equatable {
    case none, tensor(AnyTensor), string(String), double(Double), integer(Int), boolean(Bool)
  }
  let content: Content
  init(content: Content) { self.content = content }

  public convenience init() { self.init(content: .none) }
  public convenience init(_ tensor: AnyTensor) { self.init(content: .tensor(tensor)) }
  public convenience init<T: Scalar>(_ tensor: Tensor<T>) { self.init(tensor.anyTensor) }
  public convenience init(_ string: String) { self.init(content: .string(string)) }
  public convenience init(_ boolean: Bool) { self.init(content: .boolean(boolean)) }
  public convenience init(_ integer: Int) { self.init(content: .integer(integer)) }
  public convenience init(_ double: Double) { self.init(content: .double(double)) }
  public convenience init(_ float: Float) { self.init(Double(float)) }
  public convenience init(_ scalar: NSNumber) {
    // Foundation has no type of its own for truth values: they are characters there.
    let type = String(cString: scalar.objCType)
    if "cB".contains(type) {
      self.init(scalar.boolValue)
    } else if "fd".contains(type) {
      self.init(scalar.doubleValue)
    } else {
      self.init(scalar.intValue)
    }
  }

  public var tag: ValueTag {
    switch content {
    case .none: return .none
    case .tensor: return .tensor
    case .string: return .string
    case .double: return .double
    case .integer: return .integer
    case .boolean: return .boolean
    }
  }
  public var isNone: Bool { tag == .none }
  public var isTensor: Bool { tag == .tensor }
  public var isString: Bool { tag == .string }
  public var isScalar: Bool { isBoolean || isInteger || isDouble }
  public var isBoolean: Bool { tag == .boolean }
  public var isInteger: Bool { tag == .integer }
  public var isDouble: Bool { tag == .double }
  public var isFloat: Bool { isDouble }

  // Of another tag: nil, or a default.
  public var anyTensor: AnyTensor? { if case .tensor(let tensor) = content { return tensor } else { return nil } }
  public func tensor<T: Scalar>() -> Tensor<T>? { anyTensor?.asTensor() }
  public var string: String? { if case .string(let text) = content { return text } else { return nil } }
  public var boolean: Bool { content == .boolean(true) }
  public var integer: Int { if case .integer(let number) = content { return number } else { return 0 } }
  public var double: Double { if case .double(let number) = content { return number } else { return 0 } }
  public var float: Float { Float(double) }
  public var scalar: NSNumber? {
    switch content {
    case .boolean(let value): return NSNumber(value: value)
    case .integer(let value): return NSNumber(value: value)
    case .double(let value): return NSNumber(value: value)
    default: return nil
    }
  }

  /// Tensors are copied, too.
  public func copy() -> Value { Value(content: anyTensor.map { .tensor($0.copy()) } ?? content) }

  public static func == (left: Value, right: Value) -> Bool { left.content == right.content }

  public var description: String {
    let text: String
    switch content {
    case .none: text = "nil"
    case .tensor(let tensor): text = tensor.description.replacingOccurrences(of: "\n", with: "\n  ")
    case .string(let string): text = string
    case .double(let number): text = "\(number)"
    case .integer(let number): text = "\(number)"
    case .boolean(let value): text = "\(value)"
    }
    return "Value {\n  tag: \(tag),\n  value: \(text)\n}"
  }
}
