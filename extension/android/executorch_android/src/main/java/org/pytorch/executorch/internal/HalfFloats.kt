// SPDX-License-Identifier: BSD-3-Clause
// Floats of 16 bits as those of 32, which hold all of their values exactly.
package org.pytorch.executorch.internal

/** The float with the bits of an IEEE half: 1 bit of sign, 5 of exponent (bias 15), 10 of fraction. */
internal fun halfToFloat(bits: Short): Float {
  val half = bits.toInt() and 0xFFFF
  val sign = (half and 0x8000) shl 16
  val exponent = (half shr 10) and 0x1F
  val fraction = half and 0x3FF
  if (exponent == 0) { // zero, or fraction * 2^-24
    val magnitude = fraction * (1f / (1 shl 24))
    return if (sign == 0) magnitude else -magnitude
  }
  val wide = if (exponent == 0x1F) 0xFF else exponent - 15 + 127
  return java.lang.Float.intBitsToFloat(sign or (wide shl 23) or (fraction shl 13))
}

/** A bfloat16 is the upper half of a float. */
internal fun bfloat16ToFloat(bits: Short): Float = java.lang.Float.intBitsToFloat(bits.toInt() shl 16)
