// SPDX-License-Identifier: BSD-3-Clause
// A picture is chosen, what it shows stands below. The program and its labels are resources: mv3.pte, imagenet_classes.txt.
import Classification
import PhotosUI
import SwiftUI

struct PictureScreen: View {
  @State private var item: PhotosPickerItem?
  @State private var image: CGImage?
  @State private var guesses: [Guess] = []
  @State private var status = "Choose a picture."

  var body: some View {
    VStack(spacing: 16) {
      PhotosPicker("Picture", selection: $item, matching: .images)
      if let image { Image(decorative: image, scale: 1).resizable().scaledToFit() }
      ForEach(guesses, id: \.label) { guess in
        LabeledContent(guess.label, value: guess.probability.formatted(.percent.precision(.fractionLength(1))))
      }
      Text(status).font(.footnote)
    }
    .padding()
    .task(id: item) { await show() }
  }

  private func show() async {
    guard let item else { return }
    do {
      guard let data = try await item.loadTransferable(type: Data.self), let shown = CGImage.from(data) else { return }
      image = shown
      let picture = shown.picture
      guesses = try await Task.detached { try PictureScreen.classifier.get().classify(picture) }.value
      status = ""
    } catch {
      status = "\(error)"
    }
  }

  private static let classifier = Result {
    func resource(_ name: String, _ kind: String) throws -> URL {
      guard let found = Bundle.main.url(forResource: name, withExtension: kind) else {
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "\(name).\(kind)"])
      }
      return found
    }
    return try Classifier(model: resource("mv3", "pte"), labels: resource("imagenet_classes", "txt"))
  }
}
