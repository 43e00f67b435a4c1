package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.replay.DecisionWriter;
import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.report.HtmlReport;
import dev.ratelimit.simulator.report.ReportData;
import dev.ratelimit.simulator.statistics.CandidateLimits;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Replays logs through limits. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = "Replays access logs through the limits of an application.yml.",
        sortOptions = false)
final class ReplayCommand extends LogCommand {

    @Option(
            names = "--decisions",
            paramLabel = "FILE",
            description = "Write the decision about each request here, one JSON object a line; - is standard output.")
    @Nullable
    String decisions;

    @Option(
            names = "--out",
            paramLabel = "DIRECTORY",
            description = "Write a report here, index.html; or a file, if the name ends with .html.")
    @Nullable
    Path out;

    @Option(names = "--show-keys", description = "Show values of keys that may be credentials, too, not their hashes.")
    boolean showKeys;

    @Override
    public Integer call() throws IOException {
        checkOutputs();
        Traffic traffic = Traffic.of(limits.source(), limits, log);
        KeyText keys = new KeyText(
                traffic.limits().rules().inForce(), showKeys || traffic.limits().areRecorded());
        ReplayStatistics statistics =
                new ReplayStatistics(traffic.limits().rules().policiesInForce());
        List<ReplayObserver> observers = new ArrayList<>(List.of(statistics));
        CandidateLimits candidates = out == null ? null : new CandidateLimits(traffic.limits());
        if (candidates != null) {
            observers.add(candidates);
        }
        if (decisions == null) {
            traffic.replay(observers);
        } else {
            try (OutputFile lines = OutputFile.of(decisions, out())) {
                observers.add(new DecisionWriter(lines.writer(), keys));
                traffic.replay(observers);
                lines.commit();
            }
        }
        if (out != null && candidates != null) {
            ReportData data = new ReportData(
                    title(),
                    traffic.limits(),
                    traffic.log(),
                    statistics,
                    candidates.curves(),
                    Notes.of(traffic, statistics),
                    keys);
            try (OutputFile page = OutputFile.of(pageIn(out).toString(), out())) {
                HtmlReport.write(data, page.writer());
                page.commit();
            }
        }
        new TextReport("-".equals(decisions) ? err() : out()).print(traffic, statistics, keys);
        return statusOf(traffic.log());
    }

    /** Nothing is opened before it is known that nothing is lost. */
    private void checkOutputs() {
        OverwriteCheck check = new OverwriteCheck();
        log.eachFile(check::reads);
        limits.files.forEach(file -> check.reads("--config", file));
        if (decisions != null && !decisions.equals("-")) {
            check.writes("--decisions", Path.of(decisions), Path.of(decisions));
        }
        if (out != null) {
            check.writes("--out", out, pageIn(out));
        }
    }

    private static Path pageIn(Path out) {
        if (out.toString().equals("-")) {
            throw new IllegalArgumentException(
                    "--out - is no directory; write one, or a file whose name ends with .html");
        }
        boolean file = out.toString().endsWith(".html");
        return file ? out : out.resolve("index.html");
    }

    private String title() {
        String tried = limits.files.isEmpty()
                ? limits.properties.toString()
                : String.join(", ", limits.files.stream().map(Path::toString).toList());
        return tried + " on " + String.join(", ", log.inputs);
    }
}
