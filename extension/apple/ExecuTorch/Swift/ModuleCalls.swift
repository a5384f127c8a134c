// SPDX-License-Identifier: BSD-3-Clause
// The spellings of Module's calls: arrays or lists of inputs, outputs as values or as a type, and with await.
import Foundation

extension Module {
  @discardableResult
  public func execute(_ method: String, _ inputs: ValueConvertible...) throws -> [Value] {
    try execute(method, inputs)
  }
  public func execute<Output: ValueSequenceConstructible>(
    _ method: String, _ inputs: [ValueConvertible]
  ) throws -> Output { try Output.from(execute(method, inputs) as [Value]) }
  public func execute<Output: ValueSequenceConstructible>(
    _ method: String, _ inputs: ValueConvertible...
  ) throws -> Output { try Output.from(execute(method, inputs) as [Value]) }

  @discardableResult
  public func forward(_ inputs: [ValueConvertible]) throws -> [Value] { try execute("forward", inputs) }
  @discardableResult
  public func forward(_ inputs: ValueConvertible...) throws -> [Value] { try execute("forward", inputs) }
  public func forward<Output: ValueSequenceConstructible>(_ inputs: [ValueConvertible]) throws -> Output {
    try Output.from(execute("forward", inputs) as [Value])
  }
  public func forward<Output: ValueSequenceConstructible>(_ inputs: ValueConvertible...) throws -> Output {
    try Output.from(execute("forward", inputs) as [Value])
  }
  @discardableResult
  public func forward(named inputs: [String: ValueConvertible]) throws -> [String: Value] {
    try execute("forward", named: inputs)
  }

  // ---- With await: calls of one module wait for each other, and for no thread of the caller's. A task that is cancelled
  // before its turn throws CancellationError; a method that runs is not interrupted.

  @discardableResult
  public func execute(_ method: String, _ inputs: [ValueConvertible]) async throws -> [Value] {
    try Task.checkCancellation()
    let cancelled = Cancelled()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async {
          continuation.resume(with: Result {
            if cancelled.isSet { throw CancellationError() }
            return try self.execute(method, inputs)
          })
        }
      }
    } onCancel: { cancelled.set() }
  }
  @discardableResult
  public func execute(_ method: String, _ inputs: ValueConvertible...) async throws -> [Value] {
    try await execute(method, inputs)
  }
  public func execute<Output: ValueSequenceConstructible>(
    _ method: String, _ inputs: ValueConvertible...
  ) async throws -> Output { try Output.from(await execute(method, inputs) as [Value]) }
  @discardableResult
  public func forward(_ inputs: [ValueConvertible]) async throws -> [Value] { try await execute("forward", inputs) }
  @discardableResult
  public func forward(_ inputs: ValueConvertible...) async throws -> [Value] { try await execute("forward", inputs) }
  public func forward<Output: ValueSequenceConstructible>(_ inputs: ValueConvertible...) async throws -> Output {
    try Output.from(await execute("forward", inputs) as [Value])
  }
}

/// Set by one thread, read by another.
final class Cancelled: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false
  var isSet: Bool { lock.withLock { value } }
  func set() { lock.withLock { value = true } }
}
