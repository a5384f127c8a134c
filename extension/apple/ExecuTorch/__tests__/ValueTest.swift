// SPDX-License-Identifier: BSD-3-Clause
// Values, what becomes one and what one becomes; texts of errors; sinks of log messages.
import XCTest

@testable import ExecuTorch

final class ValueTest: XCTestCase {
  func testTags() {
    let values: [(Value, ValueTag)] = [
      (Value(), .none), (Value(Tensor<Float>(1)), .tensor), (Value("text"), .string), (Value(2.5), .double),
      (Value(Float(2.5)), .double), (Value(7), .integer), (Value(true), .boolean),
      (Value(NSNumber(value: true)), .boolean), (Value(NSNumber(value: 3)), .integer),
      (Value(NSNumber(value: 2.5)), .double),
    ]
    for (value, tag) in values {
      XCTAssertEqual(value.tag, tag)
      XCTAssertEqual(value.isNone, tag == .none)
      XCTAssertEqual(value.isTensor, tag == .tensor)
      XCTAssertEqual(value.isString, tag == .string)
      XCTAssertEqual(value.isScalar, [.double, .integer, .boolean].contains(tag))
      XCTAssertEqual(value.isFloat, tag == .double)
      XCTAssertEqual(value, value.copy())
    }
  }

  func testOtherTagsGiveNilOrADefault() {
    let text = Value("text")
    XCTAssertEqual(text.string, "text")
    XCTAssertNil(text.anyTensor)
    XCTAssertNil(text.scalar)
    XCTAssertEqual([text.integer, Int(text.double), Int(text.float)], [0, 0, 0])
    XCTAssertFalse(text.boolean)
    XCTAssertNil(Value(1).string)
    XCTAssertNil(Value(1).tensor() as Tensor<Float>?)
    XCTAssertEqual(Value(2.5).scalar, 2.5)
  }

  func testConversions() throws {
    let inputs: [ValueConvertible] = [1, 1.0, "hello", true, Tensor(1.0), UInt8(3), Float16(2), Value(4)]
    XCTAssertEqual(
      inputs.map { $0.asValue().tag }, [.integer, .double, .string, .boolean, .tensor, .integer, .double, .integer])
    XCTAssertEqual(try Int8(Value(5)), 5)
    XCTAssertEqual(try Int(Value(5.0)), 5)
    XCTAssertEqual(try Bool(Value(true)), true)
    XCTAssertEqual(try Float(Value(2.5)), 2.5)
    XCTAssertEqual(try String([Value("a")]), "a")
    XCTAssertEqual(try [Int]([Value(1), Value(2)]), [1, 2])
    let refused: [(() throws -> Any, String)] = [
      ({ try Int8(Value(300)) }, "Cannot convert scalar to Int8: it is 300"),
      ({ try UInt(Value(-1)) }, "Cannot convert scalar to UInt: it is -1"),
      ({ try Int(Value(2.5)) }, "Cannot convert scalar to Int: it is 2.5"),
      ({ try Int(Value("1")) }, "Value is not a scalar"),
      ({ try Float(Value(1)) }, "Value is not a float"),
      ({ try Double(Value("1")) }, "Value is not a double"),
      ({ try Bool(Value(1)) }, "Value is not a boolean"),
      ({ try String(Value(1)) }, "Value is not a string"),
      ({ try AnyTensor(Value(1)) }, "Value is not a tensor"),
      ({ try Tensor<Int>(Value(Tensor<Float>(1))) }, "Tensor is not of type Int, but of float"),
      ({ try Int([Value(1), Value(2)]) }, "Expected 1 value, got 2"),
    ]
    for (call, reason) in refused {
      XCTAssertThrowsError(try call()) { XCTAssertEqual("\($0)", "Invalid type: \(reason)") }
    }
  }

  func testDescriptions() {
    XCTAssertEqual(Value().description, "Value {\n  tag: none,\n  value: nil\n}")
    XCTAssertEqual(Value(3).description, "Value {\n  tag: integer,\n  value: 3\n}")
    XCTAssertTrue(Value(Tensor<Float>(3)).description.contains("  value: Tensor {\n    dataType: float,"))
  }

  func testErrors() {
    XCTAssertEqual(ErrorDescription(.notFound), "Resource not found")
    XCTAssertEqual(Error(code: .notFound).localizedDescription, "Resource not found")
    let error = Error(code: .operatorMissing, description: "aten::add")
    XCTAssertEqual(error.localizedDescription, "Operator missing: aten::add")
    XCTAssertEqual(error.domain, "org.pytorch.executorch.error")
    XCTAssertEqual(error.code, 20)
    XCTAssertTrue(ErrorCode.Code.allCases.allSatisfy { $0 == .ok || !ErrorDescription($0).isEmpty })
  }

  func testSinks() {
    final class Sink: LogSink {
      var messages: [String] = []
      let arrived: XCTestExpectation
      init(_ arrived: XCTestExpectation) { self.arrived = arrived }
      func log(level: LogLevel, timestamp: TimeInterval, filename: String, line: UInt, message: String) {
        guard message.hasPrefix("sinks") else { return }
        messages.append("\(level) \(filename):\(line) \(message)")
        arrived.fulfill()
      }
    }
    let arrived = expectation(description: "two messages")
    arrived.expectedFulfillmentCount = 2
    Log.shared.log(level: .info, timestamp: 0, filename: "a", line: 1, message: "sinks before")
    let sink = Sink(arrived)
    Log.shared.add(sink: sink)
    Log.shared.add(sink: sink)
    Log.shared.log(level: .error, timestamp: 0, filename: "b", line: 2, message: "sinks after")
    wait(for: [arrived], timeout: 10)
    XCTAssertEqual(sink.messages, ["info a:1 sinks before", "error b:2 sinks after"])
    Log.shared.remove(sink: sink)
  }
}
