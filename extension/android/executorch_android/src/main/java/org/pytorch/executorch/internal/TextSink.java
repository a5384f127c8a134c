// SPDX-License-Identifier: BSD-3-Clause
// Where native code sends text while it generates.
package org.pytorch.executorch.internal;

/** Called on the thread that generates. */
public interface TextSink {
  /** A piece of text, whole characters only. False ends the generation. */
  boolean onText(String text);

  /** A JSON object, once, at the end. */
  void onStats(String json);
}
