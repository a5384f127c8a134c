// SPDX-License-Identifier: BSD-3-Clause
import SwiftUI

@main
struct DemoApp: App {
  var body: some Scene {
    WindowGroup("ExecuTorchDemo") { PictureScreen() }
  }
}
