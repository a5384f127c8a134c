// SPDX-License-Identifier: BSD-3-Clause
// adb shell am start -n org.pytorch.minibench/.BenchmarkActivity: measures every program in /data/local/tmp/minibench.
package org.pytorch.minibench

import android.app.Activity
import android.os.Bundle
import android.widget.TextView
import java.io.File
import kotlin.concurrent.thread

class BenchmarkActivity : Activity() {
  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    val report = TextView(this)
    setContentView(report)
    thread {
      for (program in programs()) {
        val text = try {
          Benchmark(program.path).report(File(getFilesDir(), "${program.name}.json"))
        } catch (error: RuntimeException) {
          "${program.name}: ${error.message}\n"
        }
        runOnUiThread { report.append(text) }
      }
    }
  }

  private fun programs(): List<File> =
    File("/data/local/tmp/minibench").listFiles().orEmpty().filter { it.extension == "pte" }.sorted()
}
