// SPDX-License-Identifier: BSD-3-Clause
// Finds and loads the native library: on Android in the archive, on a desktop also inside of the jar.
package org.pytorch.executorch.internal;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Loads libexecutorch.so once. The first way that has it wins. */
public final class Library {
  /** The path of the file itself, for those who keep it elsewhere. */
  public static final String PATH_PROPERTY = "executorch.library.path";

  private static final String NAME = "executorch";
  private static volatile boolean isLoaded;

  private Library() {}

  public static boolean isLoaded() {
    return isLoaded;
  }

  static synchronized void load() {
    if (isLoaded) {
      return;
    }
    String path = System.getProperty(PATH_PROPERTY);
    if (path != null) {
      System.load(new File(path).getAbsolutePath());
    } else {
      loadByName();
    }
    isLoaded = true;
  }

  private static void loadByName() {
    try {
      System.loadLibrary(NAME);
    } catch (UnsatisfiedLinkError error) {
      String resource = resource();
      try (InputStream bytes = Library.class.getResourceAsStream(resource)) {
        if (bytes == null) {
          throw notFound(error, resource);
        }
        loadCopy(bytes);
      } catch (IOException cause) {
        throw (Error) new UnsatisfiedLinkError("Cannot copy " + resource + " to a file: " + cause).initCause(cause);
      }
    }
  }

  /** Where a jar for desktops has the library of this system. */
  static String resource() {
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    String known = arch.equals("amd64") ? "x86_64" : arch.equals("arm64") ? "aarch64" : arch;
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    return "/native/" + os + "-" + known + "/" + System.mapLibraryName(NAME);
  }

  /** A file of this process alone, which goes as soon as the library is mapped. */
  private static void loadCopy(InputStream bytes) throws IOException {
    File copy = File.createTempFile("lib" + NAME, ".so");
    try {
      Files.copy(bytes, copy.toPath(), StandardCopyOption.REPLACE_EXISTING);
      System.load(copy.getPath());
    } finally {
      copy.delete();
    }
  }

  /** The system's own sentence, when the file is there and does not load, says why. */
  private static UnsatisfiedLinkError notFound(UnsatisfiedLinkError error, String resource) {
    UnsatisfiedLinkError said =
        new UnsatisfiedLinkError(
            "Cannot load "
                + System.mapLibraryName(NAME)
                + ". In an app for Android the archive has it for the ABIs that it was built for (ANDROID_ABIS); on a"
                + " desktop it is looked for in java.library.path ("
                + System.getProperty("java.library.path")
                + "), in the jar ("
                + resource
                + "), and at the path of the property "
                + PATH_PROPERTY
                + ". The system said: "
                + error.getMessage());
    said.initCause(error);
    return said;
  }
}
