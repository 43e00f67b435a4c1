package dev.ratelimit.simulator.command;

import java.io.Console;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;

/** Shows on a terminal how much of the logs has been read. Not thread-safe. */
final class Progress {

    private static final int WIDTH = 30;
    private static final long STEP = 1 << 22;

    private final PrintWriter err;
    private final boolean shown;
    private long expected;
    private long read;
    private long next = STEP;

    /**
     * Creates a progress bar.
     *
     * @param shown whether there is a terminal
     */
    Progress(PrintWriter err, boolean shown) {
        this.err = err;
        this.shown = shown;
    }

    /** Whether there is a terminal; from JDK 22 on, there may be a console without one. */
    @SuppressWarnings("SystemConsoleNull")
    static boolean isTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }

    void expect(long bytes) {
        expected = bytes;
        read = 0;
        next = STEP;
    }

    InputStream watch(InputStream in) {
        return !shown
                ? in
                : new FilterInputStream(in) {
                    @Override
                    public int read(byte[] to, int from, int length) throws IOException {
                        int count = super.read(to, from, length);
                        add(count);
                        return count;
                    }
                };
    }

    private void add(int count) {
        read += Math.max(0, count);
        if (read < next) {
            return;
        }
        next = read + STEP;
        if (expected == 0) {
            err.printf("\r%,d MB", read >> 20);
        } else {
            int done = (int) Math.min(WIDTH, read * WIDTH / expected);
            err.printf(
                    "\r[%s%s] %d %%", "#".repeat(done), " ".repeat(WIDTH - done), Math.min(100, read * 100 / expected));
        }
        err.flush();
    }

    void end() {
        if (shown && read >= STEP) {
            err.print("\r" + " ".repeat(WIDTH + 10) + "\r");
            err.flush();
        }
    }
}
