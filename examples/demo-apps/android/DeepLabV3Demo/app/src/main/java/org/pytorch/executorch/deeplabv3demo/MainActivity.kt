// SPDX-License-Identifier: BSD-3-Clause
// The screen: an image, and a button that colours what is in it.
package org.pytorch.executorch.deeplabv3demo

import android.app.Activity
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.os.Bundle
import android.widget.Button
import android.widget.ImageView
import android.widget.LinearLayout
import android.widget.TextView
import java.io.File
import java.util.concurrent.Executors

/** Takes dl3_xnnpack_fp32.pte from /data/local/tmp, and the image from there or from the app's assets. */
class MainActivity : Activity() {
  private val worker = Executors.newSingleThreadExecutor()
  private var segmentation: Segmentation? = null
  private lateinit var image: ImageView
  private lateinit var status: TextView
  private lateinit var bitmap: Bitmap

  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    image = ImageView(this)
    status = TextView(this)
    bitmap = load()
    image.setImageBitmap(bitmap)
    val run = Button(this)
    run.text = "RUN"
    run.setOnClickListener { worker.execute { segment() } }
    val column = LinearLayout(this)
    column.orientation = LinearLayout.VERTICAL
    listOf(image, run, status).forEach { column.addView(it) }
    setContentView(column)
  }

  override fun onDestroy() {
    worker.execute { segmentation?.close() }
    worker.shutdown()
    super.onDestroy()
  }

  private fun load(): Bitmap {
    val file = File(FOLDER, "image.jpg")
    val decoded = if (file.canRead()) BitmapFactory.decodeFile(file.path) else BitmapFactory.decodeStream(assets.open("dog.jpg"))
    return Bitmap.createScaledBitmap(decoded, Segmentation.SIZE, Segmentation.SIZE, true)
  }

  private fun segment() {
    try {
      val network = segmentation ?: Segmentation("$FOLDER/dl3_xnnpack_fp32.pte").also { segmentation = it }
      val pixels = IntArray(Segmentation.SIZE * Segmentation.SIZE)
      bitmap.getPixels(pixels, 0, Segmentation.SIZE, 0, 0, Segmentation.SIZE, Segmentation.SIZE)
      val start = System.nanoTime()
      val coloured = network.segment(pixels)
      val milliseconds = (System.nanoTime() - start) / 1_000_000
      val result = Bitmap.createBitmap(coloured, Segmentation.SIZE, Segmentation.SIZE, Bitmap.Config.ARGB_8888)
      runOnUiThread {
        image.setImageBitmap(result)
        status.text = "$milliseconds ms"
      }
    } catch (error: RuntimeException) {
      runOnUiThread { status.text = error.message }
    }
  }

  private companion object {
    const val FOLDER = "/data/local/tmp"
  }
}
