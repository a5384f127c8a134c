// SPDX-License-Identifier: BSD-3-Clause
// How an answer is made, and of which inputs.
import CExecuTorch
import ExecuTorch
import Foundation

public let ErrorDomain = "org.pytorch.executorch.llm.error"

/// Settings of one answer. `Config { $0.temperature = 0.8; $0.sequenceLength = 2048 }`.
public final class Config {
  /// Whether the prompt is given to the callback, too.
  public var isEchoEnabled = true
  /// At most so many tokens are made; -1: as many as there is room for.
  public var maximumNewTokens = -1
  /// Whether this is a run whose text nobody sees.
  public var isWarming = false
  /// At most so many tokens of prompt and answer together; -1: the model's limit.
  public var sequenceLength = -1
  /// 0 takes the best token.
  public var temperature = 0.8
  /// How often the tokenizer's first and last token go around the prompt.
  public var bosCount = 0
  public var eosCount = 0
  /// The same answers in each run.
  public var seed: UInt64?
  /// The answer ends before any of these.
  public var stops: [String] = []
  /// A JSON schema that the answer follows.
  public var jsonSchema: String?
  /// How a conversation is written where program and tokenizer do not say: chatml, llama3 or gemma.
  public var chatFormat: String?

  public init() {}
  public init(_ change: (Config) -> Void) { change(self) }

  public func copy() -> Config {
    Config {
      $0.isEchoEnabled = isEchoEnabled
      $0.maximumNewTokens = maximumNewTokens
      $0.isWarming = isWarming
      $0.sequenceLength = sequenceLength
      $0.temperature = temperature
      $0.bosCount = bosCount
      $0.eosCount = eosCount
      $0.seed = seed
      $0.stops = stops
      $0.jsonSchema = jsonSchema
      $0.chatFormat = chatFormat
    }
  }
}

/// One part of a conversation. `role`: system, user or assistant.
public struct Message: Equatable {
  public var role: String
  public var content: String
  public init(role: String, content: String) {
    self.role = role
    self.content = content
  }
}

/// Pixels, channels first: bytes or floats.
public struct Image {
  public let data: Data
  public let width: Int
  public let height: Int
  public let channels: Int
  public let isFloat: Bool
  public init(data: Data, width: Int, height: Int, channels: Int) {
    (self.data, self.width, self.height, self.channels, isFloat) = (data, width, height, channels, false)
  }
  public init(floatData: Data, width: Int, height: Int, channels: Int) {
    (data, self.width, self.height, self.channels, isFloat) = (floatData, width, height, channels, true)
  }
}

/// Features of sound: bytes or floats.
public struct Audio {
  public let data: Data
  public let batchSize: Int
  public let bins: Int
  public let frames: Int
  public let isFloat: Bool
  public init(data: Data, batchSize: Int, bins: Int, frames: Int) {
    (self.data, self.batchSize, self.bins, self.frames, isFloat) = (data, batchSize, bins, frames, false)
  }
  public init(floatData: Data, batchSize: Int, bins: Int, frames: Int) {
    (data, self.batchSize, self.bins, self.frames, isFloat) = (floatData, batchSize, bins, frames, true)
  }
  /// As documents spell it.
  public init(float data: Data, batchSize: Int, bins: Int, frames: Int) {
    self.init(floatData: data, batchSize: batchSize, bins: bins, frames: frames)
  }
}

public enum MultimodalInputType: Int {
  case text = 0, image, audio, unsupported
}

public struct MultimodalInput {
  public let text: String?
  public let image: Image?
  public let audio: Audio?
  public init(_ text: String) { (self.text, image, audio) = (text, nil, nil) }
  public init(_ image: Image) { (text, self.image, audio) = (nil, image, nil) }
  public init(_ audio: Audio) { (text, image, self.audio) = (nil, nil, audio) }
  public var type: MultimodalInputType {
    if text != nil { return .text }
    return image != nil ? .image : .audio
  }
}
