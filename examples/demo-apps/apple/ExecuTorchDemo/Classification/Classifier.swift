// SPDX-License-Identifier: BSD-3-Clause
// A program that gives one number for each of its labels.
import ExecuTorch
import Foundation

public struct Guess: Equatable {
  public let label: String
  public let probability: Float
}

public struct WrongNumberOfLabels: Error, CustomStringConvertible {
  let labels: Int
  let outputs: Int
  public var description: String { "the model has \(outputs) outputs, the file of labels \(labels) lines" }
}

public final class Classifier: @unchecked Sendable {
  private let module: Module
  private let labels: [String]

  /// `labels`: a text file, one label a line.
  public init(model: URL, labels: URL) throws {
    module = Module(filePath: model.path)
    let text = try String(contentsOf: labels, encoding: .utf8)
    self.labels = text.split(separator: "\n").map { String($0).trimmingCharacters(in: .whitespaces) }
  }

  /// The likeliest labels, first that which is most so.
  public func classify(_ picture: Picture, top: Int = 3) throws -> [Guess] {
    let output: Tensor<Float> = try module.forward(picture.tensor())
    let logits = output.scalars()
    guard logits.count == labels.count else {
      throw WrongNumberOfLabels(labels: labels.count, outputs: logits.count)
    }
    return Classifier.best(logits, labels, top)
  }

  static func best(_ logits: [Float], _ labels: [String], _ top: Int) -> [Guess] {
    let greatest = logits.max() ?? 0
    let weights = logits.map { exp($0 - greatest) }
    let sum = weights.reduce(0, +)
    let order = logits.indices.sorted { (logits[$0], $1) > (logits[$1], $0) }  // of equal ones the first
    return order.prefix(top).map { Guess(label: labels[$0], probability: weights[$0] / sum) }
  }
}
