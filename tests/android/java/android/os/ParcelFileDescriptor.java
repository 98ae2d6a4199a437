// SPDX-License-Identifier: Apache-2.0
package android.os;

import java.io.FileDescriptor;
import java.lang.reflect.Field;

public final class ParcelFileDescriptor {
  private final FileDescriptor descriptor;

  public ParcelFileDescriptor(FileDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  public int getFd() {
    try {
      Field field = FileDescriptor.class.getDeclaredField("fd");
      field.setAccessible(true);
      return field.getInt(descriptor);
    } catch (ReflectiveOperationException fault) {
      throw new IllegalStateException(fault);
    }
  }
}
