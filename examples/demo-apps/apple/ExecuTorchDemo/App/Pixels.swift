// SPDX-License-Identifier: BSD-3-Clause
// Pixels of the system's pictures.
import Classification
import CoreGraphics
import Foundation
import ImageIO

extension CGImage {
  static func from(_ data: Data) -> CGImage? {
    CGImageSourceCreateWithData(data as CFData, nil).flatMap { CGImageSourceCreateImageAtIndex($0, 0, nil) }
  }

  var picture: Picture {
    var pixels = [UInt8](repeating: 0, count: 4 * width * height)
    pixels.withUnsafeMutableBytes { bytes in
      CGContext(
        data: bytes.baseAddress, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 4 * width,
        space: CGColorSpace(name: CGColorSpace.sRGB)!, bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue
      )?.draw(self, in: CGRect(x: 0, y: 0, width: width, height: height))
    }
    return Picture(width: width, height: height, pixels: pixels)
  }
}
