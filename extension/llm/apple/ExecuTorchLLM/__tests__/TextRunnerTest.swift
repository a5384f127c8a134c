// SPDX-License-Identifier: BSD-3-Clause
// Language models. EXECUTORCH_PROGRAMS is a folder with llm.pte and its tokenizer, llm.json; EXECUTORCH_ANSWER the 16 best
// tokens behind the prompt, by transformers.
import XCTest

import ExecuTorch
@testable import ExecuTorchLLM

final class TextRunnerTest: XCTestCase {
  private func runner() throws -> TextRunner {
    guard let folder = ProcessInfo.processInfo.environment["EXECUTORCH_PROGRAMS"],
      FileManager.default.fileExists(atPath: "\(folder)/llm.pte")
    else { throw XCTSkip("set EXECUTORCH_PROGRAMS to a folder with llm.pte and llm.json") }
    return TextLLMRunner(modelPath: "\(folder)/llm.pte", tokenizerPath: "\(folder)/llm.json", specialTokens: [])
  }

  private let prompt = "The capital of France is"
  private let greedy = Config {
    $0.temperature = 0
    $0.maximumNewTokens = 16
    $0.isEchoEnabled = false
  }

  func testConfig() {
    let config = Config()
    XCTAssertTrue(config.isEchoEnabled)
    XCTAssertFalse(config.isWarming)
    XCTAssertEqual([config.maximumNewTokens, config.sequenceLength, config.bosCount, config.eosCount], [-1, -1, 0, 0])
    XCTAssertEqual(config.temperature, 0.8)
    let copy = config.copy()
    copy.sequenceLength = 768
    XCTAssertEqual(config.sequenceLength, -1)
  }

  func testMissingFiles() {
    let runner = TextRunner(modelPath: "/nowhere/model.pte", tokenizerPath: "/nowhere/tokenizer.json")
    XCTAssertFalse(runner.isLoaded())
    runner.stop()
    runner.reset()
    XCTAssertThrowsError(try runner.generate("text")) { XCTAssertTrue("\($0)".contains("/nowhere"), "\($0)") }
  }

  func testAnswersResetsAndStops() async throws {
    let runner = try runner()
    var text = ""
    let answer = try runner.generate(prompt, greedy) { text += $0 }
    print("answer: \(text)")
    if let expected = ProcessInfo.processInfo.environment["EXECUTORCH_ANSWER"] { XCTAssertEqual(text, expected) }
    XCTAssertFalse(text.isEmpty)
    XCTAssertLessThanOrEqual(answer.newTokens, 16)
    XCTAssertGreaterThan(answer.promptTokens, 0)

    runner.reset()
    var again = ""
    for try await piece in runner.tokens(prompt, greedy) { again += piece }
    XCTAssertEqual(again, text)

    runner.reset()
    var echoed = ""
    let short = greedy.copy()
    short.isEchoEnabled = true
    short.sequenceLength = answer.promptTokens + 2
    XCTAssertEqual(try runner.generate(prompt, short) { echoed += $0 }.newTokens, 2)
    XCTAssertTrue(echoed.hasPrefix(prompt))

    runner.reset()
    let long = greedy.copy()
    long.maximumNewTokens = 200
    var pieces = 0
    let stopped = try runner.generate(prompt, long) { _ in
      pieces += 1
      if pieces == 3 { runner.stop() }
    }
    XCTAssertEqual(stopped.reason, .stopped)
    XCTAssertLessThan(pieces, 8)

    runner.reset()
    var taken = 0
    for try await _ in runner.tokens(prompt, long) {
      taken += 1
      if taken == 2 { break }
    }
    XCTAssertEqual(taken, 2)
    runner.reset()  // waits for the answer, which ends with the loop
    text = ""
    try runner.generate(prompt, greedy) { text += $0 }
    XCTAssertEqual(text, again)

    let schema = greedy.copy()
    schema.jsonSchema = #"{"enum": ["Paris", "Rome"]}"#
    runner.reset()
    text = ""
    try runner.generate(prompt, schema) { text += $0 }
    XCTAssertTrue([#""Paris""#, #""Rome""#].contains(text), text)
  }

  /// Another answer is being made meanwhile.
  func testCancelledBeforeItsTurn() async throws {
    let runner = try runner()
    let alone = try runner.generate(prompt, greedy)
    runner.reset()
    let (reached, go) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
    async let made = withCheckedThrowingContinuation { (done: CheckedContinuation<Answer, Swift.Error>) in
      DispatchQueue.global().async {
        var pieces = 0
        done.resume(
          with: Result {
            try runner.generate(self.prompt, self.greedy) { _ in
              pieces += 1
              if pieces == 1 {
                reached.continuation.finish()
                go.wait()
              }
            }
          })
      }
    }
    for await _ in reached.stream {}
    let waiting = Task {
      var text = ""
      for try await piece in runner.tokens(prompt, greedy) { text += piece }
      return text
    }
    try await Task.sleep(nanoseconds: 50_000_000)
    waiting.cancel()
    let text = try await waiting.value
    go.signal()
    let answer = try await made
    XCTAssertEqual(text, "")
    XCTAssertNotEqual(answer.reason, .stopped)
    XCTAssertEqual(answer.newTokens, alone.newTokens)
  }

  func testMultimodalInputs() {
    let image = Image(data: Data(count: 12), width: 2, height: 2, channels: 3)
    let audio = Audio(float: Data(count: 16), batchSize: 1, bins: 2, frames: 2)
    XCTAssertTrue(audio.isFloat)
    let inputs = [MultimodalInput("text"), MultimodalInput(image), MultimodalInput(audio)]
    XCTAssertEqual(inputs.map(\.type), [.text, .image, .audio])
    let runner = MultimodalRunner(modelPath: "/nowhere/model.pte", tokenizerPath: "")
    XCTAssertThrowsError(try runner.generate(inputs)) { XCTAssertTrue(ErrorCode.notSupported ~= $0) }
  }
}
