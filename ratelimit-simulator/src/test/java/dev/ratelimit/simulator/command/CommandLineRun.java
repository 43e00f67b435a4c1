package dev.ratelimit.simulator.command;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * A run of the command line.
 *
 * @param code with which it exits
 */
record CommandLineRun(int code, String out, String err) {

    static CommandLineRun of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.run(new PrintWriter(out), new PrintWriter(err), arguments);
        return new CommandLineRun(code, out.toString(), err.toString());
    }
}
