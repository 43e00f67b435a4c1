package dev.ratelimit.benchmarks.http;

import dev.ratelimit.benchmarks.report.Median;
import dev.ratelimit.benchmarks.report.Others;
import dev.ratelimit.benchmarks.report.ResultFile;
import dev.ratelimit.benchmarks.report.Table;
import dev.ratelimit.redis.server.RedisServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What a limit adds to a request: a server whose only endpoint returns one word, without limits, with hand-written
 * limits, with three limits of this library and with one of Bucket4j's starter, which are never reached or refuse nine
 * of ten. It measures the CPU time of the server's process, because the client shares the cores. {@code webflux} and
 * {@code gateway} measure a server on WebFlux and Spring Cloud Gateway instead, the latter also beside its own limiters.
 *
 * <p>All servers run at the same time and get load in turn, for a second each: a busy moment of the machine then falls on
 * few turns, and the ratios within a round are of the same moment. Needs {@code wrk}, and half a gigabyte for each server.
 */
public final class HttpBenchmark {

    private static final int MAX_WARM_UPS = 30;
    private static final long AMPLE = 1_000_000;

    /** The CPU time per request, relative to that of the two seconds before, from which on a server counts as warm. */
    private static final double FLAT = 0.98;

    private static final int FLAT_WINDOWS = 3;

    private final Plan plan;
    private final Series series;
    private final List<Contender> contenders;
    private final int redisPort;
    private final Load load = new Load();
    private final Map<Contender, Long> tightLimits = new EnumMap<>(Contender.class);
    private final Map<Contender, List<Round>> rounds = new EnumMap<>(Contender.class);

    /** Contenders on one web stack. */
    private enum Series {
        SERVLET("http", "ratelimit-benchmarks-http"),
        WEBFLUX("http-webflux", "ratelimit-benchmarks-webflux"),
        GATEWAY("http-gateway", "ratelimit-benchmarks-webflux");

        private final String results;
        private final String module;

        Series(String results, String module) {
            this.results = results;
            this.module = module;
        }

        private static Series of(List<String> arguments) {
            return Stream.of(WEBFLUX, GATEWAY)
                    .filter(series -> arguments.contains(series.name().toLowerCase(Locale.ROOT)))
                    .findFirst()
                    .orElse(SERVLET);
        }
    }

    /** A server, and whether its limits are reached. The first one of a series has no limits. */
    private enum Contender {
        NONE(Series.SERVLET, "none", false),
        FLOOR(Series.SERVLET, "floor", false),
        HAND(Series.SERVLET, "hand", false),
        OURS(Series.SERVLET, "ours", false),
        BUCKET4J(Series.SERVLET, "bucket4j", false),
        FLOOR_REFUSING(Series.SERVLET, "floor", true),
        HAND_REFUSING(Series.SERVLET, "hand", true),
        OURS_REFUSING(Series.SERVLET, "ours", true),
        BUCKET4J_REFUSING(Series.SERVLET, "bucket4j", true),
        WEBFLUX_NONE(Series.WEBFLUX, "none", false),
        WEBFLUX_OURS(Series.WEBFLUX, "ours", false),
        WEBFLUX_OURS_REFUSING(Series.WEBFLUX, "ours", true),
        GATEWAY_NONE(Series.GATEWAY, "gateway,none", false),
        GATEWAY_OURS(Series.GATEWAY, "gateway,ours", false),
        GATEWAY_OURS_REDIS(Series.GATEWAY, "gateway,ours,redis", false),
        GATEWAY_REDIS(Series.GATEWAY, "gateway,request-rate-limiter", false),
        GATEWAY_BUCKET4J(Series.GATEWAY, "gateway,bucket4j", false),
        GATEWAY_OURS_REFUSING(Series.GATEWAY, "gateway,ours", true);

        private final Series series;
        private final String profiles;
        private final boolean refusing;

        Contender(Series series, String profiles, boolean refusing) {
            this.series = series;
            this.profiles = profiles;
            this.refusing = refusing;
        }

        private static List<Contender> in(Series series) {
            return Stream.of(values())
                    .filter(contender -> contender.series == series)
                    .toList();
        }
    }

    /**
     * How often and how long each contender is measured.
     *
     * @param servers JVMs of each contender, one after another: they compile differently
     * @param rounds of all contenders, with each of these JVMs
     * @param warmUps the requests at least that warm a server up
     */
    private record Plan(int servers, int rounds, int warmUps) {}

    private record Round(double cpuMicros, Load.Answers answers, double othersCores) {

        double perSecond() {
            return answers.perSecond();
        }
    }

    private HttpBenchmark(Plan plan, Series series, int redisPort) {
        this.plan = plan;
        this.series = series;
        this.redisPort = redisPort;
        this.contenders = Contender.in(series);
        for (Contender contender : contenders) {
            rounds.put(contender, new ArrayList<>());
            tightLimits.put(contender, AMPLE);
        }
    }

