// SPDX-License-Identifier: Apache-2.0
package android.app;

import android.content.Context;
import android.os.Bundle;
import android.view.View;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Runs what an activity asks for on its main thread: the one that calls {@link #start}. */
public class Activity extends Context {
  private final BlockingQueue<Runnable> main = new ArrayBlockingQueue<>(1);
  private View content;

  protected void onCreate(Bundle state) {}

  public void setContentView(View view) {
    content = view;
  }

  public final void runOnUiThread(Runnable action) {
    main.add(action);
  }

  /** Starts the activity and waits for what it posts first; returns its view. */
  public final View start() throws InterruptedException {
    onCreate(null);
    main.poll(60, TimeUnit.SECONDS).run();
    return content;
  }
}
