// SPDX-License-Identifier: BSD-3-Clause
// Tensors: how they are made, read, changed, compared and printed. Expected values are in each test.
import XCTest

@testable import ExecuTorch

final class TensorTest: XCTestCase {
  func testScalarsOfEachType() {
    func check<T: Scalar>(_ values: [T], _ type: DataType, _ size: Int) {
      let tensor = Tensor(values)
      XCTAssertEqual(tensor.dataType, type)
      XCTAssertEqual(tensor.scalars(), values)
      XCTAssertEqual(tensor.shape, [values.count])
      XCTAssertEqual(ExecuTorch.size(ofDataType: type), size)
      XCTAssertEqual(Tensor(values[0]).shape, [])
    }
    check([1, 255] as [UInt8], .byte, 1)
    check([-128, 127] as [Int8], .char, 1)
    check([-3, 4] as [Int16], .short, 2)
    check([-3, 4] as [Int32], .int, 4)
    check([Int64.min, .max], .long, 8)
    check([-3, 4] as [Int], .long, 8)
    check([1.5, -2] as [Float], .float, 4)
    check([1.5, -2] as [Double], .double, 8)
    check([true, false], .bool, 1)
    check([1, 65535] as [UInt16], .uInt16, 2)
    check([1, 4_294_967_295] as [UInt32], .uInt32, 4)
    check([1, UInt64.max], .uInt64, 8)
    check([1, UInt.max], .uInt64, 8)
    check([1.5, 65504] as [Float16], .half, 2)
  }

  func testShapesStridesAndOrders() {
    let tensor = Tensor<Float>([1, 2, 3, 4, 5, 6], shape: [2, 3])
    XCTAssertEqual(tensor.strides, [3, 1])
    XCTAssertEqual(tensor.dimensionOrder, [0, 1])
    XCTAssertEqual(tensor.count, 6)
    let columns = Tensor<Float>([1, 2, 3, 4, 5, 6], shape: [2, 3], strides: [1, 2])
    XCTAssertEqual(columns.dimensionOrder, [1, 0])
    XCTAssertNotEqual(columns, tensor)
    let last = Tensor<Float>.zeros(shape: [1, 3, 2, 2])
    let view = Tensor(last, dimensionOrder: [0, 2, 3, 1])
    XCTAssertEqual(view.strides, [12, 1, 6, 3])
    XCTAssertEqual(elementCount(ofShape: [2, 3, 4]), 24)
  }

  func testViewsShareAndCopiesDoNot() {
    let tensor = Tensor<Int32>([1, 2, 3, 4])
    let view = Tensor(tensor, shape: [2, 2])
    let copy = tensor.copy()
    tensor.withUnsafeMutableBytes { $0[0] = 9 }
    XCTAssertEqual(view.scalars(), [9, 2, 3, 4])
    XCTAssertEqual(view.shape, [2, 2])
    XCTAssertEqual(copy.scalars(), [1, 2, 3, 4])
  }

  func testAViewKeepsItsMemory() {
    func view() -> Tensor<Int> { Tensor(Tensor<Int>([1, 2, 3, 4]), shape: [2, 2]) }
    XCTAssertEqual(view().scalars(), [1, 2, 3, 4])
  }

  func testCasts() {
    XCTAssertEqual(Tensor<Float>([1.9, -1.9, 300]).copy(to: Int32.self).scalars(), [1, -1, 300])
    XCTAssertEqual(Tensor<Int32>([300, -1]).copy(to: UInt8.self).scalars(), [44, 255])  // 300 - 256
    XCTAssertEqual(Tensor<Double>([0, 0.5]).copy(to: Bool.self).scalars(), [false, true])
    XCTAssertEqual(Tensor<Float>([1, 0.1]).copy(to: Float16.self).scalars(), [1, 0x1.998p-4])
    let short = Tensor<Float>([1, 0.1]).anyTensor.copy(to: .bFloat16)
    XCTAssertEqual(short.dataType, .bFloat16)
    XCTAssertEqual(short.copy(to: .float).asTensor()!.scalars() as [Float], [1, 0x1.9ap-4])  // 8 bits of 0x1.99999ap-4
    XCTAssertEqual(Tensor<Int64>([(1 << 53) + 1]).copy(to: Int.self).scalars(), [(1 << 53) + 1])
  }

  func testMemoryOfTheCaller() {
    var values: [Float] = [1, 2, 3, 4]
    let noCopy = values.withUnsafeMutableBytes { Tensor<Float>(bytesNoCopy: $0.baseAddress!, shape: [2, 2]) }
    XCTAssertEqual(noCopy.scalars(), [1, 2, 3, 4])
    let copied = values.withUnsafeBytes { Tensor<Float>(bytes: $0.baseAddress!, shape: [4]) }
    let data = Data(bytes: &values, count: 16)
    XCTAssertEqual(Tensor<Float>(data: data, shape: [2, 2]).scalars(), [1, 2, 3, 4])
    let shared = Tensor(&values)
    values[0] = 7
    XCTAssertEqual(shared.scalars()[0], 7)
    XCTAssertEqual(copied.scalars()[0], 1)
    withExtendedLifetime(values) {}
  }

  func testDataLivesAsLongAsTheTensor() {
    func made() -> Tensor<UInt8> { Tensor(data: Data(repeating: 5, count: 4096), shape: [4096]) }
    let tensors = (0..<50).map { _ in made() }
    XCTAssertTrue(tensors.allSatisfy { $0.scalars() == [UInt8](repeating: 5, count: 4096) })
  }

