// SPDX-License-Identifier: BSD-3-Clause
// The guide's code for iOS ("Using ExecuTorch on iOS") with its type arguments and line breaks restored.
import ExecuTorch
import XCTest

final class ListingsTest: XCTestCase {
  func testTensors() throws {
    let originalTensor = Tensor<Float>([1, 2, 3, 4], shape: [2, 2])
    // Create a view.
    let tensorView = Tensor(originalTensor)
    // Create a copy.
    let tensorCopy = originalTensor.copy()
    XCTAssertEqual(tensorView, tensorCopy)

    // Create from a buffer without copying (unsafe).
    var mutableData: [Float] = [1.0, 2.0, 3.0, 4.0]
    let tensorNoCopy = mutableData.withUnsafeMutableBytes { pointer in
      Tensor<Float>(bytesNoCopy: pointer.baseAddress!, shape: [2, 2])
    }
    // Create from Data (no copy).
    let data = Data(bytes: &mutableData, count: mutableData.count * MemoryLayout<Float>.size)
    let tensorFromData = Tensor<Float>(data: data, shape: [2, 2])
    XCTAssertEqual(tensorNoCopy, tensorFromData)

    // Create from an array of scalars (infers shape and copies data).
    let tensor = Tensor([1.0, 2.0, 3.0, 4.0])  // Creates a Tensor<Double> with shape [4]
    XCTAssertEqual(tensor.dataType, .double)
    // Specify shape.
    let tensorWithShape = Tensor([1, 2, 3, 4, 5, 6], shape: [2, 3])  // Creates Tensor<Int>
    XCTAssertEqual(tensorWithShape.dataType, .long)
    // Create without copying from an `inout` array.
    var liveData: [Int32] = [10, 20, 30]
    let live = Tensor(&liveData)  // Modifying `liveData` affects it
    XCTAssertEqual(live.scalars(), liveData)
    // Create an Int scalar tensor.
    let scalarTensor = Tensor(42)  // Infers Tensor<Int> with shape []
    XCTAssertEqual(scalarTensor.shape, [])

    // Create a 2x2 tensor filled with the value 7.
    let fullTensor = Tensor<Int32>.full(shape: [2, 2], scalar: 7)
    // Create a 3x3 tensor of ones.
    let onesTensor = Tensor<Float>.ones(shape: [3, 3])
    // Create a tensor of zeros with the same shape as onesTensor.
    let zerosTensor = Tensor<Float>.zeros(like: onesTensor)
    // Create a tensor with random integers between 10 (inclusive) and 20 (exclusive).
    let randomInts = Tensor<Int>.randint(low: 10, high: 20, shape: [5])
    // Create a 2x2 type-erased tensor filled with zeros and explicit data type.
    let anyZeros = AnyTensor.zeros(shape: [2, 2], dataType: .float)
    // Create a 2x3 type-erased tensor filled with random values and explicit data type.
    let anyRand = AnyTensor.rand(shape: [2, 3], dataType: .double)
    XCTAssertEqual(
      [fullTensor.count, zerosTensor.count, randomInts.count, anyZeros.count, anyRand.count], [4, 9, 5, 4, 6])
  }

  func testData() {
    let tensor = Tensor<Float>([1.0, 2.0, 3.0, 4.0], shape: [2, 2])
    let anyTensor = tensor.anyTensor
    // Get data copy as a Swift array.
    let scalars = tensor.scalars()
    print("All scalars: \(scalars)")  // [1.0, 2.0, 3.0, 4.0]
    // Access data via a buffer pointer.
    tensor.withUnsafeBytes { buffer in print("First float element: \(buffer.first ?? 0.0)") }
    anyTensor.bytes { pointer, count, dataType in
      // Must check data type and manually cast the pointer for type-erased tensor.
      if dataType == .float {
        let buffer = UnsafeBufferPointer(start: pointer.assumingMemoryBound(to: Float.self), count: count)
        print("First float element from AnyTensor: \(buffer.first ?? 0.0)")
      }
    }
    // Modify the tensor's data in place.
    tensor.withUnsafeMutableBytes { buffer in buffer[1] = 200.0 }
    // tensor's data is now [1.0, 200.0, 3.0, 4.0]
    anyTensor.mutableBytes { pointer, count, dataType in
      if dataType == .float {
        let buffer = UnsafeMutableBufferPointer(start: pointer.assumingMemoryBound(to: Float.self), count: count)
        buffer[0] = 100.0  // Modify the AnyTensor's data
      }
    }
    XCTAssertEqual(tensor.scalars(), [100, 200, 3, 4])
    do {
      try tensor.resize(to: [4, 1])
      print("Resized shape: \(tensor.shape)")
    } catch {
      print("Resize failed: \(error)")
    }
    XCTAssertEqual(tensor.shape, [4, 1])
  }

