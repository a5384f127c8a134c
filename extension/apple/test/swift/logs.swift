// SPDX-License-Identifier: BSD-3-Clause
// What a sink gets while a language model is loaded and answers: level, file and message on lines. usage: logs PROGRAM TOKENIZER
import ExecuTorch
import ExecuTorchLLM
import Foundation

final class Lines: LogSink {
  let arrived = DispatchSemaphore(value: 0)

  func log(level: LogLevel, timestamp: TimeInterval, filename: String, line: UInt, message: String) {
    precondition(timestamp >= 0 && timestamp < 600 && line > 0)
    if filename == "end" { arrived.signal() } else { print(level, filename, message, separator: "\t") }
  }
}

@main struct Logs {
  static func main() throws {
    let words = CommandLine.arguments
    let sink = Lines()
    Log.shared.add(sink: sink)
    let runner = TextRunner(modelPath: words[1], tokenizerPath: words[2])
    try runner.generate("The capital of France is", Config { $0.maximumNewTokens = 2 })
    Log.shared.log(level: .info, timestamp: 0, filename: "end", line: 1, message: "")
    sink.arrived.wait()
    Log.shared.remove(sink: sink)
    try runner.load()
  }
}
