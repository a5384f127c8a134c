// SPDX-License-Identifier: BSD-3-Clause
// A session of the C interface: loaded when needed, its answers given piece by piece.
import CExecuTorch
import ExecuTorch
import Foundation

private let api = executorch_get_api(2)!.pointee

private func check(_ status: ExecuTorchStatus) throws {
  guard status != 0 else { return }
  defer { _ = api.release(status) }
  let code = ErrorCode.Code(rawValue: Int(api.status_code(status))) ?? .internal
  throw ErrorCode(code, api.status_message(status).map { String(cString: $0) })
}

/// Why an answer ended, and what it took.
public struct Answer {
  public enum Reason: Int32 {
    case nothing = 0, endOfText, length, contextFull, stopped, stopText
  }
  public let reason: Reason
  public let promptTokens: Int
  public let newTokens: Int
  public let promptSeconds: Double
  public let answerSeconds: Double
}

private final class Receiver {
  let take: (String) -> Bool
  init(_ take: @escaping (String) -> Bool) { self.take = take }
}

/// An answer that may wait for others: whether it is being made, and whether it is still wanted.
final class Turn: @unchecked Sendable {
  private let lock = NSLock()
  private var isCancelled = false
  private var isRunning = false

  /// False if nobody wants the answer any more.
  func begin() -> Bool {
    lock.withLock {
      isRunning = !isCancelled
      return isRunning
    }
  }

  func end() { lock.withLock { isRunning = false } }

  /// Calls `stop` if it would stop this answer and not another.
  func cancel(_ stop: () -> Void) {
    lock.withLock {
      isCancelled = true
      if isRunning { stop() }
    }
  }
}

final class TextSession: @unchecked Sendable {
  private let modelPath: String
  private let tokenizerPath: String
  private let lock = NSLock()
  private var handle: ExecuTorchText = 0
  /// Held while the session works: calls wait for each other, and reset() for an answer that it ends. A callback may call.
  private let calls = NSRecursiveLock()

  init(_ modelPath: String, _ tokenizerPath: String) {
    self.modelPath = modelPath
    self.tokenizerPath = tokenizerPath
  }

  deinit { _ = api.release(handle) }

  var isLoaded: Bool { number != 0 }
  private var number: ExecuTorchText { lock.withLock { handle } }

  @discardableResult
  func load() throws -> ExecuTorchText {
    lock.lock()
    defer { lock.unlock() }
    guard handle == 0 else { return handle }
    var options = ExecuTorchTextOptions()
    options.struct_size = MemoryLayout<ExecuTorchTextOptions>.size
    try modelPath.withCString { program in
      try tokenizerPath.withCString { tokenizer in
        options.program = program
        options.tokenizer = tokenizerPath.isEmpty ? nil : tokenizer
        try check(api.text_new(&options, 1, &handle))
      }
    }
    return handle
  }

  func stop() {
    let session = number
    if session != 0 { _ = api.release(api.text_stop(session)) }
  }

  func reset() {
    stop()
    calls.lock()
    defer { calls.unlock() }
    let session = number
    if session != 0 { _ = api.release(api.text_rewind(session, 0)) }
  }

  /// `onText` gets each piece, of whole characters; false ends the answer.
  func generate(
    _ prompt: String, _ config: Config, _ turn: Turn = Turn(), _ onText: @escaping (String) -> Bool
  ) throws -> Answer {
    calls.lock()
    defer { calls.unlock() }
    guard turn.begin() else { return try answer(ExecuTorchTextResult()) }
    defer { turn.end() }
    let session = try load()
    if config.isEchoEnabled, !config.isWarming, !onText(prompt) { return try answer(ExecuTorchTextResult()) }
    var room = config.maximumNewTokens
    if config.sequenceLength >= 0 {
      let left = config.sequenceLength - (try tokens(session, prompt)) - (try position(session))
      guard left > 0 else {
        throw ErrorCode(.invalidArgument, "the prompt leaves no room in a sequence of \(config.sequenceLength) tokens")
      }
      room = room < 0 ? left : min(room, left)
    }
    return try run(config, room, onText) { api.text_generate(session, prompt, $0, $1) }
  }

