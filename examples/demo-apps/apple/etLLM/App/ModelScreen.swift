// SPDX-License-Identifier: BSD-3-Clause
// A program and its tokenizer, of those in the app's documents.
import Chat
import SwiftUI

struct ModelScreen: View {
  let chat: Chat
  @Environment(\.dismiss) private var dismiss
  @State private var model: URL?
  @State private var tokenizer: URL?
  @State private var format: String?
  private let files = ModelFiles()

  var body: some View {
    Form {
      picker("Model", files.models, $model)
      picker("Tokenizer", files.tokenizers, $tokenizer)
      Picker("Chat format", selection: $format) {
        Text("The model's").tag(String?.none)
        ForEach(Chat.formats, id: \.self) { Text($0).tag(Optional($0)) }
      }
      Button("Load") {
        guard let model, let tokenizer else { return }
        Task { await chat.load(model: model, tokenizer: tokenizer, format: format) }
        dismiss()
      }
      .disabled(model == nil || tokenizer == nil)
    }
  }

  private func picker(_ name: String, _ files: [URL], _ chosen: Binding<URL?>) -> some View {
    Picker(name, selection: chosen) {
      Text("None").tag(URL?.none)
      ForEach(files, id: \.self) { Text($0.lastPathComponent).tag(Optional($0)) }
    }
  }
}
