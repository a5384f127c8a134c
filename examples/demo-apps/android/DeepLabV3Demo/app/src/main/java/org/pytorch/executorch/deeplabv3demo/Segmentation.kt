// SPDX-License-Identifier: BSD-3-Clause
// Pixels to the network and classes back to pixels; no view is known here, so that it runs in tests on a desktop.
package org.pytorch.executorch.deeplabv3demo

import java.io.Closeable
import org.pytorch.executorch.EValue
import org.pytorch.executorch.Module
import org.pytorch.executorch.Tensor

/** DeepLabV3 of examples/models/deeplab_v3.py: an image of [SIZE] x [SIZE] to scores of 21 classes for each pixel. */
class Segmentation(modelPath: String, private val size: Int = SIZE) : Closeable {
  private val module = Module.load(modelPath, Module.LOAD_MODE_MMAP)
  private val input = Tensor.allocateFloatBuffer(3 * size * size)
  private val tensor = EValue.from(Tensor.fromBlob(input, longArrayOf(1, 3, size.toLong(), size.toLong())))

  /** The image with the pixels of dogs, persons and sheep in their colours. [pixels]: ARGB, row by row. */
  fun segment(pixels: IntArray): IntArray {
    fill(pixels)
    val scores = module.forward(tensor)[0].toTensor().dataAsFloatArray
    return IntArray(size * size) { COLORS[bestClass(scores, it)] ?: pixels[it] }
  }

  override fun close() = module.close()

  // Channel by channel, as torchvision's networks were trained.
  private fun fill(pixels: IntArray) {
    require(pixels.size == size * size) { "Expected ${size * size} pixels, got ${pixels.size}" }
    for (channel in 0..2) {
      val shift = 16 - 8 * channel
      for (i in pixels.indices) {
        val value = ((pixels[i] shr shift) and 0xFF) / 255f
        input.put(channel * pixels.size + i, (value - MEAN[channel]) / STD[channel])
      }
    }
  }

  private fun bestClass(scores: FloatArray, pixel: Int): Int {
    val plane = size * size
    var best = 0
    for (candidate in 1 until scores.size / plane) {
      if (scores[candidate * plane + pixel] > scores[best * plane + pixel]) best = candidate
    }
    return best
  }

  companion object {
    const val SIZE = 224
    private val MEAN = floatArrayOf(0.485f, 0.456f, 0.406f)
    private val STD = floatArrayOf(0.229f, 0.224f, 0.225f)

    // Classes of Pascal VOC.
    private val COLORS = mapOf(12 to 0xFF00FF00.toInt(), 15 to 0xFFFF0000.toInt(), 17 to 0xFF0000FF.toInt())
  }
}
