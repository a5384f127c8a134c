// SPDX-License-Identifier: BSD-3-Clause
// What the app does with a model. No view is known here, so that it runs in tests; views read its properties, which change
// on the main actor alone.
import ExecuTorchLLM
import Foundation
import Observation

public struct Turn: Identifiable, Equatable {
  public enum Author: String { case user, assistant }
  public let id: Int
  public let author: Author
  public internal(set) var text: String
}

@MainActor @Observable
public final class Chat {
  public private(set) var turns: [Turn] = []
  public private(set) var status = "Choose a model."
  public private(set) var isAnswering = false
  public var system = ""

  @ObservationIgnored private var runner: TextRunner?
  @ObservationIgnored private let config: Config
  @ObservationIgnored private var conversation = 0
  @ObservationIgnored private var isStopped = false
  @ObservationIgnored var onPiece: () -> Void = {}  // tests act between two pieces

  public init(temperature: Double = 0.8, maximumNewTokens: Int = 512) {
    config = Config {
      $0.temperature = temperature
      $0.maximumNewTokens = maximumNewTokens
      $0.isEchoEnabled = false
    }
  }

  public var isLoaded: Bool { runner != nil }

  /// How programs are asked whose files do not say it.
  public static let formats = ["chatml", "llama3", "gemma"]

  /// Frees an earlier model first: two may not fit into a phone.
  public func load(model: URL, tokenizer: URL, format: String? = nil) async {
    clear()
    runner = nil
    config.chatFormat = format
    status = "Loading \(model.lastPathComponent)…"
    let made = TextRunner(modelPath: model.path, tokenizerPath: tokenizer.path)
    do {
      try await Task.detached { try made.load() }.value
      runner = made
      status = "Loaded \(model.lastPathComponent)."
    } catch {
      status = "\(error)"
    }
  }

  /// Appends what the user wrote, and the answer as it comes. Ends when it is whole, stopped or cancelled.
  public func send(_ text: String) async {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty, !isAnswering else { return }
    guard let runner else {
      status = "Load a model first."
      return
    }
    append(.user, text)
    let asked = messages
    append(.assistant, "")
    (isAnswering, isStopped) = (true, false)
    status = "Answering…"
    let mine = conversation
    let started = Date()
    var pieces = 0
    var problem: String?
    do {
      for try await piece in runner.tokens(asked, config) {
        guard !isStopped else {
          runner.stop()
          continue
        }
        pieces += 1
        turns[turns.count - 1].text += piece
        onPiece()
      }
    } catch {
      problem = "\(error)"
    }
    isAnswering = false
    guard mine == conversation else { return }
    status = problem ?? Chat.speed(pieces, Date().timeIntervalSince(started))
    if turns[turns.count - 1].text.isEmpty { turns.removeLast() }
  }

  /// What was answered so far stays.
  public func stop() {
    isStopped = true
    runner?.stop()
  }

  /// Begins a new conversation. An answer that is being made ends at its next piece, which nobody sees; until then isAnswering
  /// stays true.
  public func clear() {
    conversation += 1
    turns = []
    stop()
    if isLoaded { status = "New chat." }
  }

  var messages: [Message] {
    let first = system.isEmpty ? [] : [Message(role: "system", content: system)]
    return first + turns.map { Message(role: $0.author.rawValue, content: $0.text) }
  }

  private func append(_ author: Turn.Author, _ text: String) {
    turns.append(Turn(id: (turns.last?.id ?? 0) + 1, author: author, text: text))
  }

  static func speed(_ pieces: Int, _ seconds: Double) -> String {
    seconds <= 0 ? "\(pieces) pieces" : String(format: "%d pieces, %.1f/s", pieces, Double(pieces) / seconds)
  }
}
