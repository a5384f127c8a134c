// SPDX-License-Identifier: BSD-3-Clause
// The screen: model and tokenizer, the conversation, a prompt. What it does stands in Chat.
import Chat
import SwiftUI

struct ChatScreen: View {
  @State private var chat = Chat()
  @State private var prompt = ""
  @State private var isChoosing = false

  var body: some View {
    NavigationStack {
      VStack {
        conversation
        Text(chat.status).font(.footnote).foregroundStyle(.secondary)
        entry
      }
      .padding()
      .navigationTitle("etLLM")
      .toolbar {
        Button("Model") { isChoosing = true }
        Button("New chat") { chat.clear() }
      }
      .sheet(isPresented: $isChoosing) { ModelScreen(chat: chat) }
    }
  }

  private var conversation: some View {
    ScrollViewReader { reader in
      ScrollView {
        LazyVStack(alignment: .leading, spacing: 12) {
          ForEach(chat.turns) { turn in
            VStack(alignment: .leading) {
              Text(turn.author == .user ? "You" : "Model").font(.caption).foregroundStyle(.secondary)
              Text(turn.text).textSelection(.enabled)
            }
          }
        }
        .frame(maxWidth: .infinity, alignment: .leading)
      }
      .onChange(of: chat.turns.last?.text) { _, _ in reader.scrollTo(chat.turns.last?.id, anchor: .bottom) }
    }
  }

  private var entry: some View {
    HStack {
      TextField("Message", text: $prompt, axis: .vertical).onSubmit(send)
      if chat.isAnswering {
        Button("Stop") { chat.stop() }
      } else {
        Button("Send", action: send).disabled(!chat.isLoaded || prompt.isEmpty)
      }
    }
  }

  private func send() {
    let text = prompt
    prompt = ""
    Task { await chat.send(text) }
  }
}
