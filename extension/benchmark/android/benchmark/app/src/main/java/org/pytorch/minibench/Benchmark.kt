// SPDX-License-Identifier: BSD-3-Clause
// What is measured of a program; no view is known here, so that it runs in tests on a desktop.
package org.pytorch.minibench

import java.io.File
import java.util.Locale
import org.pytorch.executorch.Module

/** Name, unit and value, as a line of benchmark_results.json. */
class Metric(val name: String, val unit: String, val value: Double) {
  fun toJson(model: String): String =
    String.format(Locale.US, "{\"model\":\"%s\",\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%.4f}", model, name, unit, value)
}

/** Loads a program, warms it up, and runs it on ones. Times are the median of [runs]. */
class Benchmark(private val modelPath: String, private val warmups: Int = 2, private val runs: Int = 10) {
  fun measure(): List<Metric> {
    val start = System.nanoTime()
    Module.load(modelPath, Module.LOAD_MODE_MMAP).use { module ->
      val loaded = System.nanoTime()
      module.loadMethod("forward")
      val prepared = System.nanoTime()
      repeat(warmups) { module.forward() }
      val times = List(runs) { milliseconds { module.forward() } }.sorted()
      val memory = module.getMethodMetadata("forward").plannedMemory.sum()
      return listOf(
        Metric("load", "ms", (loaded - start) / 1e6),
        Metric("load_method", "ms", (prepared - loaded) / 1e6),
        Metric("median_inference_latency", "ms", times[times.size / 2]),
        Metric("least_inference_latency", "ms", times.first()),
        Metric("planned_memory", "bytes", memory.toDouble())
      )
    }
  }

  /** Lines of JSON, also into [results] if that is given. */
  fun report(results: File? = null): String {
    val name = File(modelPath).name
    val text = measure().joinToString(",\n", "[\n", "\n]\n") { it.toJson(name) }
    results?.writeText(text)
    return text
  }

  private inline fun milliseconds(run: () -> Unit): Double {
    val start = System.nanoTime()
    run()
    return (System.nanoTime() - start) / 1e6
  }
}
