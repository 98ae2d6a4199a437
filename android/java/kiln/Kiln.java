// SPDX-License-Identifier: Apache-2.0
package kiln;

import android.content.Context;
import android.content.res.AssetFileDescriptor;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A pack that is open for the first OpenCL device, with an overlay and a folder of reports.
 *
 * <p>Any thread may call any method. Each of them may take as long as a compiler, so call none on
 * the main thread but {@link #prefetch} and {@link #reports}. Kernels are launched by native code,
 * from {@link #loader}.
 */
public final class Kiln implements AutoCloseable {
  /** Is told of each program of a prefetch, on the thread of the prefetch. */
  public interface Progress {
    /**
     * A program was loaded, or could not be.
     *
     * @param done programs passed
     * @param total programs of the pack
     * @param report the load report as JSON, which names the program and says how it was loaded
     */
    void passed(int done, int total, String report);
  }

  static {
    System.loadLibrary("kiln_jni");
  }

  private static File reporting;

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final File reports;
  private volatile boolean closing;
  private long handle;

  private Kiln(long handle, File reports) {
    this.handle = handle;
    this.reports = reports;
  }

  /**
   * Opens a pack among the application's assets. It must be stored uncompressed: {@code noCompress
   * += "kiln"}. The overlay is a folder of the code cache, which the system empties after updates;
   * the reports are kept out of backups.
   *
   * @throws IOException if the asset, OpenCL or a device is missing, or the pack is damaged
   */
  public static Kiln open(Context context, String asset) throws IOException {
    try (AssetFileDescriptor file = context.getAssets().openFd(asset)) {
      return open(file.getParcelFileDescriptor().getFd(), file.getStartOffset(), file.getLength(),
          new File(context.getCodeCacheDir(), "kiln"),
          new File(context.getNoBackupFilesDir(), "kiln-reports"));
    }
  }

  /**
   * Opens {@code length} bytes at {@code offset} of a file descriptor, which stays the caller's.
   *
   * @param overlay folder for what this device compiles, or null; made if its parent exists
   * @param reports folder for the load reports of the whole process, or null; made likewise
   * @throws IOException if OpenCL, a device or the folder of reports cannot be used, or the pack
   *     is damaged
   */
  public static Kiln open(int descriptor, long offset, long length, File overlay, File reports)
      throws IOException {
    long[] handle = new long[1];
    reportTo(reports);
    check(open(descriptor, offset, length, text(overlay), handle));
    return new Kiln(handle[0], reports);
  }

  /** Returns the names of the pack's programs. */
  public String[] programs() {
    lock.readLock().lock();
    try {
      String names = string(programs(opened()));
      return names.isEmpty() ? new String[0] : names.split("\n");
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Loads a program, which native code then gets at once from {@code kiln_load()}.
   *
   * @return the load report as JSON
   * @throws IOException if no form of the program could be loaded
   */
  public String load(String program) throws IOException {
    byte[][] report = new byte[1][];
    check(load(program, report));
    return string(report[0]);
  }

  /**
   * Loads every program of the pack on a thread of its own. {@link #close} ends the prefetch after
   * the program that it is loading.
   *
   * @param progress may be null
   * @return the thread, which has begun
   */
  public Thread prefetch(Progress progress) {
    Thread thread = new Thread(() -> prefetchHere(progress), "kiln-prefetch");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /**
   * Returns what the device says of itself, such as "device_name" or "driver_version", or null.
   */
  public String device(String name) {
    lock.readLock().lock();
    try {
      return string(device(opened(), bytes(name)));
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Returns the {@code kiln_loader *} for native code. It lives until {@link #close}, before which
   * native code must end its use.
   */
  public long loader() {
    lock.readLock().lock();
    try {
      return loader(opened());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Returns the folder with the load reports, files of JSON lines that may be sent; or null. */
  public File reports() {
    return reports;
  }

  /**
   * Waits for the loads that have begun, then stores in the overlay what this device compiled, and
   * releases the pack.
   */
  @Override
  public void close() {
    closing = true;
    lock.writeLock().lock();
    try {
      if (handle != 0) release(handle);
      handle = 0;
    } finally {
      lock.writeLock().unlock();
    }
  }

  // A process writes one file, however often it opens packs.
  private static synchronized void reportTo(File reports) throws IOException {
    if (Objects.equals(reports, reporting)) return;
    check(report(text(reports)));
    reporting = reports;
  }

  private void prefetchHere(Progress progress) {
    try {
      String[] names = programs();
      for (int i = 0; i < names.length && !closing; ++i) {
        byte[][] report = new byte[1][];
        load(names[i], report);  // the report says why a program could not be loaded
        if (progress != null) progress.passed(i + 1, names.length, string(report[0]));
      }
    } catch (IllegalStateException closed) {
      // What was not loaded yet is not wanted any more.
    }
  }

  private byte[] load(String program, byte[][] report) {
    lock.readLock().lock();
    try {
      return load(opened(), bytes(program), report);
    } finally {
      lock.readLock().unlock();
    }
  }

  private long opened() {
    if (handle == 0) throw new IllegalStateException("Kiln is closed");
    return handle;
  }

  private static void check(byte[] fault) throws IOException {
    if (fault != null) throw new IOException(string(fault));
  }

  private static byte[] text(File file) {
    return file == null ? null : bytes(file.getPath());
  }

  // Strings cross as UTF-8, since JNI's own functions take another encoding.
  private static byte[] bytes(String string) {
    return (string + "\0").getBytes(StandardCharsets.UTF_8);
  }

  private static String string(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  // android/jni/kiln_jni.c. A returned fault is null after success.
  private static native byte[] report(byte[] folder);
  private static native byte[] open(int descriptor, long offset, long length, byte[] overlay,
      long[] handle);
  private static native byte[] programs(long handle);
  private static native byte[] load(long handle, byte[] program, byte[][] report);
  private static native byte[] device(long handle, byte[] name);
  private static native long loader(long handle);
  private static native void release(long handle);
}
