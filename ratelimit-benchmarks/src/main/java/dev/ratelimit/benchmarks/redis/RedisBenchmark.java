package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.redis.Round.Requests;
import dev.ratelimit.benchmarks.report.ResultFile;
import dev.ratelimit.benchmarks.report.Table;
import dev.ratelimit.redis.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.resource.ClientResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Several ways to decide about one request under three limits on one Redis, side by side in one run: each round runs
 * all contenders in a different order. It does not use JMH, because it measures percentiles over many callers and the
 * CPU time of the server.
 *
 * <p>{@code --short} takes less than a minute; names as arguments select contenders; {@code -Dcallers=1,512} how many
 * call. {@code -Dredis.executable} names the server program.
 */
public final class RedisBenchmark implements AutoCloseable {

    private static final List<Integer> CALLERS = Stream.of(
                    System.getProperty("callers", "1,16,64").split(",", -1))
            .map(Integer::valueOf)
            .toList();
    private static final int SPARE_DATABASE = Entry.ALL.size();

    /** If others use this much of a core, a measurement is repeated. */
    private static final double DISTURBED = 0.1;

    private final List<Entry> entries;
    private final Plan plan;
    private final Random random = new Random(1);
    private final Report report = new Report();
    private final ClientResources resources = ClientResources.create();
    private final List<RedisClient> clients = new ArrayList<>();
    private final RedisServer server = RedisServer.start("--databases", Integer.toString(SPARE_DATABASE + 1));
    private final RedisClient consoleClient = client(SPARE_DATABASE);
    private final RedisCommands<String, String> console =
            consoleClient.connect().sync();

    private record Plan(int rounds, int repeats, Duration warmUp, Duration time) {

        static final Plan SHORT = new Plan(3, 0, Duration.ofMillis(50), Duration.ofMillis(250));
        static final Plan FULL =
                new Plan(5, Integer.getInteger("repeats", 2), Duration.ofMillis(500), Duration.ofSeconds(3));
    }

    private record Opened(Entry entry, Contender contender, Requests requests) {}

    private RedisBenchmark(List<Entry> entries, Plan plan) {
        this.entries = entries;
        this.plan = plan;
    }

    /** Measures, prints the tables in Markdown, and writes them. */
    public static void main(String[] arguments) {
        List<String> names = Stream.of(arguments)
                .filter(argument -> !argument.equals("--short"))
                .toList();
        List<Entry> entries = Entry.ALL.stream()
                .filter(entry -> names.isEmpty() || entry.equals(Entry.GET) || names.contains(entry.name()))
                .toList();
        Plan plan = List.of(arguments).contains("--short") ? Plan.SHORT : Plan.FULL;
        try (RedisBenchmark benchmark = new RedisBenchmark(entries, plan)) {
            ResultFile file = new ResultFile("redis");
            benchmark.measure();
            List<Table> tables = benchmark.report.tables(entries, CALLERS);
            System.out.println(benchmark.surroundings());
            tables.forEach(table -> System.out.println(table.markdown()));
            file.write(benchmark.surroundings(), tables);
        }
    }

    private void measure() {
        List<Opened> opened = new ArrayList<>();
        for (Entry entry : entries) {
            prove(entry);
            RedisClient client = client(entry.database());
            clients.add(client);
            Contender contender = entry.opening().open(client, entry.limits());
            Requests requests = Requests.of(entry);
            Round.touchAll(contender, requests, 16);
            opened.add(new Opened(entry, contender, requests));
        }
        List<Integer> callers = new ArrayList<>(CALLERS);
        for (int round = 0; round < plan.rounds; round++) {
            Collections.shuffle(callers, random);
            for (int number : callers) {
                Collections.shuffle(opened, random);
                opened.forEach(one -> measure(one, number));
            }
        }
    }

    private void prove(Entry entry) {
        if (!entry.equals(Entry.GET)) {
            try (RedisClient client = client(SPARE_DATABASE)) {
                new Proof(client, entry).show();
            }
        }
    }

    private void measure(Opened one, int callers) {
        Round.run(one.contender, one.requests, console, callers, plan.warmUp);
        Measurement quietest = Round.run(one.contender, one.requests, console, callers, plan.time);
        for (int again = 0; again < plan.repeats && quietest.othersCores() > DISTURBED; again++) {
            Measurement other = Round.run(one.contender, one.requests, console, callers, plan.time);
            quietest = other.othersCores() < quietest.othersCores() ? other : quietest;
        }
        report.add(one.entry, callers, quietest);
    }

    private RedisClient client(int database) {
        RedisURI uri = server.uri();
        uri.setDatabase(database);
        return RedisClient.create(resources, uri);
    }

    private String surroundings() {
        String redis = Stream.of(console.info("server").split("\r\n"))
                .filter(line -> line.startsWith("redis_version:") || line.startsWith("valkey_version:"))
                .reduce("", (first, second) -> second)
                .replace("_version:", " ");
        return "%d processors (%s), %s %s, %s %s, %s%n%d rounds of %d ms, medians; of GET: lowest and highest in brackets%n"
                .formatted(
                        Runtime.getRuntime().availableProcessors(),
                        processor(),
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        System.getProperty("java.vm.name"),
                        System.getProperty("java.vm.version"),
                        redis,
                        plan.rounds,
                        plan.time.toMillis());
    }

    private static String processor() {
        Path file = Path.of("/proc/cpuinfo");
        if (!Files.isReadable(file)) {
            return System.getProperty("os.arch");
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 2))
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        clients.forEach(RedisClient::close);
        consoleClient.close();
        resources.shutdown(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
        server.close();
    }
}
