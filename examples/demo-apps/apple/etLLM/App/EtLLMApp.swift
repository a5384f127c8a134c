// SPDX-License-Identifier: BSD-3-Clause
import SwiftUI

@main
struct EtLLMApp: App {
  var body: some Scene {
    WindowGroup("etLLM") { ChatScreen() }
  }
}
