package dev.ratelimit.benchmarks.report;

import dev.ratelimit.benchmarks.AlgorithmBenchmark;
import dev.ratelimit.benchmarks.ChainBenchmark;
import dev.ratelimit.benchmarks.HotLimiterBenchmark;
import dev.ratelimit.benchmarks.KeyedBenchmark;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the contenders decide, and in how many threads.
 *
 * @param title without the number of threads
 * @param method the benchmark, as the names of a class and a method
 * @param parameters of the benchmark, except the contender
 * @param contenders in the order of the table
 */
record Scenario(String title, String method, Map<String, String> parameters, int threads, Contenders contenders) {

    private static final Contenders HOT = new Contenders(
            "contender",
            List.of(
                    "FLOOR",
                    "OURS",
                    "OURS_BY_KEY",
                    "OURS_IN_FULL",
                    "OURS_BY_KEY_IN_FULL",
                    "BUCKET4J",
                    "RESILIENCE4J",
                    "GUAVA"));
    private static final Contenders KEYED = new Contenders(
            "contender",
            List.of("BARE_TABLE", "NOTHING", "MAP", "OURS", "BUCKET4J", "BUCKET4J_IN_MAP", "RESILIENCE4J", "GUAVA"));
    private static final Contenders CHAIN =
            new Contenders("contender", List.of("BARE_TABLE", "OURS", "OURS_IN_FULL", "BUCKET4J"));
    private static final Contenders ALGORITHMS = new Contenders(
            "kind", Stream.of(AlgorithmBenchmark.Kind.values()).map(Enum::name).toList());

    /**
     * The contenders.
     *
     * @param parameter the parameter of the benchmark that selects them
     * @param names the first of them is the floor
     */
    record Contenders(String parameter, List<String> names) {

        String floor() {
            return names.get(0);
        }
    }

    static List<Scenario> few() {
        return List.of(
                hot("admitted", 1),
                hot("refused", 1),
                keyed("1000000", "ZIPF", 1),
                chain("ADMITTED", "1000000", 1),
                chain("REFUSED", "1000000", 1));
    }

    static List<Scenario> all() {
        List<Scenario> all = new ArrayList<>();
        int processors = Runtime.getRuntime().availableProcessors();
        for (int threads : processors == 1 ? List.of(1) : List.of(1, processors)) {
            all.add(hot("admitted", threads));
            all.add(hot("refused", threads));
            for (String access : List.of("ZIPF", "UNIFORM")) {
                for (String keys : List.of("1000", "100000", "1000000")) {
                    all.add(keyed(keys, access, threads));
                }
            }
            all.add(chain("ADMITTED", "1000000", threads));
            all.add(chain("REFUSED", "1000000", threads));
        }
        all.add(algorithms("admitted"));
        all.add(algorithms("refused"));
        return all;
    }

    static Scenario hot(String method, int threads) {
        return new Scenario(
                "One hot budget, " + method, method(HotLimiterBenchmark.class, method), Map.of(), threads, HOT);
    }

    static Scenario keyed(String keys, String access, int threads) {
        return new Scenario(
                String.format(
                        Locale.ROOT, "%,d keys, %s", Integer.valueOf(keys), access.equals("ZIPF") ? "Zipf" : "uniform"),
                method(KeyedBenchmark.class, "admitted"),
                Map.of("keys", keys, "access", access),
                threads,
                KEYED);
    }

    static Scenario chain(String outcome, String users, int threads) {
        return new Scenario(
                String.format(
                        Locale.ROOT, "Three limits of %,d users, %s", Integer.valueOf(users), Names.plain(outcome)),
                method(ChainBenchmark.class, "decide"),
                Map.of("outcome", outcome, "users", users),
                threads,
                CHAIN);
    }

    static Scenario algorithms(String method) {
        return new Scenario(
                "Each algorithm, " + method, method(AlgorithmBenchmark.class, method), Map.of(), 1, ALGORITHMS);
    }

    /** The same scenario with those of its contenders that are named here. */
    Scenario among(String... names) {
        List<String> few =
                contenders.names().stream().filter(List.of(names)::contains).toList();
        return new Scenario(title, method, parameters, threads, new Contenders(contenders.parameter(), few));
    }

    String name() {
        return title + (threads == 1 ? ", 1 thread" : ", " + threads + " threads");
    }

    private static String method(Class<?> benchmark, String method) {
        return benchmark.getName() + "." + method;
    }
}
