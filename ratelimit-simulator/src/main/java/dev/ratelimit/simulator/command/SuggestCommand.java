package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.config.ConfigurationSource;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.suggest.KeyShare;
import dev.ratelimit.simulator.suggest.Suggester;
import dev.ratelimit.simulator.suggest.Suggestion;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.simulator.traffic.NamedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Suggests limits. */
@Command(
        name = "suggest",
        mixinStandardHelpOptions = true,
        description =
                "Suggests limits, from a log and the share of keys that may be refused, and checks them on traffic that they were not chosen by.",
        sortOptions = false)
final class SuggestCommand extends LogCommand {

    /** The policy that is suggested where no configuration has any. */
    private static final String PER_CLIENT = "per-client";

    /** Of the requests of the log, if there is no other log to check by. */
    private static final double TRAINING = 0.7;

    @Option(
            names = "--touch-at-most",
            required = true,
            paramLabel = "SHARE",
            description = "The share of keys that each policy may refuse at all, such as 0.1%%.")
    String touched = "";

    @Option(
            names = "--check",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Logs of another time to check the limits by; by default, the last 30 %% of the requests.")
    List<String> check = new ArrayList<>();

    @Option(
            names = "--key",
            paramLabel = "KEY",
            defaultValue = "ip",
            description =
                    "Without a configuration, whose budget the limit is, such as user; by default, ${DEFAULT-VALUE}.")
    String key = "";

    @Option(names = "--show-keys", description = "Show values of keys that may be credentials, too, not their hashes.")
    boolean showKeys;

    @Override
    public Integer call() throws IOException {
        KeyShare share = KeyShare.parse(touched);
        ConfigurationSource source = limits.source();
        boolean planned = isPlanned(source);
        Traffic traffic = Traffic.of(planned ? source.with(perClient()) : source, limits, log);
        if (planned) {
            checkKey(traffic);
        }
        List<NamedFile> others = check.stream().map(Path::of).map(NamedFile::of).toList();
        Traffic checked = others.isEmpty() ? traffic : traffic.of(others);
        checkRecordings(traffic, checked);
        long split = others.isEmpty() ? split(traffic) : Long.MAX_VALUE;
        Suggester suggester = new Suggester(traffic.limits(), traffic.stages(), share);
        List<Suggestion> suggestions = suggester.suggest(traffic::open, split);
        SimulatedLimits suggested = suggester.apply(suggestions);
        TouchedKeys seen = new TouchedKeys(suggested, Long.MIN_VALUE, split);
        TouchedKeys heldOut = new TouchedKeys(suggested, others.isEmpty() ? split : Long.MIN_VALUE, Long.MAX_VALUE);
        List<LogSummary> logs = new ArrayList<>(List.of(traffic.log()));
        if (others.isEmpty()) {
            traffic.under(suggested).replay(List.of(seen, heldOut));
        } else {
            traffic.under(suggested).replay(List.of(seen));
            checked.under(suggested).replay(List.of(heldOut));
            logs.add(checked.log());
        }
        KeyText keys = new KeyText(suggested.rules().inForce(), showKeys || suggested.areRecorded());
        SuggestionReport report = new SuggestionReport(out(), share, keys);
        boolean holds = report.print(suggestions, traffic.limits(), suggested, seen, heldOut);
        report.notes(suggester.notes(), traffic);
        logs.forEach(summary -> summary.unread().forEach(report::unread));
        return holds ? logs.stream().mapToInt(this::statusOf).max().orElse(0) : Main.UNMET;
    }

    /** Whether there is no configuration, so that a policy for each client is planned. */
    private boolean isPlanned(ConfigurationSource source) {
        return limits.files.isEmpty()
                && ConfigurationSource.bind(source.environment()).policies().isEmpty();
    }

    /** The policy that is planned. Its limit is in force nowhere, and only has the period of what is suggested. */
    private Map<String, String> perClient() {
        String prefix = "ratelimit.policies." + PER_CLIENT;
        return Map.of(prefix + ".limit", "1/minute", prefix + ".key", key);
    }

    private void checkKey(Traffic traffic) {
        List<String> lack = traffic.limits().leftOut().get(PER_CLIENT);
        if (lack != null) {
            throw new IllegalArgumentException(
                    "--key " + key + " reads what the log lacks: " + String.join(", ", lack));
        }
    }

    private static void checkRecordings(Traffic traffic, Traffic checked) {
        boolean recorded = checked.log().recording() != null;
        if (recorded != (traffic.log().recording() != null)) {
            throw new IllegalArgumentException("of --input and --check, only --" + (recorded ? "check" : "input")
                    + " is a recording; write two recordings, or none");
        }
    }

    /** When the part begins that is held out. */
    private static long split(Traffic traffic) throws IOException {
        long training = (long) (traffic.log().requests() * TRAINING);
        long first = Long.MAX_VALUE;
        long split = Long.MIN_VALUE;
        try (AccessLog log = traffic.open()) {
            for (LoggedRequest request = log.next(); request != null; request = log.next()) {
                first = Math.min(first, request.nanos());
                split = Math.max(split, request.nanos());
                if (training-- <= 0 && split > first) {
                    return split;
                }
            }
        }
        if (first >= split) {
            throw new IllegalArgumentException(
                    "the log has requests of one moment at most, which is too little to suggest limits from");
        }
        return split;
    }
}
