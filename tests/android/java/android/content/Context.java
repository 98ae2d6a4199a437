// SPDX-License-Identifier: Apache-2.0
package android.content;

import android.content.res.AssetManager;
import java.io.File;

/** As much of Android's class as Kiln uses, over a folder of this machine. */
public class Context {
  /** Holds assets/, and gets the application's files. */
  public static File root;

  public AssetManager getAssets() {
    return new AssetManager(new File(root, "assets"));
  }

  public File getCodeCacheDir() {
    return folder("code_cache");
  }

  public File getNoBackupFilesDir() {
    return folder("no_backup");
  }

  private static File folder(String name) {
    File folder = new File(root, name);
    folder.mkdirs();
    return folder;
  }
}
