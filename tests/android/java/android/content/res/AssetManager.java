// SPDX-License-Identifier: Apache-2.0
package android.content.res;

import java.io.File;
import java.io.IOException;

/** Assets as files with other bytes around them, as in an APK. */
public final class AssetManager {
  /** Bytes before an asset, and after it; no multiple of 4. */
  public static final int AROUND = 1234567;

  private final File folder;

  public AssetManager(File folder) {
    this.folder = folder;
  }

  public AssetFileDescriptor openFd(String name) throws IOException {
    return new AssetFileDescriptor(new File(folder, name), AROUND);
  }
}
