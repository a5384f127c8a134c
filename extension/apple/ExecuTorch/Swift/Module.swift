// SPDX-License-Identifier: BSD-3-Clause
// A program whose methods run.
import CExecuTorch
import Foundation

public enum ModuleLoadMode: Int {
  case file = 0, mmap, mmapUseMlock, mmapUseMlockIgnoreErrors
}

public enum ModuleVerification: UInt8 {
  case minimal = 0, internalConsistency
}

/// Nothing is opened before it is needed. One thread at a time: another one's call gets `.invalidState`. Outputs are copies:
/// they stay as they are when the method runs again.
open class Module {
  private let filePath: String
  private let dataFilePaths: [String]
  private let loadMode: ModuleLoadMode
  private let lock = NSLock()
  private var handle: Handle?
  /// Where calls with `await` run.
  let queue = DispatchQueue(label: "org.pytorch.executorch.module")

  public init(filePath: String, dataFilePaths: [String] = [], loadMode: ModuleLoadMode = .file) {
    self.filePath = filePath
    self.dataFilePaths = dataFilePaths
    self.loadMode = loadMode
  }

  // ---- Loading

  public func load() throws { try load(.minimal) }

  /// The program is verified in full in any case, which costs little.
  public func load(_ verification: ModuleVerification) throws { _ = try loaded() }

  /// Options are of loading: InvalidState if the program is loaded already.
  public func load(options: BackendOptionsMap, verification: ModuleVerification = .minimal) throws {
    _ = try loaded(options)
  }

  public func load(_ method: String) throws {
    try check(api.load_method(loaded().number, method, nil, 0))
  }

  public func load(_ method: String, options: BackendOptionsMap) throws {
    let number = try loaded(options).number
    try check(api.load_method(number, method, nil, 0))
  }

  public func isLoaded() -> Bool { lock.withLock { handle != nil } }

  public func isLoaded(_ method: String) -> Bool {
    guard isLoaded(), let info = try? methodInfo(method) else { return false }
    return info.is_loaded != 0
  }

  /// Whether the method was loaded. Inputs and outputs that were set go, too.
  @discardableResult
  public func unload(_ method: String) -> Bool {
    guard isLoaded(method), let number = try? loaded().number else { return false }
    let status = api.unload_method(number, method)
    _ = api.release(status)
    return status == 0
  }

  func loaded(_ options: BackendOptionsMap? = nil) throws -> Handle {
    lock.lock()
    defer { lock.unlock() }
    if let handle {
      guard options == nil else {
        throw ErrorCode(.invalidState, "the program is loaded, and options of backends are given when it is loaded")
      }
      return handle
    }
    var texts = [filePath] + dataFilePaths
    let flat = options?.flat ?? []
    texts += flat.flatMap { [$0.backend, $0.option.key, $0.option.stringValue ?? ""] }
    let number = try withCStrings(texts) { texts -> ExecuTorchModule in
      var files = texts[1..<(1 + dataFilePaths.count)].map { path -> ExecuTorchSource in
        var source = ExecuTorchSource()
        source.path = path
        return source
      }
      var settings: [ExecuTorchOption] = []
      for (index, entry) in flat.enumerated() {
        let first = 1 + dataFilePaths.count + 3 * index
        settings.append(
          ExecuTorchOption(
            backend: texts[first], key: texts[first + 1], kind: entry.option.kind,
            integer: entry.option.number, text: texts[first + 2]))
      }
      var given = ExecuTorchModuleOptions()
      withSize(&given, \.struct_size)
      given.program.path = texts[0]
      given.load_mode = Int32(loadMode.rawValue)
      given.num_data_files = files.count
      given.num_backend_options = settings.count
      var number: ExecuTorchModule = 0
      try files.withUnsafeMutableBufferPointer { files in
        try settings.withUnsafeBufferPointer { settings in
          given.data_files = UnsafePointer(files.baseAddress)
          given.backend_options = settings.baseAddress
          try check(api.module_load(&given, &number))
        }
      }
      return number
    }
    let made = Handle(number)
    handle = made
    return made
  }

  // ---- Execution

