package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.traffic.LogSummary;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that sends the requests of logs through limits. */
abstract class LogCommand implements Callable<Integer> {

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    LimitInput limits = new LimitInput();

    @Mixin
    LogInput log = new LogInput();

    PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }

    PrintWriter err() {
        return Objects.requireNonNull(spec).commandLine().getErr();
    }

    /** The exit status for a log: with {@code --strict}, it must have requests, all of which were read as they are. */
    int statusOf(LogSummary summary) {
        return log.strict && !(summary.isClean() && summary.requests() > 0) ? Main.UNMET : 0;
    }
}
