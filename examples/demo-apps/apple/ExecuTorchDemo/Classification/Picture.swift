// SPDX-License-Identifier: BSD-3-Clause
// Pixels as the models of ImageNet take them: the shorter side to 256, the middle 224 x 224, ImageNet's mean and deviation.
import ExecuTorch

public struct Picture {
  public let width: Int
  public let height: Int
  public let pixels: [UInt8]  // red, green, blue and one more, row by row

  public init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(pixels.count == 4 * width * height, "\(width) x \(height) pixels have 4 bytes each")
    (self.width, self.height, self.pixels) = (width, height, pixels)
  }

  private static let mean: [Float] = [0.485, 0.456, 0.406]
  private static let deviation: [Float] = [0.229, 0.224, 0.225]

  /// Shape [1, 3, crop, crop].
  public func tensor(shorterSide: Int = 256, crop: Int = 224) -> Tensor<Float> {
    let shorter = min(width, height)
    let (newWidth, newHeight) = (width * shorterSide / shorter, height * shorterSide / shorter)
    let columns = Samples(from: width, to: newWidth, cropped: crop)
    let rows = Samples(from: height, to: newHeight, cropped: crop)
    var values = [Float](repeating: 0, count: 3 * crop * crop)
    for channel in 0..<3 {
      for row in 0..<crop {
        for column in 0..<crop {
          let value = blend(rows.places[row], columns.places[column], channel) / 255
          values[(channel * crop + row) * crop + column] = (value - Picture.mean[channel]) / Picture.deviation[channel]
        }
      }
    }
    return Tensor(values, shape: [1, 3, crop, crop])
  }

  private func blend(_ row: Samples.Place, _ column: Samples.Place, _ channel: Int) -> Float {
    func at(_ y: Int, _ x: Int) -> Float { Float(pixels[4 * (y * width + x) + channel]) }
    let upper = at(row.low, column.low) * (1 - column.part) + at(row.low, column.high) * column.part
    let lower = at(row.high, column.low) * (1 - column.part) + at(row.high, column.high) * column.part
    return upper * (1 - row.part) + lower * row.part
  }
}

/// For each pixel of a side that is resized and cropped: between which two of the original, and how far.
private struct Samples {
  struct Place {
    let low: Int
    let high: Int
    let part: Float
  }
  let places: [Place]

  init(from size: Int, to resized: Int, cropped: Int) {
    let scale = Float(size) / Float(resized)
    let first = (resized - cropped) / 2
    places = (first..<first + cropped).map { index in
      let place = max(0, (Float(index) + 0.5) * scale - 0.5)
      let low = min(Int(place), size - 1)
      return Place(low: low, high: min(low + 1, size - 1), part: place - Float(low))
    }
  }
}
