// SPDX-License-Identifier: BSD-3-Clause
// EXECUTORCH_PROGRAMS: a folder with a picture as bytes, what PyTorch makes of it as floats, a program, its labels and what
// PyTorch computes.
import ExecuTorch
import XCTest

@testable import Classification

final class ClassificationTest: XCTestCase {
  private let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["EXECUTORCH_PROGRAMS"] ?? "/nowhere")

  private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  private func picture() throws -> Picture {
    let size = try String(contentsOf: file("size.txt"), encoding: .utf8).split(separator: " ").compactMap { Int($0) }
    return Picture(width: size[0], height: size[1], pixels: [UInt8](try Data(contentsOf: file("picture.rgba"))))
  }

  func testAPictureBecomesTheTensorOfPyTorch() throws {
    let expected = try Data(contentsOf: file("tensor.f32")).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    let tensor = try picture().tensor()
    XCTAssertEqual(tensor.shape, [1, 3, 224, 224])
    XCTAssertEqual(tensor.count, expected.count)
    let greatest = zip(tensor.scalars(), expected).map { abs($0 - $1) }.max() ?? .infinity
    print("greatest difference \(greatest)")
    XCTAssertLessThan(greatest, 1e-4)
  }

  func testTheLikeliestLabels() throws {
    let lines = try String(contentsOf: file("best.txt"), encoding: .utf8).split(separator: "\n")
    let guesses = try Classifier(model: file("classes.pte"), labels: file("labels.txt")).classify(picture())
    XCTAssertEqual(guesses.count, 3)
    for (guess, line) in zip(guesses, lines) {
      let expected = line.split(separator: " ")
      XCTAssertEqual(guess.label, String(expected[0]))
      XCTAssertEqual(guess.probability, Float(expected[1])!, accuracy: 1e-4)
    }
  }

  func testEqualOnesAreInOrderAndAllMayBeAsked() {
    let guesses = Classifier.best([0, 1, 1], ["a", "b", "c"], 9)
    XCTAssertEqual(guesses.map(\.label), ["b", "c", "a"])
    // e / (1 + 2 e) and 1 / (1 + 2 e)
    XCTAssertEqual(guesses[0].probability, 0.42232, accuracy: 1e-5)
    XCTAssertEqual(guesses[2].probability, 0.15536, accuracy: 1e-5)
  }

  func testWhatIsWrongIsSaid() throws {
    let wrong = folder.appendingPathComponent("two.txt")
    try "one\ntwo\n".write(to: wrong, atomically: true, encoding: .utf8)
    XCTAssertThrowsError(try Classifier(model: file("classes.pte"), labels: wrong).classify(picture())) { error in
      XCTAssertEqual("\(error)", "the model has 5 outputs, the file of labels 2 lines")
    }
    XCTAssertThrowsError(try Classifier(model: file("none.pte"), labels: wrong).classify(picture())) { error in
      XCTAssertTrue("\(error)".contains("none.pte"), "\(error)")
    }
  }
}
