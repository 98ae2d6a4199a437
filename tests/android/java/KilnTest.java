// SPDX-License-Identifier: Apache-2.0
import android.content.Context;
import android.widget.TextView;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import kiln.Kiln;
import kiln.sample.MainActivity;

/** The Java classes on this machine's OpenCL: KilnTest FOLDER, with assets/ in it. */
public final class KilnTest {
  private static int faults;

  public static void main(String[] arguments) throws Exception {
    Context.root = new File(arguments[0]);
    Context context = new Context();
    refusesWhatIsNoPack(context);
    try (Kiln kiln = Kiln.open(context, "app.kiln")) {
      equal("programs", "[bad, saxpy, second]", Arrays.toString(kiln.programs()));
      holds("device", kiln.device("device_name") != null && kiln.device("nothing") == null);
      has("first load", kiln.load("saxpy"), "\"program\": \"saxpy\"", "\"rung\": \"source\"");
      refuses("unknown program", "nowhere", () -> kiln.load("nowhere"));
      refuses("program that this device cannot run", "cl_nowhere", () -> kiln.load("bad"));
      prefetches(kiln);
      String lines = new String(Files.readAllBytes(kiln.reports().listFiles()[0].toPath()));
      has("reports to send", lines, "\"program\": \"saxpy\"", "\"program\": \"second\"");
    }
    try (Kiln kiln = Kiln.open(context, "app.kiln")) {
      has("second start", kiln.load("saxpy"), "\"rung\": \"overlay\"");
    }
    holds("overlay in the code cache", files(context.getCodeCacheDir(), "kiln") > 0);
    closes(context);
    TextView view = (TextView) new MainActivity().start();
    holds("one file of reports", files(context.getNoBackupFilesDir(), "kiln-reports") == 1);
    has("sample", view.shown.toString(), "12.0 24.0 36.0\n", "\"rung\": \"overlay\"");
    System.out.println(faults == 0 ? "OK" : faults + " faults");
    System.exit(faults == 0 ? 0 : 1);
  }

  private static void refusesWhatIsNoPack(Context context) throws Exception {
    refuses("closed descriptor", "", () -> Kiln.open(-1, 0, 10, null, null));
    refuses("missing asset", "nothing.kiln", () -> Kiln.open(context, "nothing.kiln"));
    refuses("asset that is no pack", "not a Kiln pack", () -> Kiln.open(context, "text.kiln"));
  }

  private static int files(File folder, String name) {
    return new File(folder, name).list().length;
  }

  private static void prefetches(Kiln kiln) throws Exception {
    List<String> passed = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
    Thread thread = kiln.prefetch((done, total, report) -> {
      threads.add(Thread.currentThread());
      passed.add(done + "/" + total + report.replaceAll(".*\"program\": \"(\\w+)\".*", " $1"));
    });
    thread.join(60000);
    equal("prefetch", "[1/3 bad, 2/3 saxpy, 3/3 second]", passed.toString());
    holds("prefetch off this thread", threads.size() == 3
        && threads.stream().allMatch(t -> t == thread) && thread != Thread.currentThread());
  }

  private static void closes(Context context) throws Exception {
    Kiln kiln = Kiln.open(context, "app.kiln");
    Thread thread = kiln.prefetch(null);
    kiln.close();
    kiln.close();
    thread.join(60000);
    holds("close ends a prefetch", !thread.isAlive());
    try {
      kiln.loader();
      holds("a closed Kiln has no loader", false);
    } catch (IllegalStateException fault) {
      equal("closed", "Kiln is closed", fault.getMessage());
    }
  }

  private interface Call {
    Object call() throws Exception;
  }

  private static void refuses(String what, String reason, Call call) throws Exception {
    try {
      call.call();
      holds(what + " is refused", false);
    } catch (IOException fault) {
      has(what, fault.getMessage(), reason);
    }
  }

  private static void equal(String what, String wanted, String got) {
    holds(what + ": " + got + " instead of " + wanted, wanted.equals(got));
  }

  private static void has(String what, String text, String... parts) {
    for (String part : parts) holds(what + " lacks " + part + ": " + text, text.contains(part));
  }

  private static void holds(String what, boolean fact) {
    if (fact) return;
    System.out.println("FAULT: " + what);
    ++faults;
  }
}
