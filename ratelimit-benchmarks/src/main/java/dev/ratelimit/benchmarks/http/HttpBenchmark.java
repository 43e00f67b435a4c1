package dev.ratelimit.benchmarks.http;

import dev.ratelimit.benchmarks.report.Median;
import dev.ratelimit.benchmarks.report.Others;
import dev.ratelimit.benchmarks.report.ResultFile;
import dev.ratelimit.benchmarks.report.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What a limit adds to a request: a server whose only endpoint returns one word, without limits, with hand-written
 * limits, with three limits of this library and with one of Bucket4j's starter, which are never reached or refuse nine
 * of ten. It measures the CPU time of the server's process, because the client shares the cores.
 *
 * <p>{@code short} takes ten minutes, {@code full} twenty-five, and more on a busy machine. Needs {@code wrk}.
 */
public final class HttpBenchmark {

    private static final int MAX_WARM_UPS = 30;
    private static final long AMPLE = 1_000_000;

    /** The CPU time per request, relative to that of the two seconds before, from which on a server counts as warm. */
    private static final double FLAT = 0.98;

    private static final int FLAT_WINDOWS = 3;

    private final Plan plan;
    private final Load load = new Load();
    private final Map<Contender, Long> tightLimits = new EnumMap<>(Contender.class);
    private final Map<Contender, List<Round>> rounds = new EnumMap<>(Contender.class);

    /** A server, and whether its limits are reached. */
    private enum Contender {
        NONE("none", false),
        FLOOR("floor", false),
        HAND("hand", false),
        OURS("ours", false),
        BUCKET4J("bucket4j", false),
        FLOOR_REFUSING("floor", true),
        HAND_REFUSING("hand", true),
        OURS_REFUSING("ours", true),
        BUCKET4J_REFUSING("bucket4j", true);

        private final String profile;
        private final boolean refusing;

        Contender(String profile, boolean refusing) {
            this.profile = profile;
            this.refusing = refusing;
        }
    }

    private record Plan(int rounds, int warmUps, int seconds) {}

    private record Round(double cpuMicros, Load.Answers answers, double othersCores) {}

    private HttpBenchmark(Plan plan) {
        this.plan = plan;
        for (Contender contender : Contender.values()) {
            rounds.put(contender, new ArrayList<>());
            tightLimits.put(contender, AMPLE);
        }
    }

    /** Measures {@code short} or {@code full}, and writes tables. */
    public static void main(String[] arguments) {
        boolean full = List.of(arguments).contains("full");
        Plan plan = full ? new Plan(5, 600_000, 10) : new Plan(3, 300_000, 4);
        ResultFile file = new ResultFile(full ? "http" : "http-short");
        HttpBenchmark benchmark =
                new HttpBenchmark(new Plan(Integer.getInteger("rounds", plan.rounds), plan.warmUps, plan.seconds));
        benchmark.tighten();
        benchmark.run();
        file.write(
                "%d rounds of one JVM each, in another order each; %d requests to warm up, %d s by wrk. Medians."
                        .formatted(benchmark.plan.rounds, plan.warmUps, plan.seconds),
                List.of(
                        benchmark.table("HTTP, limits never reached", false),
                        benchmark.table("HTTP, nine of ten requests refused", true)));
    }

    /** Finds how many requests a server handles while it refuses most of them, and lets it admit a tenth of them. */
    private void tighten() {
        for (Contender contender : Contender.values()) {
            if (contender.refusing) {
                tightLimits.put(contender, 20L);
                double perSecond = measure(contender).answers.perSecond();
                tightLimits.put(contender, Math.max(1, Math.round(perSecond / 10 / Load.USERS)));
            }
        }
    }

    private void run() {
        for (int round = 1; round <= plan.rounds; round++) {
            List<Contender> order = new ArrayList<>(List.of(Contender.values()));
            Collections.shuffle(order);
            for (Contender contender : order) {
                Round one = measure(contender);
                of(contender).add(one);
                System.err.printf(
                        Locale.ROOT,
                        "round %d of %d: %s: %.1f µs CPU, %.0f a second, %d of %d refused; others %.2f%n",
                        round,
                        plan.rounds,
                        contender,
                        one.cpuMicros,
                        one.answers.perSecond(),
                        one.answers.refused(),
                        one.answers.all(),
                        one.othersCores);
            }
        }
    }

    private Round measure(Contender contender) {
        long limit = tightLimits.getOrDefault(contender, AMPLE);
        try (ServerProcess server = ServerProcess.start(contender.profile, limit)) {
            warmUp(server);
            Others others = new Others();
            long before = server.cpuTime().toNanos();
            Load.Answers answers = load.run(server.port(), plan.seconds);
            double used = server.cpuTime().toNanos() - before;
            return new Round(used / 1e3 / answers.all(), answers, others.cores(used));
        }
    }

    /** Until the CPU time per request has not fallen for a while, after a number of requests: compilation may take long. */
    private void warmUp(ServerProcess server) {
        long answered = 0;
        double least = Double.MAX_VALUE;
        int flat = 0;
        for (int again = 0; again < MAX_WARM_UPS; again++) {
            long before = server.cpuTime().toNanos();
            long answers = load.run(server.port(), 2).all();
            double nanos = (double) (server.cpuTime().toNanos() - before) / answers;
            answered += answers;
            flat = nanos > least * FLAT ? flat + 1 : 0;
            if (answered >= plan.warmUps && flat >= FLAT_WINDOWS) {
                return;
            }
            least = Math.min(least, nanos);
        }
    }

    private Table table(String title, boolean refusing) {
        List<List<String>> rows = new ArrayList<>();
        Contender ours = refusing ? Contender.OURS_REFUSING : Contender.OURS;
        for (Contender contender : Contender.values()) {
            if (contender == Contender.NONE || contender.refusing == refusing) {
                rows.add(List.of(
                        name(contender),
                        median("%.1f", contender, Round::cpuMicros),
                        ratio(contender, Contender.NONE),
                        ratio(contender, ours),
                        median("%.0f", contender, round -> round.answers.perSecond()),
                        median("%.0f", contender, round -> round.answers.p50()),
                        median("%.0f", contender, round -> round.answers.p99()),
                        median("%.0f %%", contender, round -> 100.0 * round.answers.refused() / round.answers.all()),
                        median("%.2f", contender, Round::othersCores)));
            }
        }
        List<String> header = List.of(
                "contender",
                "server CPU µs/request",
                "of none",
                "of ratelimit",
                "requests/s",
                "p50 µs",
                "p99 µs",
                "refused",
                "others");
        return new Table(title, header, rows);
    }

    private String median(String format, Contender contender, ToDoubleFunction<Round> number) {
        return String.format(
                Locale.ROOT,
                format,
                Median.of(of(contender).stream().mapToDouble(number).toArray()));
    }

    private String ratio(Contender contender, Contender other) {
        return Table.ratio(Median.of(IntStream.range(0, plan.rounds)
                .mapToDouble(
                        round -> of(contender).get(round).cpuMicros / of(other).get(round).cpuMicros)
                .toArray()));
    }

    private List<Round> of(Contender contender) {
        return rounds.getOrDefault(contender, List.of());
    }

    private static String name(Contender contender) {
        return contender.profile.replace("ours", "ratelimit");
    }
}