    /** Measures {@code short} or {@code full}, of {@code webflux}, {@code gateway} or else servlets; writes tables. */
    public static void main(String[] arguments) {
        List<String> words = List.of(arguments);
        boolean full = words.contains("full");
        Series series = Series.of(words);
        Plan plan = full ? new Plan(3, 20, 600_000) : new Plan(1, 20, 300_000);
        Plan chosen = new Plan(plan.servers, Integer.getInteger("rounds", plan.rounds), plan.warmUps);
        ResultFile file = new ResultFile(full ? series.results : series.results + "-short");
        try (RedisServer redis = series == Series.GATEWAY ? RedisServer.start() : null) {
            new HttpBenchmark(chosen, series, redis == null ? 0 : redis.port()).measureAll(file);
        }
    }

    private void measureAll(ResultFile file) {
        tighten();
        for (int number = 1; number <= plan.servers; number++) {
            System.err.printf("servers %d of %d%n", number, plan.servers);
            runRounds();
            file.write(
                    ("%d servers of each contender, one after another, and %d rounds with each of them, in which all contenders"
                                    + " get load by wrk for a second each, in another order each; at least %,d requests to"
                                    + " warm a server up. Medians; ratios are medians of those within a round, with their 95 %%"
                                    + " bootstrap intervals.")
                            .formatted(number, plan.rounds, plan.warmUps),
                    List.of(
                            table("HTTP, limits never reached", false),
                            table("HTTP, nine of ten requests refused", true)));
        }
    }

    /** Finds how many requests a server handles while it refuses most of them, and lets it admit a tenth of them. */
    private void tighten() {
        for (Contender contender : contenders) {
            if (contender.refusing) {
                tightLimits.put(contender, 20L);
                try (ServerProcess server = start(contender)) {
                    warmUp(server);
                    double perSecond = measure(server).answers.perSecond();
                    tightLimits.put(contender, Math.max(1, Math.round(perSecond / 10 / Load.USERS)));
                }
            }
        }
    }

    private ServerProcess start(Contender contender) {
        long limit = tightLimits.getOrDefault(contender, AMPLE);
        return ServerProcess.start(
                series.module, contender.profiles, Map.of("user-limit", limit, "redis-port", redisPort));
    }

    /** Starts all servers, warms them up and measures them in turn. */
    private void runRounds() {
        Map<Contender, ServerProcess> servers = new EnumMap<>(Contender.class);
        try {
            for (Contender contender : contenders) {
                ServerProcess server = start(contender);
                servers.put(contender, server);
                warmUp(server);
            }
            List<Map.Entry<Contender, ServerProcess>> order = new ArrayList<>(servers.entrySet());
            for (int round = 1; round <= plan.rounds; round++) {
                Collections.shuffle(order);
                for (Map.Entry<Contender, ServerProcess> turn : order) {
                    Round one = measure(turn.getValue());
                    of(turn.getKey()).add(one);
                    print(round, turn.getKey(), one);
                }
            }
        } finally {
            servers.values().forEach(ServerProcess::close);
        }
    }

    private void print(int round, Contender contender, Round one) {
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

    private Round measure(ServerProcess server) {
        Others others = new Others();
        long before = server.cpuTime().toNanos();
        Load.Answers answers = load.run(server.port(), 1);
        double used = server.cpuTime().toNanos() - before;
        return new Round(used / 1e3 / answers.all(), answers, others.cores(used));
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
        Contender none = contenders.get(0);
        Contender ours = contenders.stream()
                .filter(contender -> contender.refusing == refusing && contender.profiles.endsWith("ours"))
                .findFirst()
                .orElseThrow();
        for (Contender contender : contenders) {
            if (contender == none || contender.refusing == refusing) {
                rows.add(List.of(
                        name(contender),
                        median("%.1f", contender, Round::cpuMicros),
                        ratio(contender, none, Round::cpuMicros),
                        ratio(contender, ours, Round::cpuMicros),
                        median("%.0f", contender, Round::perSecond),
                        ratio(contender, ours, Round::perSecond),
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
                "of ratelimit",
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

    private String ratio(Contender contender, Contender other, ToDoubleFunction<Round> number) {
        double[] ratios = IntStream.range(0, of(contender).size())
                .mapToDouble(round -> number.applyAsDouble(of(contender).get(round))
                        / number.applyAsDouble(of(other).get(round)))
                .toArray();
        double[] interval = Median.interval(ratios);
        String median = Table.ratio(Median.of(ratios));
        return contender == other
                ? median
                : median + " (" + Table.ratio(interval[0]) + "–" + Table.ratio(interval[1]) + ")";
    }

    private List<Round> of(Contender contender) {
        return rounds.getOrDefault(contender, List.of());
    }

    private static String name(Contender contender) {
        return contender
                .profiles
                .replace("gateway,", "")
                .replace("ours", "ratelimit")
                .replace(',', '-');
    }
}
