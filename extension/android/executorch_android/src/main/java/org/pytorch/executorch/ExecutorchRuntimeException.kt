// SPDX-License-Identifier: BSD-3-Clause
// What native code failed with: a code, one sentence, and the messages that the runtime logged.
package org.pytorch.executorch

import org.pytorch.executorch.internal.Library
import org.pytorch.executorch.internal.Natives

/** An error of the runtime. The message says what was expected and what was given, where the runtime knows it. */
open class ExecutorchRuntimeException @JvmOverloads constructor(
  val errorCode: Int,
  details: String?,
  cause: Throwable? = null
) : RuntimeException(format(errorCode, details), cause) {
  private val detailedError: String = recentLog()

  /** The runtime's last log lines at the time of the error, under a heading; empty if there are none. */
  fun getDetailedError(): String = detailedError

  /** Of [INVALID_ARGUMENT]. */
  class ExecutorchInvalidArgumentException(details: String?) : ExecutorchRuntimeException(INVALID_ARGUMENT, details)

  companion object {
    const val OK = 0x00
    const val INTERNAL = 0x01
    const val INVALID_STATE = 0x02
    const val END_OF_METHOD = 0x03
    const val ALREADY_LOADED = 0x04
    const val NOT_SUPPORTED = 0x10
    const val NOT_IMPLEMENTED = 0x11
    const val INVALID_ARGUMENT = 0x12
    const val INVALID_TYPE = 0x13
    const val OPERATOR_MISSING = 0x14
    const val REGISTRATION_EXCEEDING_MAX_KERNELS = 0x15
    const val REGISTRATION_ALREADY_REGISTERED = 0x16
    const val NOT_FOUND = 0x20
    const val MEMORY_ALLOCATION_FAILED = 0x21
    const val ACCESS_FAILED = 0x22
    const val INVALID_PROGRAM = 0x23
    const val INVALID_EXTERNAL_DATA = 0x24
    const val OUT_OF_RESOURCES = 0x25
    const val DELEGATE_INVALID_COMPATIBILITY = 0x30
    const val DELEGATE_MEMORY_ALLOCATION_FAILED = 0x31
    const val DELEGATE_INVALID_HANDLE = 0x32

    private val SENTENCES = mapOf(
      OK to "Operation successful",
      INTERNAL to "Internal error",
      INVALID_STATE to "Invalid state",
      END_OF_METHOD to "End of method reached",
      ALREADY_LOADED to "Already loaded",
      NOT_SUPPORTED to "Operation not supported",
      NOT_IMPLEMENTED to "Operation not implemented",
      INVALID_ARGUMENT to "Invalid argument",
      INVALID_TYPE to "Invalid type",
      OPERATOR_MISSING to "Operator missing",
      REGISTRATION_EXCEEDING_MAX_KERNELS to "Exceeded max kernels",
      REGISTRATION_ALREADY_REGISTERED to "Kernel already registered",
      NOT_FOUND to "Resource not found",
      MEMORY_ALLOCATION_FAILED to "Memory allocation failed",
      ACCESS_FAILED to "Access failed",
      INVALID_PROGRAM to "Invalid program",
      INVALID_EXTERNAL_DATA to "Invalid external data",
      OUT_OF_RESOURCES to "Out of resources",
      DELEGATE_INVALID_COMPATIBILITY to "Delegate invalid compatibility",
      DELEGATE_MEMORY_ALLOCATION_FAILED to "Delegate memory allocation failed",
      DELEGATE_INVALID_HANDLE to "Delegate invalid handle"
    )

    /** What native code throws. */
    @JvmStatic
    fun makeExecutorchException(errorCode: Int, details: String?): RuntimeException =
      if (errorCode == INVALID_ARGUMENT) ExecutorchInvalidArgumentException(details)
      else ExecutorchRuntimeException(errorCode, details)

    private fun format(errorCode: Int, details: String?): String {
      val hex = "0x" + Integer.toHexString(errorCode)
      val sentence = SENTENCES[errorCode] ?: "Unknown error code $hex"
      return "[ExecuTorch Error $hex] $sentence: ${details ?: "no details"}"
    }

    private fun recentLog(): String {
      val lines = if (Library.isLoaded()) Natives.logBuffer() else emptyArray()
      return if (lines.isEmpty()) "" else lines.joinToString("\n", prefix = "\nDetailed logs:\n")
    }
  }
}
