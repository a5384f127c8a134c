// SPDX-License-Identifier: BSD-3-Clause
// Receives text while speech is transcribed.
package org.pytorch.executorch.extension.asr;

import org.pytorch.executorch.annotations.Experimental;

/**
 * Called on the thread that transcribes.
 *
 * <p>Warning: this API is experimental and may change without notice.
 */
@Experimental
public interface AsrCallback {
  /** A piece of text: whole characters. */
  void onToken(String token);

  /** What failed, before transcribe() throws the same. */
  default void onError(int errorCode, String message) {}
}
