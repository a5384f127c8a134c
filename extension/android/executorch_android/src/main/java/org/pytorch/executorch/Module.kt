// SPDX-License-Identifier: BSD-3-Clause
// Module: a program file, ready to be called.
package org.pytorch.executorch

import java.io.Closeable
import java.io.FileDescriptor
import java.io.FileInputStream
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import org.pytorch.executorch.annotations.Experimental
import org.pytorch.executorch.internal.NativeHandle
import org.pytorch.executorch.internal.Natives
import org.pytorch.executorch.internal.Values
import org.pytorch.executorch.internal.unpackMethodMeta

/**
 * A loaded program and its methods. Threads: any; calls on one Module wait for each other. What methods return are
 * copies, which stay valid after the next call and after [close]. A Module that nobody refers to any more is freed, too.
 *
 * Warning: this API is experimental and may change without notice.
 */
@Experimental
open class Module internal constructor(address: Long) : Closeable {
  private val handle = NativeHandle(this, address, "Module")

  /**
   * Runs "forward". Without inputs it runs on ones. ExecutorchRuntimeException names the input that does not fit, with
   * what was expected and given.
   */
  fun forward(vararg inputs: EValue): Array<EValue> = execute("forward", *inputs)

  /** Runs a method, which is loaded first. */
  fun execute(methodName: String, vararg inputs: EValue): Array<EValue> {
    val packed = Values.pack(inputs)
    return Values.unpack(handle.use { Natives.moduleExecute(it, methodName, packed.header, packed.objects, false) })
  }

  /**
   * Runs a method and gives its outputs to [read] where they lie, without a copy. They are valid until it returns; then
   * their tensors refuse to be read, and buffers that were taken out of them are another run's. No other method of the
   * Module can be called from it.
   */
  fun <T> executeInPlace(methodName: String, inputs: Array<EValue>, read: (Array<EValue>) -> T): T {
    val packed = Values.pack(inputs)
    return handle.use {
      val outputs = Values.unpack(Natives.moduleExecute(it, methodName, packed.header, packed.objects, true))
      try {
        read(outputs)
      } finally {
        for (output in outputs) if (output.isTensor) output.toTensor().invalidate()
      }
    }
  }

  /** Loads a method, so that its first run need not. */
  fun loadMethod(methodName: String) {
    handle.use { Natives.moduleLoadMethod(it, methodName, arrayOfNulls(0)) }
  }

  /**
   * Likewise with options for backends: for each backend's name, options by their names, whose values are Boolean, Int
   * or String. They count for this method from now on.
   */
  fun loadMethod(methodName: String, backendOptions: Map<String, Map<String, Any>>) {
    val flat = backendOptions.flatMap { (backend, options) ->
      options.flatMap { (name, value) -> listOf<Any?>(backend, name, value) }
    }
    handle.use { Natives.moduleLoadMethod(it, methodName, flat.toTypedArray()) }
  }

  /** Names of the methods, in alphabetical order. */
  fun getMethods(): Array<String> = handle.use { Natives.moduleMethods(it) }

  /** IllegalArgumentException if there is no such method. Loads nothing. */
  fun getMethodMetadata(name: String): MethodMetadata = handle.use {
    require(name in Natives.moduleMethods(it)) { "method $name does not exist for this module" }
    unpackMethodMeta(name, Natives.moduleMethodMeta(it, name))
  }

  /** The last 16 messages of the process's runtime. */
  fun readLogBuffer(): Array<String> = readLogBufferStatic()

  /** Writes the events of the runs so far to /data/local/tmp/result.etdump; see [etdump]. */
  fun etdump(): Boolean = etdump("/data/local/tmp/result.etdump")

  /** Writes the events of the runs so far. False if the library is built without profiling, or nothing was written. */
  fun etdump(path: String): Boolean = handle.use { Natives.moduleEtdump(it, path) }

  /**
   * Frees the program. No effect the second time. IllegalStateException while another thread executes; every later call
   * of another method is one, too.
   */
  fun destroy() {
    handle.close("Cannot destroy module while method is executing")
  }

  override fun close() {
    destroy()
  }

  companion object {
    /** Read into memory. */
    const val LOAD_MODE_FILE = 0

    /** Mapped: pages come when they are used and go when memory is short. */
    const val LOAD_MODE_MMAP = 1

    /** Mapped and locked in memory; an error if the system does not allow it. */
    const val LOAD_MODE_MMAP_USE_MLOCK = 2

    /** Mapped, and locked in memory if the system allows it. */
    const val LOAD_MODE_MMAP_USE_MLOCK_IGNORE_ERRORS = 3

    /**
     * Loads a program. [numThreads]: threads of the whole process's kernels; 0 for half of the logical processors.
     * IllegalArgumentException if the file cannot be read, ExecutorchRuntimeException if it is no program.
     */
    @JvmStatic
    @JvmOverloads
    fun load(modelPath: String?, loadMode: Int = LOAD_MODE_FILE, numThreads: Int = 0): Module =
      load(modelPath, emptyList(), loadMode, numThreads)

    /** Loads a program with its data files (.ptd). */
    @JvmStatic
    @JvmOverloads
    fun load(
      modelPath: String?,
      dataFiles: List<String>,
      loadMode: Int = LOAD_MODE_MMAP,
      numThreads: Int = 0
    ): Module {
      ExecuTorchRuntime.validateFilePath(modelPath, "model path")
      dataFiles.forEach { ExecuTorchRuntime.validateFilePath(it, "data path") }
      return Module(Natives.moduleLoad(modelPath!!, dataFiles.toTypedArray(), loadMode, numThreads))
    }

    /**
     * Loads a program from memory, and its constants ([data], what a .ptd file holds). The direct buffers are not copied,
     * unless they are not aligned to 64 bytes, and must not be changed while the Module lives; others are copied.
     */
    @JvmStatic
    @JvmOverloads
    fun load(program: ByteBuffer, data: ByteBuffer? = null, numThreads: Int = 0): Module =
      Module(Natives.moduleLoadBuffers(direct(program), data?.let { direct(it) }, numThreads))

    /**
     * Loads a program from a part of an open file, which is mapped and may be closed afterwards: of an
     * AssetFileDescriptor its getFileDescriptor(), getStartOffset() and getLength().
     */
    @JvmStatic
    fun load(file: FileDescriptor, offset: Long, length: Long): Module =
      // Closing the stream would close the caller's descriptor.
      load(FileInputStream(file).channel.map(FileChannel.MapMode.READ_ONLY, offset, length))

    /** The last 16 messages of the process's runtime: "[TIME FUNCTION FILE:LINE] LEVEL MESSAGE". */
    @JvmStatic
    fun readLogBufferStatic(): Array<String> = Natives.logBuffer()

    private fun direct(bytes: ByteBuffer): ByteBuffer {
      if (bytes.isDirect) return bytes.slice()
      val copy = ByteBuffer.allocateDirect(bytes.remaining()).put(bytes.duplicate())
      (copy as java.nio.Buffer).flip()
      return copy
    }
  }
}