  func testFactories() {
    XCTAssertEqual(Tensor<Int>.full(shape: [2, 2], scalar: 7).scalars(), [7, 7, 7, 7])
    XCTAssertEqual(Tensor<Float>.ones(shape: [3]).scalars(), [1, 1, 1])
    XCTAssertEqual(Tensor<Float16>.ones(shape: [2]).scalars(), [1, 1])
    let ones = Tensor<Double>.ones(shape: [3, 1])
    XCTAssertEqual(Tensor.zeros(like: ones), Tensor<Double>([0, 0, 0], shape: [3, 1]))
    XCTAssertEqual(Tensor.full(like: ones, scalar: 2.5).scalars(), [2.5, 2.5, 2.5])
    XCTAssertEqual(Tensor.ones(like: ones).scalars(), [1, 1, 1])
    XCTAssertEqual(Tensor<Int8>.empty(shape: [0]).count, 0)
    XCTAssertEqual(Tensor<Int8>.empty(like: Tensor<Int8>(3)).shape, [])
    XCTAssertEqual(AnyTensor.zeros(shape: [2], dataType: .bool).asTensor()!.scalars() as [Bool], [false, false])
    XCTAssertEqual(AnyTensor.full(like: ones.anyTensor, scalar: Int32(4)).dataType, .int)
    XCTAssertEqual(AnyTensor.ones(like: ones.anyTensor, dataType: .byte).dataType, .byte)
  }

  func testRandomValuesAreInTheirRanges() {
    let uniform = Tensor<Float>.rand(shape: [1000]).scalars()
    XCTAssertTrue(uniform.allSatisfy { 0 <= $0 && $0 < 1 })
    XCTAssertEqual(uniform.reduce(0, +) / 1000, 0.5, accuracy: 0.06)  // six of its deviations, 0.29 / sqrt(1000)
    let normal = Tensor<Double>.randn(shape: [1000]).scalars()
    XCTAssertEqual(normal.reduce(0, +) / 1000, 0, accuracy: 0.2)
    XCTAssertEqual(normal.map { $0 * $0 }.reduce(0, +) / 1000, 1, accuracy: 0.3)
    let integers = Tensor<Int>.randint(low: 10, high: 20, shape: [1000]).scalars()
    XCTAssertEqual(Set(integers), Set(10..<20))
    XCTAssertEqual(Tensor.rand(like: Tensor<Float>.ones(shape: [2, 3])).shape, [2, 3])
    XCTAssertEqual(Tensor.randn(like: Tensor<Float>.ones(shape: [2])).shape, [2])
    XCTAssertEqual(Tensor.randint(like: Tensor<Int8>.ones(shape: [2]), low: 3, high: 4).scalars(), [3, 3])
  }

  func testResize() throws {
    let tensor = Tensor<Float>([1, 2, 3, 4], shape: [2, 2])
    try tensor.resize(to: [4, 1])
    XCTAssertEqual(tensor.shape, [4, 1])
    XCTAssertEqual(tensor.scalars(), [1, 2, 3, 4])
    XCTAssertThrowsError(try tensor.resize(to: [5, 1]))
    let fixed = Tensor<Float>([1, 2], shapeDynamism: .static)
    XCTAssertThrowsError(try fixed.resize(to: [2, 1]))
    XCTAssertEqual(fixed.shape, [2])
  }

  func testAnyTensors() {
    let tensor = Tensor<Float>([1, 2]).anyTensor
    XCTAssertNotNil(tensor.asTensor() as Tensor<Float>?)
    XCTAssertNil(tensor.asTensor() as Tensor<Int>?)
    tensor.mutableBytes { pointer, count, dataType in
      XCTAssertEqual(count, 2)
      XCTAssertEqual(dataType, .float)
      pointer.assumingMemoryBound(to: Float.self)[0] = 5
    }
    XCTAssertEqual(tensor.bytes { pointer, _, _ in pointer.load(as: Float.self) }, 5)
    XCTAssertEqual(tensor, Tensor<Float>([5, 2]).anyTensor)
    XCTAssertEqual(Set([tensor, tensor.copy()]).count, 1)
    XCTAssertEqual(AnyTensor(7).dataType, .long)
    XCTAssertEqual(AnyTensor(UInt16(7)).dataType, .uInt16)
    XCTAssertEqual(Tensor<Float>([1], shapeDynamism: .static), Tensor<Float>([1]))
  }

  func testDescriptions() {
    XCTAssertEqual(
      Tensor<Float>([3], shapeDynamism: .static).description,
      "Tensor {\n  dataType: float,\n  shape: [1],\n  strides: [1],\n  dimensionOrder: [0],\n"
        + "  shapeDynamism: static,\n  count: 1,\n  scalars: [3]\n}")
    XCTAssertTrue(Tensor<Float>([0.1, 2.5], shape: [1, 2]).description.contains("shape: [1,2]"))
    XCTAssertTrue(Tensor<Float>([0.1, 2.5]).description.contains("scalars: [0.1,2.5]"))
    XCTAssertTrue(Tensor<Int>.zeros(shape: [101]).description.contains(",0,...]"))
    XCTAssertTrue(AnyTensor.zeros(shape: [1], dataType: .quInt8).description.contains("dataType: quint8"))
  }
}