  @discardableResult
  public func execute(_ method: String, _ inputs: [ValueConvertible]) throws -> [Value] {
    try run(method, inputs.map { ($0.asValue(), nil) })
  }

  /// Inputs by their names in the program; outputs by theirs, or by "0", "1", ... where it has none.
  @discardableResult
  public func execute(_ method: String, named inputs: [String: ValueConvertible]) throws -> [String: Value] {
    let outputs = try run(method, inputs.map { ($0.value.asValue(), $0.key) })
    var named: [String: Value] = [:]
    for (index, output) in outputs.enumerated() {
      let name = text(try valueInfo(method, EXECUTORCH_OUTPUT, index).name)
      named[name.isEmpty ? "\(index)" : name] = output
    }
    return named
  }

  private func run(_ method: String, _ inputs: [(value: Value, name: String?)]) throws -> [Value] {
    let number = try loaded().number
    let texts = inputs.flatMap { [$0.value.string ?? "", $0.name ?? ""] }
    return try withCStrings(texts) { texts in
      let given = inputs.enumerated().map { index, input -> ExecuTorchValue in
        var value = input.value.inC(text: texts[2 * index])
        value.name = input.name == nil ? nil : texts[2 * index + 1]
        return value
      }
      try check(api.load_method(number, method, nil, 0))
      var outputs = [ExecuTorchValue](repeating: ExecuTorchValue(), count: try methodInfo(method).num_outputs)
      try withExtendedLifetime(inputs) {
        try check(api.execute(number, method, given, given.count, &outputs, outputs.count))
      }
      return try outputs.map { try Value(copying: $0) }
    }
  }

  // ---- Inputs and outputs that stay

  public func setInput(_ value: ValueConvertible, for method: String = "forward", at index: Int = 0) throws {
    let given = value.asValue()
    try withCStrings([given.string ?? ""]) { texts in
      var input = given.inC(text: texts[0])
      try check(api.set_input(loaded().number, method, index, &input))
    }
  }

  public func setInputs(_ values: [ValueConvertible], for method: String = "forward") throws {
    for (index, value) in values.enumerated() { try setInput(value, for: method, at: index) }
  }

  public func setInputs(_ values: ValueConvertible..., for method: String = "forward") throws {
    try setInputs(values, for: method)
  }

  /// Has an output written to the memory of a tensor, where the memory plan leaves it to the caller.
  public func setOutput(_ value: ValueConvertible, for method: String = "forward", at index: Int = 0) throws {
    let tensor = try AnyTensor.from(value.asValue())
    try check(api.set_output(loaded().number, method, index, tensor.handle.number))
  }
}

extension Value {
  /// `text` is the value's own, if it is one, and stays as long as the result is used.
  func inC(text: UnsafePointer<CChar>?) -> ExecuTorchValue {
    var value = ExecuTorchValue()
    value.kind = Int32(tag.rawValue)
    switch content {
    case .none: break
    case .tensor(let tensor): value.tensor = tensor.handle.number
    case .string(let string):
      value.text = text
      value.text_size = string.utf8.count
    case .double(let number): value.number = number
    case .integer(let number): value.integer = Int64(number)
    case .boolean(let isTrue): value.integer = isTrue ? 1 : 0
    }
    return value
  }

  /// The module's outputs change with its next execution; the copy does not.
  convenience init(copying value: ExecuTorchValue) throws {
    switch ValueTag(rawValue: UInt32(value.kind)) {
    case .tensor:
      var copy: ExecuTorchTensor = 0
      try check(api.tensor_copy(value.tensor, &copy))
      let tensor = AnyTensor(Handle(copy), .dynamicBound)
      self.init(tensor.info.dynamism == 0 ? AnyTensor(tensor.handle, .static) : tensor)
    case .string:
      let bytes = UnsafeRawBufferPointer(start: value.text, count: value.text_size)
      self.init(String(decoding: bytes, as: UTF8.self))
    case .double: self.init(value.number)
    case .integer: self.init(Int(value.integer))
    case .boolean: self.init(value.integer != 0)
    default: self.init()
    }
  }
}
