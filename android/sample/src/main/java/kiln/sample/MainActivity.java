// SPDX-License-Identifier: Apache-2.0
package kiln.sample;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;
import java.io.IOException;
import kiln.Kiln;

/** Computes 2 x + y on the phone's GPU, and shows how the kernel was loaded. */
public final class MainActivity extends Activity {
  static {
    System.loadLibrary("sample");
  }

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    TextView text = new TextView(this);
    setContentView(text);
    new Thread(() -> {
      String shown = compute();
      runOnUiThread(() -> text.setText(shown));
    }).start();
  }

  private String compute() {
    float[] x = {1, 2, 3}, y = {10, 20, 30};
    try (Kiln kiln = Kiln.open(this, "app.kiln")) {
      String report = kiln.load("saxpy");
      String fault = saxpy(kiln.loader(), 2, x, y);
      return fault != null ? fault : y[0] + " " + y[1] + " " + y[2] + "\n" + report;
    } catch (IOException fault) {
      return fault.getMessage();
    }
  }

  /** y += a x, in sample.c; returns null, or why that failed. */
  private static native String saxpy(long loader, float a, float[] x, float[] y);
}
