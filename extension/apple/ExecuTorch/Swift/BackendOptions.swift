// SPDX-License-Identifier: BSD-3-Clause
// Options of backends, checked when they are made.
import CExecuTorch
import Foundation

public enum BackendOptionType: Int {
  case boolean = 0, integer, string
}

public struct BackendOption: Hashable, CustomStringConvertible {
  enum Content: Hashable { case boolean(Bool), integer(Int), string(String) }
  public let key: String
  let content: Content

  public init(_ key: String, _ value: Bool) { (self.key, content) = (key, .boolean(value)) }
  public init(_ key: String, _ value: Int) { (self.key, content) = (key, .integer(value)) }
  public init(_ key: String, _ value: String) { (self.key, content) = (key, .string(value)) }

  public var type: BackendOptionType {
    switch content {
    case .boolean: return .boolean
    case .integer: return .integer
    case .string: return .string
    }
  }
  public var boolValue: Bool { content == .boolean(true) }
  public var intValue: Int { if case .integer(let value) = content { return value } else { return 0 } }
  public var stringValue: String? { if case .string(let value) = content { return value } else { return nil } }

  var kind: Int32 {
    switch type {
    case .boolean: return Int32(EXECUTORCH_BOOLEAN.rawValue)
    case .integer: return Int32(EXECUTORCH_INT.rawValue)
    case .string: return Int32(EXECUTORCH_STRING.rawValue)
    }
  }
  var number: Int32 { boolValue ? 1 : Int32(intValue) }
  var text: String {
    switch content {
    case .boolean(let value): return "\(key)=\(value) (bool)"
    case .integer(let value): return "\(key)=\(value) (int)"
    case .string(let value): return "\(key)=\"\(value)\" (string)"
    }
  }
  public var description: String { "<ExecuTorchBackendOption \(text)>" }
}

/// Options of each backend by its name.
public final class BackendOptionsMap: CustomStringConvertible {
  public let options: [String: [BackendOption]]

  /// InvalidArgument with the reason: see the limits in runtime/backend/options.h.
  public init(options: [String: [BackendOption]]) throws {
    func refuse(_ reason: String) -> ErrorCode { ErrorCode(.invalidArgument, reason) }
    guard options.count <= 8 else { throw refuse("\(options.count) backends; limit is 8") }
    for (backend, given) in options {
      guard !backend.isEmpty else { throw refuse("backend id is empty") }
      guard backend.utf8.count <= 63 else {
        throw refuse("backend id '\(backend)' is \(backend.utf8.count) bytes; limit is 63")
      }
      var keys: Set<String> = []
      for option in given {
        let place = "option key '\(option.key)' for backend '\(backend)'"
        guard !option.key.isEmpty else { throw refuse("option key for backend '\(backend)' is empty") }
        guard option.key.utf8.count <= 63 else { throw refuse("\(place) is \(option.key.utf8.count) bytes; limit is 63") }
        guard keys.insert(option.key).inserted else { throw refuse("\(place) is given twice") }
        guard Int32(exactly: option.intValue) != nil else {
          throw refuse("\(place) is \(option.intValue), which does not fit into 32 bits")
        }
        let size = option.stringValue?.utf8.count ?? 0
        guard size <= 255 else { throw refuse("the text of \(place) is \(size) bytes; limit is 255") }
      }
    }
    self.options = options
  }

  var flat: [(backend: String, option: BackendOption)] {
    options.flatMap { backend, options in options.map { (backend, $0) } }
  }

  public var description: String {
    let entries = options.sorted { $0.key < $1.key }.map { backend, options in
      "\(backend)=[\(options.map(\.text).joined(separator: ", "))]"
    }
    return "<ExecuTorchBackendOptionsMap \(entries.isEmpty ? "(empty)" : entries.joined(separator: ", "))>"
  }
}
