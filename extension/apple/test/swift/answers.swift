// SPDX-License-Identifier: BSD-3-Clause
// Answers each prompt, is cancelled in the middle of the last one, is stopped there, answers the first one again, and a
// question of a conversation; prints what came of it as JSON. usage: answers PROGRAM TOKENIZER TOKENS QUESTION PROMPT...
import ExecuTorchLLM
import Foundation

struct Report: Encodable {
  var answers: [String] = []
  var wholeSeconds = 0.0
  var cancelled = ""
  var secondsToStop = 0.0
  var stopped = ""
  var isStopped = false
  var again = ""
  var talk = ""
}

@main struct Answers {
  static func main() async throws {
    let words = CommandLine.arguments
    let prompts = Array(words[5...])
    let runner = TextRunner(modelPath: words[1], tokenizerPath: words[2])
    let config = Config {
      $0.temperature = 0
      $0.maximumNewTokens = Int(words[3])!
      $0.isEchoEnabled = false
    }
    var report = Report()
    for prompt in prompts {
      runner.reset()
      let start = Date()
      report.answers.append(try await text(runner.tokens(prompt, config)))
      report.wholeSeconds = -start.timeIntervalSinceNow
    }

    runner.reset()
    let (fifth, reached) = AsyncStream<Void>.makeStream()
    let task = Task {
      var pieces: [String] = []
      for try await piece in runner.tokens(prompts.last!, config) {
        pieces.append(piece)
        if pieces.count == 5 { reached.finish() }
      }
      return pieces.joined()
    }
    for await _ in fifth {}
    let start = Date()
    task.cancel()
    report.cancelled = try await task.value
    runner.reset()  // waits until the model has stopped
    report.secondsToStop = -start.timeIntervalSinceNow

    var pieces = 0
    let stopped = try runner.generate(prompts.last!, config) {
      report.stopped += $0
      pieces += 1
      if pieces == 3 { runner.stop() }
    }
    report.isStopped = stopped.reason == .stopped

    runner.reset()
    report.again = try await text(runner.tokens(prompts[0], config))
    report.talk = try await text(runner.tokens([Message(role: "user", content: words[4])], config))
    print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
  }

  static func text(_ pieces: AsyncThrowingStream<String, Error>) async throws -> String {
    var text = ""
    for try await piece in pieces { text += piece }
    return text
  }
}
