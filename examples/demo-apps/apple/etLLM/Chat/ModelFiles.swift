// SPDX-License-Identifier: BSD-3-Clause
// Programs and tokenizers in a folder: on a phone the app's documents, which Finder and Files fill.
import Foundation

public struct ModelFiles {
  public let models: [URL]
  public let tokenizers: [URL]

  public init(folder: URL = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0]) {
    let found = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let files = found.sorted { $0.lastPathComponent < $1.lastPathComponent }
    models = files.filter { $0.pathExtension == "pte" }
    tokenizers = files.filter {
      ["json", "model", "bin"].contains($0.pathExtension) && !$0.lastPathComponent.hasSuffix("config.json")
    }
  }
}
