// SPDX-License-Identifier: BSD-3-Clause
// Language models: a prompt goes in, pieces of text come out. This API is experimental.
import ExecuTorch
import Foundation

/// Nothing is loaded before it is needed. Answers go behind what was said before, until reset().
public final class TextRunner: @unchecked Sendable {
  let session: TextSession
  private let queue = DispatchQueue(label: "org.pytorch.executorch.llm")
  private let specialTokens: [String]

  /// `specialTokens`: of tokenizers whose files do not name theirs; see load().
  public init(modelPath: String, tokenizerPath: String, specialTokens: [String] = []) {
    session = TextSession(modelPath, tokenizerPath)
    self.specialTokens = specialTokens
  }

  public func isLoaded() -> Bool { session.isLoaded }

  /// Special tokens are those of the tokenizer's file, as all of today's files have them.
  public func load() throws { try session.load() }

  /// Calls back on this thread with each piece of whole characters. Appends to the context.
  @discardableResult
  public func generate(
    _ prompt: String, _ config: Config = Config(), tokenCallback: ((String) -> Void)? = nil
  ) throws -> Answer {
    try session.generate(prompt, config) {
      tokenCallback?($0)
      return true
    }
  }

  /// Answers a whole conversation; what it shares with the context is not computed again.
  @discardableResult
  public func chat(
    _ messages: [Message], _ config: Config = Config(), tokenCallback: ((String) -> Void)? = nil
  ) throws -> Answer {
    try session.chat(messages, config) {
      tokenCallback?($0)
      return true
    }
  }

  /// The answer, piece by piece: `for try await piece in runner.tokens("Once upon a time")`. It ends when the loop or its task
  /// does.
  public func tokens(_ prompt: String, _ config: Config = Config()) -> AsyncThrowingStream<String, Swift.Error> {
    stream { try self.session.generate(prompt, config, $0, $1) }
  }

  public func tokens(_ messages: [Message], _ config: Config = Config()) -> AsyncThrowingStream<String, Swift.Error> {
    stream { try self.session.chat(messages, config, $0, $1) }
  }

  private func stream(
    _ answer: @escaping (Turn, @escaping (String) -> Bool) throws -> Answer
  ) -> AsyncThrowingStream<String, Swift.Error> {
    AsyncThrowingStream { continuation in
      let turn = Turn()
      continuation.onTermination = { reason in
        if case .cancelled = reason { turn.cancel { self.session.stop() } }
      }
      queue.async {
        do {
          _ = try answer(turn) { piece in
            if case .terminated = continuation.yield(piece) { return false }
            return true
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
    }
  }

  /// Ends an answer, from any thread. No effect before load().
  public func stop() { session.stop() }

  /// Ends an answer, if one is being made, and forgets the context.
  public func reset() { session.reset() }
}

/// The documents' name of TextRunner.
public typealias TextLLMRunner = TextRunner

/// Takes text; images and sound are refused with a sentence as long as the C interface has none.
/// - Warning: This API is experimental.
@available(*, deprecated, message: "This API is experimental: it takes text alone, as TextRunner does.")
public final class MultimodalRunner: @unchecked Sendable {
  private let session: TextSession

  public init(modelPath: String, tokenizerPath: String) { session = TextSession(modelPath, tokenizerPath) }

  public func isLoaded() -> Bool { session.isLoaded }
  public func load() throws { try session.load() }

  @discardableResult
  public func generate(
    _ inputs: [MultimodalInput], _ config: Config = Config(), tokenCallback: ((String) -> Void)? = nil
  ) throws -> Answer {
    let texts = try inputs.enumerated().map { index, input -> String in
      guard let text = input.text else {
        throw ErrorCode(.notSupported, "input \(index) is \(input.type); the C interface takes text alone")
      }
      return text
    }
    return try session.generate(texts.joined(), config) {
      tokenCallback?($0)
      return true
    }
  }

  public func stop() { session.stop() }
  public func reset() { session.reset() }
}
