// SPDX-License-Identifier: BSD-3-Clause
// Loads, runs and releases COUNT times; prints KiB of resident memory, and bytes of the heap, that were more after it.
// usage: loads COUNT KEPT PROGRAM [TOKENIZER]: with a tokenizer a language model, else a module of two float [1] inputs.
// KEPT objects are not released, which must be seen.
import ExecuTorch
import ExecuTorchLLM
import Foundation
import Heap

struct Memory {
  let resident: Int
  let heap: Int

  init() throws {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    resident = Int(text.split(separator: " ")[1])! * Int(getpagesize()) / 1024
    let heap = mallinfo2()
    self.heap = Int(heap.uordblks + heap.hblkhd)
  }
}

@main struct Loads {
  static func main() throws {
    let words = CommandLine.arguments
    let count = Int(words[1])!
    var left = Int(words[2])!
    var kept: [AnyObject] = []
    let once = words.count > 4 ? { try text(words[3], words[4]) } : { try module(words[3]) }
    for _ in 0..<max(count / 10, 20) { _ = try once() }
    let before = try Memory()
    for _ in 0..<count {
      let object = try once()
      if left > 0 {
        kept.append(object)
        left -= 1
      }
    }
    let after = try Memory()
    print(after.resident - before.resident, after.heap - before.heap, before.resident)
    withExtendedLifetime(kept) {}
  }

  static func module(_ path: String) throws -> AnyObject {
    let module = Module(filePath: path)
    try module.load()
    let sum: Tensor<Float> = try module.forward(Tensor<Float>([1]), Tensor<Float>([2]))
    precondition(sum.scalars() == [3])
    precondition(module.unload("forward"))
    return module
  }

  static func text(_ path: String, _ tokenizer: String) throws -> AnyObject {
    let runner = TextRunner(modelPath: path, tokenizerPath: tokenizer)
    try runner.load()
    let config = Config { $0.maximumNewTokens = 2 }
    let answer = try runner.generate("The capital of France is", config)
    precondition(answer.newTokens == 2)
    runner.reset()
    return runner
  }
}
