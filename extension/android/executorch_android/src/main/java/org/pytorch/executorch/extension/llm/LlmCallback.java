// SPDX-License-Identifier: BSD-3-Clause
// Receives what a language model generates.
package org.pytorch.executorch.extension.llm;

import org.pytorch.executorch.annotations.Experimental;

/**
 * Called on the thread that generates. It may call {@link LlmModule#stop()} and no other method of the module.
 *
 * <p>Warning: this API is experimental and may change without notice.
 */
@Experimental
public interface LlmCallback {
  /** A piece of text: whole characters, as soon as they are there. */
  void onResult(String result);

  /** Times and counts as a JSON object, once, after the last piece. */
  default void onStats(String stats) {}

  /** What failed, before generate() throws the same. */
  default void onError(int errorCode, String message) {}
}
