package dev.ratelimit.benchmarks.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.benchmarks.report.ResultFile;
import dev.ratelimit.benchmarks.report.Table;
import dev.ratelimit.jdbc.JdbcStore;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Several ways to decide about requests in one PostgreSQL, side by side in one run, all by the same pool of ten connections: each
 * round runs all of them in a different order. A decision that is not one fails the run. {@code --short} takes about a minute;
 * {@code -Dcallers=1,64} is how many call.
 */
public final class SqlBenchmark implements AutoCloseable {

    private static final List<Integer> CALLERS = Stream.of(
                    System.getProperty("callers", "1,16,64").split(",", -1))
            .map(Integer::valueOf)
            .toList();
    private static final int USERS = 1000;
    private static final String LEAST = "select 1";

    /**
     * What one contender has done with so many callers.
     *
     * @param databaseMicros CPU time of all processes of the database for one decision
     */
    private record Figure(double perSecond, double databaseMicros) {}

    private record Case(String name, Contender contender, int users) {}

    private final EmbeddedPostgres server;
    private final HikariDataSource pool;
    private final List<Case> cases = new ArrayList<>();
    private final Map<String, List<Figure>> figures = new LinkedHashMap<>();
    private final Random random = new Random(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final int rounds;
    private final Duration time;

    private SqlBenchmark(boolean brief) throws IOException, SQLException {
        rounds = brief ? 3 : 5;
        time = Duration.ofMillis(brief ? 400 : 3000);
        server = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(2))
                .start();
        HikariConfig settings = new HikariConfig();
        settings.setDataSource(server.getPostgresDatabase());
        settings.setMaximumPoolSize(10);
        settings.setConnectionTimeout(60_000);
        pool = new HikariDataSource(settings);
        createTables();
        String[] one = {"user"};
        String[] three = {"global", "endpoint", "user"};
        cases.add(new Case(LEAST, Contender.select1(pool), USERS));
        add("one policy", one);
        add("three policies", three);
        cases.add(new Case("one key for all, leased: this library", Contender.ours(pool, true, one), 1));
    }

    private void add(String what, String... policies) {
        cases.add(new Case(what + ": this library", Contender.ours(pool, false, policies), USERS));
        cases.add(new Case(
                what + ": Bucket4j, select for update", Contender.bucket4j(pool, false, policies), USERS));
        cases.add(new Case(what + ": Bucket4j, advisory lock", Contender.bucket4j(pool, true, policies), USERS));
    }

    private void createTables() throws IOException, SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                InputStream script = JdbcStore.class.getResourceAsStream("schema-postgresql.sql")) {
            statement.execute(new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.US_ASCII));
            for (String table : List.of("bucket", "advisory")) {
                statement.execute("create table " + table + " (id varchar primary key, state bytea, expires_at bigint)");
            }
        }
    }

    /** Measures, prints the table in Markdown, and writes it. */
    public static void main(String[] arguments) throws Exception {
        try (SqlBenchmark benchmark = new SqlBenchmark(List.of(arguments).contains("--short"))) {
            ResultFile file = new ResultFile("sql");
            benchmark.measure();
            List<Table> tables = CALLERS.stream().map(benchmark::table).toList();
            String how = "PostgreSQL as it comes, a pool of 10 connections, %d users; %d rounds of %d ms, medians%n"
                    .formatted(USERS, benchmark.rounds, benchmark.time.toMillis());
            System.out.println(how);
            tables.forEach(table -> System.out.println(table.markdown()));
            file.write(how, tables);
        }
    }

    private void measure() throws Exception {
        for (Case one : cases) {
            // every row is there before anything is measured
            for (int user = 0; user < one.users; user++) {
                require(one.contender.decide("user " + user));
            }
        }
        for (int round = 0; round < rounds; round++) {
            Collections.shuffle(cases, random);
            for (int callers : CALLERS) {
                for (Case one : cases) {
                    run(one, callers, time.dividedBy(5));
                    figures.computeIfAbsent(name(one.name, callers), key -> new ArrayList<>())
                            .add(run(one, callers, time));
                }
            }
        }
    }

    private static void require(boolean admitted) {
        if (!admitted) {
            throw new IllegalStateException("a request was refused");
        }
    }

    private Figure run(Case one, int callers, Duration lasting) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        long cpu = databaseMicros();
        long start = System.nanoTime();
        List<Future<Long>> running = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            running.add(threads.submit(() -> {
                long decided = 0;
                while (!over.get()) {
                    require(one.contender.decide(
                            "user " + ThreadLocalRandom.current().nextInt(one.users)));
                    decided++;
                }
                return decided;
            }));
        }
        TimeUnit.NANOSECONDS.sleep(lasting.toNanos());
        over.set(true);
        long decided = 0;
        for (Future<Long> caller : running) {
            decided += caller.get();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Figure(decided / seconds, (double) (databaseMicros() - cpu) / decided);
    }

    /** The CPU time of all processes of PostgreSQL on this machine. */
    private static long databaseMicros() {
        return ProcessHandle.allProcesses()
                        .map(ProcessHandle::info)
                        .filter(process -> process.command().orElse("").endsWith("postgres"))
                        .mapToLong(process ->
                                process.totalCpuDuration().orElse(Duration.ZERO).toNanos())
                        .sum()
                / 1000;
    }

    private static String name(String contender, int callers) {
        return contender + ", " + callers;
    }

    private Table table(int callers) {
        double least = perSecond(LEAST, callers);
        List<List<String>> rows = cases.stream()
                .map(Case::name)
                .sorted(String.CASE_INSENSITIVE_ORDER)
                .map(name -> List.of(
                        name,
                        String.format(Locale.ROOT, "%,.0f", perSecond(name, callers)),
                        Table.ratio(perSecond(name, callers) / least),
                        String.format(Locale.ROOT, "%.0f", median(name, callers, false))))
                .toList();
        return new Table(
                callers + (callers == 1 ? " caller" : " callers"),
                List.of("", "decisions/s", "of " + LEAST, "CPU of the database, µs"),
                rows);
    }

    private double perSecond(String name, int callers) {
        return median(name, callers, true);
    }

    private double median(String name, int callers, boolean perSecond) {
        List<Double> sorted = Objects.requireNonNull(figures.get(name(name, callers))).stream()
                .map(figure -> perSecond ? figure.perSecond : figure.databaseMicros)
                .sorted()
                .toList();
        return sorted.get(sorted.size() / 2);
    }

    @Override
    public void close() throws IOException {
        threads.shutdownNow();
        cases.forEach(one -> one.contender.close());
        pool.close();
        server.close();
    }
}
