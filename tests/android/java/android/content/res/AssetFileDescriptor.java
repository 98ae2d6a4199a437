// SPDX-License-Identifier: Apache-2.0
package android.content.res;

import android.os.ParcelFileDescriptor;
import java.io.Closeable;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

public final class AssetFileDescriptor implements Closeable {
  private final FileInputStream stream;
  private final int around;

  AssetFileDescriptor(File file, int around) throws IOException {
    this.stream = new FileInputStream(file);
    this.around = around;
  }

  public ParcelFileDescriptor getParcelFileDescriptor() {
    try {
      return new ParcelFileDescriptor(stream.getFD());
    } catch (IOException fault) {
      throw new IllegalStateException(fault);
    }
  }

  public long getStartOffset() {
    return around;
  }

  public long getLength() {
    try {
      return stream.getChannel().size() - 2L * around;
    } catch (IOException fault) {
      throw new IllegalStateException(fault);
    }
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