  /// Answers a conversation by the chat format of the program.
  func chat(
    _ messages: [Message], _ config: Config, _ turn: Turn = Turn(), _ onText: @escaping (String) -> Bool
  ) throws -> Answer {
    calls.lock()
    defer { calls.unlock() }
    guard turn.begin() else { return try answer(ExecuTorchTextResult()) }
    defer { turn.end() }
    let session = try load()
    let texts = messages.flatMap { [strdup($0.role), strdup($0.content)] }
    defer { texts.forEach { free($0) } }
    let given = messages.indices.map { index in
      ExecuTorchMessage(role: UnsafePointer(texts[2 * index]), content: UnsafePointer(texts[2 * index + 1]))
    }
    return try run(config, config.maximumNewTokens, onText) {
      api.text_chat(session, given, given.count, config.chatFormat, $0, $1)
    }
  }

  private typealias Call = (
    UnsafePointer<ExecuTorchGenerateOptions>, UnsafeMutablePointer<ExecuTorchTextResult>
  ) -> ExecuTorchStatus

  private func run(
    _ config: Config, _ room: Int, _ onText: @escaping (String) -> Bool, _ call: Call
  ) throws -> Answer {
    var options = ExecuTorchGenerateOptions()
    options.struct_size = MemoryLayout<ExecuTorchGenerateOptions>.size
    options.max_new_tokens = Int32(clamping: max(room, 0))
    options.num_bos = Int32(config.bosCount)
    options.num_eos = Int32(config.eosCount)
    options.has_seed = config.seed == nil ? 0 : 1
    options.seed = config.seed ?? 0
    let receiver = Receiver { config.isWarming || onText($0) }
    options.context = Unmanaged.passUnretained(receiver).toOpaque()
    options.on_text = { context, text, size in
      let bytes = UnsafeRawBufferPointer(start: text, count: size)
      let receiver = Unmanaged<Receiver>.fromOpaque(context!).takeUnretainedValue()
      return receiver.take(String(decoding: bytes, as: UTF8.self)) ? 0 : 1
    }
    let words = (["temperature", "json_schema", config.jsonSchema ?? ""] + config.stops).map { strdup($0) }
    defer { words.forEach { free($0) } }
    if config.jsonSchema != nil {
      options.grammar_type = UnsafePointer(words[1])
      options.grammar = UnsafePointer(words[2])
    }
    var result = ExecuTorchTextResult()
    result.struct_size = MemoryLayout<ExecuTorchTextResult>.size
    var sampling = ExecuTorchSetting(name: UnsafePointer(words[0]), value: config.temperature)
    let stops = words[3...].map { UnsafePointer<CChar>($0) }
    try stops.withUnsafeBufferPointer { stops in
      try withUnsafePointer(to: &sampling) { sampling in
        options.stops = stops.baseAddress
        options.num_stops = stops.count
        options.sampling = sampling
        options.num_sampling = 1
        try withExtendedLifetime(receiver) { try check(call(&options, &result)) }
      }
    }
    return try answer(result)
  }

  private func answer(_ result: ExecuTorchTextResult) throws -> Answer {
    Answer(
      reason: Answer.Reason(rawValue: result.reason) ?? .nothing, promptTokens: Int(result.prompt_tokens),
      newTokens: Int(result.new_tokens), promptSeconds: result.prompt_seconds, answerSeconds: result.answer_seconds)
  }

  private func tokens(_ session: ExecuTorchText, _ prompt: String) throws -> Int {
    var count = 0
    try check(api.text_encode(session, prompt, nil, 0, &count))
    return count
  }

  private func position(_ session: ExecuTorchText) throws -> Int {
    var position: Int64 = 0
    try check(api.text_position(session, &position))
    return Int(position)
  }
}