  func testValues() {
    let tensor = Tensor<Double>(2.0)
    let tensorValue = Value(tensor)
    let intValue = Value(200)
    let stringValue = Value("world")
    let boolValue = Value(false)
    let doubleValue = Value(2.718)
    XCTAssertEqual(
      [tensorValue, intValue, stringValue, boolValue, doubleValue].map(\.tag),
      [.tensor, .integer, .string, .boolean, .double])
    func processValue(_ value: ValueConvertible) -> ValueTag { value.asValue().tag }
    XCTAssertEqual(processValue(1), .integer)  // Value<Int>
    XCTAssertEqual(processValue(1.0), .double)  // Value<Double>
    XCTAssertEqual(processValue("hello"), .string)  // Value<String>
    XCTAssertEqual(processValue(true), .boolean)  // Value<Bool>
    XCTAssertEqual(processValue(Tensor(1.0)), .tensor)  // Value<Tensor>
  }

  func testModules() throws {
    let modelPath = try program("add.pte")
    // Create a module with the model file path. Nothing gets loaded into memory just yet.
    let module = Module(filePath: modelPath)
    // Optional: specify load mode, e.g., memory mapping.
    let moduleMmap = Module(filePath: modelPath, loadMode: .mmap)
    XCTAssertFalse(moduleMmap.isLoaded())
    do {
      // Loads program and prepares 'forward' for execution.
      try module.load("forward")
      print("Forward method loaded: \(module.isLoaded("forward"))")
    } catch {
      print("Failed to load method: \(error)")
    }
    // Easily inspect the "forward" method at runtime.
    let metadata = try module.methodMetadata("forward")
    // Check if the first input is a tensor and get its metadata.
    if metadata.inputValueTags.first == .tensor, let tensorMeta = metadata.inputTensorMetadata[0] {
      print("Expected input shape: \(tensorMeta.shape)")
      print("Expected input data type: \(tensorMeta.dataType)")
      // Dynamically create a random tensor that matches the model's input specs.
      let input = AnyTensor.rand(shape: tensorMeta.shape, dataType: tensorMeta.dataType)
      // Use the dynamically created tensor for inference. (This model has two inputs.)
      XCTAssertThrowsError(try module.forward(input))
    }

    let inputTensor1 = Tensor<Float>([1.0])
    let inputTensor2 = Tensor<Float>([3.0])
    // Execute "forward" using the shortcut with an array of Tensors.
    let outputs1 = try module.forward([inputTensor1, inputTensor2])
    print("Forward output count: \(outputs1.count)")
    // Execute a potentially different method by name.
    let outputs3 = try module.execute("forward", [inputTensor1, inputTensor2])
    XCTAssertEqual(outputs3.count, 1)
    // Process outputs by converting the first output Value to a typed Tensor<Float>.
    if let outputTensor: Tensor<Float> = outputs1.first?.tensor() {
      // Now you have a type-safe tensor and can access its data easily.
      let logits = outputTensor.scalars()
      print("First 5 logits: \(logits.prefix(5))")
    }
    // Try casting the outputs to a single typed object.
    let tensorOutput = try Tensor<Float>(module.forward(inputTensor1, inputTensor2))
    let logits = tensorOutput.scalars()
    XCTAssertEqual(logits, [4])
    // Note: methodNames() will load the program if not already loaded.
    let names = try module.methodNames()
    print("Available methods: \(names)")  // Output: e.g., {"forward"}
  }
}

public class MyClass {
  public init() { Log.shared.add(sink: self) }
  deinit { Log.shared.remove(sink: self) }
}

extension MyClass: LogSink {
  public func log(level: LogLevel, timestamp: TimeInterval, filename: String, line: UInt, message: String) {
    let logMessage = "\(filename):\(line) \(message)"
    switch level {
    case .debug: print("debug", logMessage)
    case .info: print("info", logMessage)
    case .error: print("error", logMessage)
    case .fatal: print("fatal", logMessage)
    default: print(logMessage)
    }
  }
}
