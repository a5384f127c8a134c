// SPDX-License-Identifier: BSD-3-Clause
// All native methods, by families; jni/natives.cpp binds them by the same names when the library is loaded.
package org.pytorch.executorch.internal;

import java.nio.ByteBuffer;

/**
 * Handles are addresses of native objects: who calls keeps them valid during the call (see NativeHandle). Errors
 * are exceptions of ExecutorchRuntimeException. Values are packed as Values says.
 */
public final class Natives {
  static {
    Library.load();
  }

  private Natives() {}

  /** Loads the library, if nothing has called a native method yet. */
  public static void load() {}

  // Runtime
  public static native String[] registeredOps();

  public static native String[] registeredBackends();

  public static native String[] logBuffer();

  public static native void free(long handle);

  // Module
  public static native long moduleLoad(String path, String[] dataFiles, int loadMode, int numThreads);

  public static native long moduleLoadBuffers(ByteBuffer program, ByteBuffer data, int numThreads);

  public static native void moduleLoadMethod(long module, String method, Object[] options);

  /** With `inPlace`, buffers of outputs are the method's own memory. */
  public static native Object[] moduleExecute(
      long module, String method, long[] header, Object[] objects, boolean inPlace);

  public static native String[] moduleMethods(long module);

  public static native Object[] moduleMethodMeta(long module, String method);

  public static native boolean moduleEtdump(long module, String path);

  // Training
  public static native long trainingLoad(String path, String dataPath);

  public static native Object[] trainingExecute(long module, String method, long[] header, Object[] objects);

  /** Packed tensors over the module's memory, and names; the last number is a handle that keeps the memory. */
  public static native Object[] trainingTensors(long module, String method, boolean gradients);

  public static native long sgdCreate(
      String[] names,
      long[] header,
      Object[] objects,
      double lr,
      double momentum,
      double dampening,
      double weightDecay,
      boolean nesterov);

  public static native void sgdStep(long sgd, String[] names, long[] header, Object[] objects);

  // Language models
  public static native long llmCreate(
      int modelType,
      String modulePath,
      String tokenizerPath,
      String[] dataFiles,
      int numBos,
      int numEos,
      int loadMode);

  public static native void llmLoad(long llm);

  public static native void llmGenerate(
      long llm, String prompt, long[] settings, double temperature, String jsonSchema, TextSink sink);

  public static native void llmPrefillText(long llm, String prompt);

  public static native void llmPrefillImage(
      long llm, ByteBuffer values, int offset, boolean isFloat, int width, int height, int channels);

  public static native void llmPrefillAudio(
      long llm, ByteBuffer values, boolean isFloat, int batchSize, int bins, int frames);

  public static native void llmPrefillRawAudio(
      long llm, ByteBuffer values, int batchSize, int channels, int samples);

  public static native void llmStop(long llm);

  public static native void llmReset(long llm);

  // Speech
  public static native long asrCreate(
      String modelPath, String tokenizerPath, String dataPath, String preprocessorPath);

  public static native int asrLoad(long asr);

  public static native boolean asrIsLoaded(long asr);

  public static native String asrTranscribe(
      long asr, String wavPath, long maxNewTokens, float temperature, long startToken, TextSink sink);
}
