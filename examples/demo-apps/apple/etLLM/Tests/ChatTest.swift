// SPDX-License-Identifier: BSD-3-Clause
// The chat with a small Llama, as the screen drives it. EXECUTORCH_PROGRAMS: a folder with llm.pte and llm.json.
import XCTest

@testable import Chat

@MainActor
final class ChatTest: XCTestCase {
  private let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["EXECUTORCH_PROGRAMS"] ?? "/nowhere")

  private func loaded(_ format: String? = "chatml", maximumNewTokens: Int = 8) async -> Chat {
    let chat = Chat(temperature: 0, maximumNewTokens: maximumNewTokens)
    let tokenizer = folder.appendingPathComponent("llm.json")
    await chat.load(model: folder.appendingPathComponent("llm.pte"), tokenizer: tokenizer, format: format)
    XCTAssertEqual(chat.status, "Loaded llm.pte.")
    return chat
  }

  func testTheFolderHasTheModelToPick() async {
    let files = ModelFiles(folder: folder)
    XCTAssertTrue(files.models.map(\.lastPathComponent).contains("llm.pte"))
    XCTAssertEqual(files.tokenizers.map(\.lastPathComponent), ["llm.json"])
    XCTAssertTrue(ModelFiles(folder: URL(fileURLWithPath: "/nowhere")).models.isEmpty)
  }

  func testAModelIsNeededFirst() async {
    let chat = Chat()
    await chat.send("hello")
    XCTAssertEqual(chat.status, "Load a model first.")
    XCTAssertTrue(chat.turns.isEmpty)
    chat.stop()
  }

  func testAFileThatIsNoneIsSaid() async {
    let chat = Chat()
    let none = folder.appendingPathComponent("none.pte")
    await chat.load(model: none, tokenizer: folder.appendingPathComponent("llm.json"))
    XCTAssertTrue(chat.status.contains("none.pte"), chat.status)
    XCTAssertFalse(chat.isLoaded)
  }

  func testAModelThatDoesNotSayHowItIsAsked() async {
    let chat = await loaded(nil)
    await chat.send("hello")
    XCTAssertTrue(chat.status.contains("name one of the formats \(Chat.formats.joined(separator: ", "))"), chat.status)
    XCTAssertEqual(chat.turns.map(\.author), [.user])
    XCTAssertFalse(chat.isAnswering)
  }

  func testAnswersGoBehindTheQuestion() async {
    let chat = await loaded()
    await chat.send(" hello ")
    XCTAssertEqual(chat.turns.map(\.author), [.user, .assistant])
    XCTAssertEqual(chat.turns[0].text, "hello")
    let first = chat.turns.last?.text ?? ""
    XCTAssertFalse(first.isEmpty)
    XCTAssertFalse(chat.isAnswering)
    XCTAssertTrue(chat.status.contains(" pieces, "), chat.status)
    await chat.send("and now?")
    XCTAssertEqual(chat.turns.map(\.id), [1, 2, 3, 4])
    XCTAssertEqual(chat.messages.map(\.role), ["user", "assistant", "user", "assistant"])
    chat.clear()
    XCTAssertTrue(chat.turns.isEmpty)
    await chat.send("hello")
    XCTAssertEqual(chat.turns.last?.text, first, "a new chat answers as the first")
    chat.system = "Be short."
    XCTAssertEqual(chat.messages.first?.role, "system")
    await chat.send("  ")
    XCTAssertEqual(chat.turns.count, 2)
  }

  func testAnswersComePieceByPieceAndCanBeStopped() async throws {
    let whole = await loaded(maximumNewTokens: 64)
    await whole.send("hello")
    let answer = whole.turns.last?.text ?? ""
    XCTAssertEqual(whole.turns.count, 2, whole.status)
    let chat = await loaded(maximumNewTokens: 64)
    var shown: [String] = []
    chat.onPiece = {
      shown.append(chat.turns[1].text)
      if shown.count == 2 { chat.stop() }
    }
    await chat.send("hello")
    XCTAssertEqual(shown.count, 2)
    XCTAssertTrue(shown[1].hasPrefix(shown[0]))
    let part = chat.turns.last?.text ?? ""
    XCTAssertFalse(part.isEmpty, chat.status)
    XCTAssertTrue(answer.hasPrefix(part))
    XCTAssertLessThan(part.count, answer.count)
    XCTAssertFalse(chat.isAnswering)
  }

  func testANewChatLeavesAnAnswerThatIsBeingMade() async {
    let chat = await loaded(maximumNewTokens: 64)
    chat.onPiece = { chat.clear() }
    await chat.send("hello")
    chat.onPiece = {}
    XCTAssertTrue(chat.turns.isEmpty)
    XCTAssertFalse(chat.isAnswering)
    await chat.send("hello")
    XCTAssertEqual(chat.turns.count, 2, chat.status)
  }

  func testSpeed() async {
    XCTAssertEqual(Chat.speed(20, 2), "20 pieces, 10.0/s")
    XCTAssertEqual(Chat.speed(3, 0), "3 pieces")
  }
}
