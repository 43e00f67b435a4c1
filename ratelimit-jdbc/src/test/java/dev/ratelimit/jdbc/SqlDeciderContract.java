package dev.ratelimit.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LimitNotation;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.Stamp;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What a {@link SqlDecider} does on every database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // so that a subclass can say which database
abstract class SqlDeciderContract {

    private static final Policy TEN = Policy.of("ten", FixedWindow.of(Rate.parse("10/day")));
    private static final Policy THREE = Policy.of("three", Concurrency.of(3, Duration.ofHours(1)));

    private final AtomicLong ids = new AtomicLong();
    TestDatabase database;
    private SqlDecider decider;

    abstract TestDatabase start();

    @BeforeAll
    void startDatabase() {
        database = start();
    }

    @AfterAll
    void closeDatabase() {
        if (database != null) {
            database.close();
        }
    }

    @BeforeEach
    void empty() {
        database.run("delete from ratelimit");
        decider = decider("ratelimit", 20);
    }

    private SqlDecider decider(String table, int timeoutSeconds) {
        return new SqlDecider(database.dialect(), table, LimitNotation.STANDARD, timeoutSeconds);
    }

    private Order charge(Charge... charges) {
        return new Order(Operation.CHARGE, List.of(charges), new Stamp(0, ids.incrementAndGet()));
    }

    private static Order peek(Charge... charges) {
        return new Order(Operation.PEEK, List.of(charges), new Stamp(0, 0));
    }

    private static Order reset(Charge... charges) {
        return new Order(Operation.RESET, List.of(charges), new Stamp(0, 0));
    }

    private static Order refund(Order charge, long micros) {
        return new Order(
                Operation.REFUND,
                charge.charges(),
                new Stamp(micros, charge.stamp().id()));
    }

    private List<Executed> execute(Order... orders) {
        return execute(decider, orders);
    }

    private List<Executed> execute(SqlDecider by, Order... orders) {
        try {
            Connection connection = database.borrow();
            try {
                return by.execute(connection, List.of(orders), () -> {});
            } finally {
                database.giveBack(connection);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private long remaining(Policy policy, String key) {
        return execute(peek(policy.charge(key, 0)))
                .get(0)
                .statuses()
                .get(0)
                .get(0)
                .remaining();
    }

    private long rows() throws SQLException {
        return number("select count(*) from ratelimit");
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            found.next();
            return found.getLong(1);
        }
    }

    @Test
    void execute_manyOrders_oneAfterAnother_eachAllOrNothing() {
        Order first = charge(TEN.charge("k", 6), THREE.charge("k", 2));

        List<Executed> answers = execute(
                first,
                charge(TEN.charge("k", 3), THREE.charge("k", 2)),
                peek(TEN.charge("k", 4)),
                refund(first, 0),
                charge(TEN.charge("k", 3), THREE.charge("k", 2)),
                reset(TEN.charge("k")),
                charge(TEN.charge("k", 10)),
                charge(TEN.charge("other", 11)));

        assertThat(answers)
                .extracting(Executed::admitted)
                .containsExactly(true, false, true, true, true, true, true, false);
        assertThat(answers)
                .extracting(Executed::nowMicros)
                .containsOnly(answers.get(0).nowMicros());
        assertThat(remaining(TEN, "k")).isZero();
        assertThat(remaining(THREE, "k")).isEqualTo(1);
        assertThat(remaining(TEN, "other")).isEqualTo(10);
    }

    @Test
    void execute_nothing_isAdmitted() {
        assertThat(execute()).isEmpty();
        assertThat(execute(charge()).get(0).admitted()).isTrue();
        assertThat(execute(peek()).get(0).nowMicros()).isPositive();
    }

    @Test
    void execute_time_isThatOfTheDatabase() {
        long before = System.currentTimeMillis() * 1000;
        long now = execute(charge(TEN.charge("k"))).get(0).nowMicros();
        long after = (System.currentTimeMillis() + 1) * 1000;

        assertThat(now).isBetween(before, after);
    }

    @Test
    void execute_keysOfAnyAlphabetAndLength_areDifferent() throws SQLException {
        List<String> keys = List.of(
                "",
                "a",
                "A",
                "a ",
                "\u0000",
                "a\u0000",
                "\ud800",
                "\udc00",
                "\ud83d\ude00",
                "\u00e9",
                "e\u0301",
                "%",
                "_",
                "'",
                "x".repeat(10_000),
                "x".repeat(9_999) + "y");
        for (String key : keys) {
            assertThat(execute(charge(TEN.charge(key, 10))).get(0).admitted()).isTrue();
        }
        for (String key : keys) {
            assertThat(remaining(TEN, key)).isZero();
        }
        assertThat(rows()).isEqualTo(keys.size());
    }

    @Test
    void execute_moreRowsThanFitIntoAStatement_areAllCharged() throws SQLException {
        Charge[] many =
                IntStream.range(0, 1100).mapToObj(i -> TEN.charge("k" + i, 4)).toArray(Charge[]::new);
        execute(charge(TEN.charge("k3", 4), TEN.charge("k700", 4)));

        assertThat(execute(charge(many), charge(many)).stream().map(Executed::admitted))
                .containsExactly(true, false);

        assertThat(rows()).isEqualTo(1100);
        assertThat(remaining(TEN, "k1099")).isEqualTo(6);
        assertThat(remaining(TEN, "k700")).isEqualTo(2);
    }

    @Test
    void execute_stateOfManyNumbers_isKept() {
        Policy log = Policy.of("log", SlidingLog.of(Rate.parse("20000/day")));

        assertThat(execute(charge(log.charge("k", 19_000))).get(0).admitted()).isTrue();
        assertThat(execute(charge(log.charge("k", 1_000))).get(0).admitted()).isTrue();
        assertThat(remaining(log, "k")).isZero();
    }

    @Test
    void execute_steadyState_isThreeRoundTrips_andOneForAQuestion() throws SQLException {
        Order both = charge(
                TEN.charge("k"),
                Policy.of("q", TokenBucket.of(Rate.parse("5/day"))).charge("k"));
        Sent sent = new Sent(database.borrow());

        decider.execute(sent.connection(), List.of(both, charge(TEN.charge("l"))), () -> {});
        assertThat(sent.trips()).containsExactly("select", "insert", "commit");

        decider.execute(sent.connection(), List.of(both, charge(TEN.charge("l"))), () -> {});
        assertThat(sent.trips())
                .containsExactly("select", database.dialect() == Dialect.H2 ? "merge" : "insert", "commit");

        decider.execute(sent.connection(), List.of(charge(TEN.charge("k", 11))), () -> {});
        assertThat(sent.trips()).containsExactly("select", "commit");

        decider.execute(sent.connection(), List.of(charge(TEN.charge("k"), TEN.charge("new"))), () -> {});
        assertThat(sent.trips()).hasSize(database.dialect() == Dialect.POSTGRESQL ? 3 : 4);

        sent.connection().setAutoCommit(true);
        decider.execute(sent.connection(), List.of(peek(TEN.charge("k"))), () -> {});
        assertThat(sent.trips()).containsExactly("select");
        sent.connection().close();
    }

    @Test
    void execute_connectionThatCommitsByItself_staysSo() throws SQLException {
        try (Connection connection = database.connect()) {
            int isolation = connection.getTransactionIsolation();

            decider.execute(connection, List.of(charge(TEN.charge("k", 4))), () -> {});
            assertThatThrownBy(
                            () -> decider("absent", 1).execute(connection, List.of(charge(TEN.charge("k"))), () -> {}))
                    .isInstanceOf(SQLException.class);
            decider.execute(connection, List.of(charge(TEN.charge("k", 4))), () -> {});

            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.getTransactionIsolation()).isEqualTo(isolation);
        }
        assertThat(remaining(TEN, "k")).isEqualTo(2);
    }

    @Test
    void execute_keyAddedByAnotherTransactionMeanwhile_isCountedOnce() throws SQLException {
        List<Order> meanwhile = new ArrayList<>(List.of(charge(TEN.charge("k", 5)), charge(TEN.charge("l", 5))));
        // the clock is read after the rows, and before they are written
        SqlDecider late = new SqlDecider(database.dialect(), "ratelimit", LimitNotation.STANDARD, 20, () -> {
            if (!meanwhile.isEmpty()) {
                execute(decider, meanwhile.remove(0));
            }
            return 1000 * System.currentTimeMillis();
        });
        try (Connection connection = database.connect()) {
            execute(charge(TEN.charge("m", 5)));

            List<Executed> answers = late.execute(
                    connection,
                    List.of(charge(TEN.charge("k", 7)), charge(TEN.charge("l", 5), TEN.charge("m"))),
                    () -> {});

            assertThat(answers).extracting(Executed::admitted).containsExactly(false, true);
        }
        assertThat(meanwhile).isEmpty();
    }

    @Test
    void execute_manyThreadsWithCrossingKeys_countExactly() throws Exception {
        Policy all = Policy.of("all", FixedWindow.of(Rate.parse("150/day")));
        Policy one = Policy.of("one", TokenBucket.of(Rate.parse("40/10000d")));
        AtomicInteger admitted = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Callable<Object>> calls = IntStream.range(0, 8)
                    .mapToObj(thread -> Executors.callable(() -> {
                        Random random = new Random(thread);
                        for (int i = 0; i < 40; i++) {
                            String key = "k" + random.nextInt(4);
                            Order order = random.nextBoolean()
                                    ? charge(all.charge(), one.charge(key))
                                    : charge(one.charge(key), all.charge());
                            admitted.addAndGet(execute(order).get(0).admitted() ? 1 : 0);
                        }
                    }))
                    .toList();
            for (Future<Object> call : threads.invokeAll(calls)) {
                call.get();
            }
        } finally {
            threads.shutdownNow();
        }

        long used = IntStream.range(0, 4)
                .mapToLong(i -> 40 - remaining(one, "k" + i))
                .sum();
        assertThat(admitted).hasValue(150);
        assertThat(used).isEqualTo(150);
        assertThat(remaining(all, "")).isZero();
    }

    @Test
    void peek_rowThatIsLocked_doesNotWait() throws SQLException {
        execute(charge(TEN.charge("k", 4)));
        try (Connection other = lock(TEN.charge("k"))) {
            assertThat(remaining(TEN, "k")).isEqualTo(6);
            other.rollback();
        }
    }

    @Test
    void execute_rowThatStaysLocked_failsWithNothingExecuted() throws SQLException {
        execute(charge(TEN.charge("k", 4)));
        Connection connection = database.borrow();
        try (Connection other = lock(TEN.charge("k"))) {
            assertThatThrownBy(() -> decider("ratelimit", 1)
                            .execute(connection, List.of(charge(TEN.charge("new")), charge(TEN.charge("k"))), () -> {}))
                    .isInstanceOf(SQLException.class);
            other.rollback();
        }

        assertThat(decider.execute(connection, List.of(charge(TEN.charge("k", 6))), () -> {})
                        .get(0)
                        .admitted())
                .isTrue();
        assertThat(remaining(TEN, "new")).isEqualTo(10);
        connection.close();
    }

    /** Locks the row of a charge; the connection that has the lock. */
    private Connection lock(Charge charge) throws SQLException {
        Connection connection = database.connect();
        connection.setAutoCommit(false);
        assertThat(tryLock(connection, charge, "")).isTrue();
        return connection;
    }

    private static boolean tryLock(Connection connection, Charge charge, String how) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("select id from ratelimit where id = ? for update" + how)) {
            statement.setBytes(1, RowCodec.id(charge));
            return statement.executeQuery().next();
        }
    }

    @Test
    void execute_deadlock_oneOfBothFailsWithNothingExecuted() throws Exception {
        List<Charge> inOrder = new ArrayList<>(List.of(TEN.charge("a", 4), TEN.charge("b", 4)));
        inOrder.sort(Comparator.comparing(RowCodec::id, Arrays::compareUnsigned));
        Charge first = inOrder.get(0);
        execute(charge(first, inOrder.get(1)));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        Connection connection = database.borrow();
        boolean otherFailed = false;
        Future<List<Executed>> blocked;
        try (Connection other = lock(inOrder.get(1))) {
            beReluctant(other);
            blocked =
                    thread.submit(() -> decider.execute(connection, List.of(charge(first, inOrder.get(1))), () -> {}));
            awaitLocked(first);
            try {
                tryLock(other, first, "");
            } catch (SQLException e) {
                otherFailed = true;
            }
            other.rollback();
        } finally {
            thread.shutdown();
        }

        boolean executed = true;
        try {
            blocked.get();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(SQLException.class);
            executed = false;
        }
        assertThat(executed && !otherFailed).isFalse();
        assertThat(remaining(TEN, "a")).isEqualTo(executed ? 2 : 6);
        assertThat(remaining(TEN, "b")).isEqualTo(executed ? 2 : 6);
        assertThat(decider.execute(connection, List.of(charge(TEN.charge("a", 2))), () -> {})
                        .get(0)
                        .admitted())
                .isTrue();
        connection.close();
    }

    /** In a deadlock, the database is to let the other transaction fail, if it can be told to. */
    void beReluctant(Connection connection) throws SQLException {}

    /** Returns when somebody else has locked the row. */
    private void awaitLocked(Charge charge) throws SQLException {
        boolean free = true;
        while (free) {
            try (Connection connection = database.connect()) {
                connection.setAutoCommit(false);
                free = tryLock(connection, charge, " nowait");
                connection.rollback();
            } catch (SQLException e) {
                free = false;
            }
        }
    }

    @Test
    void refund_chargeThatIsStillBeingCommitted_waitsForIt() throws Exception {
        Order held = charge(THREE.charge("new", 2));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        List<Future<?>> refund = new ArrayList<>();
        Connection connection = database.borrow();
        try {
            decider.execute(connection, List.of(held), () -> {
                refund.add(thread.submit(() -> execute(refund(held, 0))));
                try {
                    Object ignored = refund.get(0).get(300, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    // it waits, as it should
                } catch (InterruptedException | ExecutionException e) {
                    throw new IllegalStateException(e);
                }
            });
            Object ignored = refund.get(0).get();
        } finally {
            thread.shutdown();
            database.giveBack(connection);
        }
        assertThat(remaining(THREE, "new")).isEqualTo(3);
    }

    @Test
    void refund_chargeWhoseTimeIsNotKnown_returnsHeldPermitsAlone() {
        Order held = charge(THREE.charge("k", 2));
        Order others = charge(THREE.charge("k", 1));
        Order rate = charge(TEN.charge("k", 4));
        execute(held, others, rate);

        execute(refund(held, 0), refund(rate, 0));
        assertThat(remaining(THREE, "k")).isEqualTo(2);
        assertThat(remaining(TEN, "k")).isEqualTo(6);

        // it has come back already, so nobody else's does
        execute(refund(held, 0));
        execute(refund(charge(THREE.charge("k", 1)), 0));
        assertThat(remaining(THREE, "k")).isEqualTo(2);
    }

    @Test
    void refund_inParts_returnsNoMoreThanWasTaken() {
        Order held = charge(THREE.charge("k", 2));
        long now = execute(held, charge(THREE.charge("k", 1))).get(0).nowMicros();
        Order part = new Order(
                Operation.REFUND,
                List.of(THREE.charge("k", 1)),
                new Stamp(now, held.stamp().id()));

        execute(part);
        execute(part, part);

        assertThat(remaining(THREE, "k")).isEqualTo(2);
    }

    @Test
    void execute_anotherProcess_knowsWhichLimitWroteTheState() {
        execute(charge(TEN.charge("k", 5)));
        SqlDecider restarted = decider("ratelimit", 20);
        Policy twenty = Policy.of("ten", FixedWindow.of(Rate.parse("20/day")));

        assertThat(execute(restarted, charge(twenty.charge("k", 11))).get(0).admitted())
                .isFalse();
        assertThat(execute(restarted, charge(twenty.charge("k", 10))).get(0).admitted())
                .isTrue();
    }

    @Test
    void execute_exhaustedKeyOfALimitThatIsMoreGenerousNow_isAdmittedSoon() {
        AtomicLong clock = new AtomicLong(1_800_000_000_000_000L);
        SqlDecider later = new SqlDecider(database.dialect(), "ratelimit", LimitNotation.STANDARD, 20, clock::get);
        execute(
                later,
                charge(Policy.of("p", TokenBucket.of(Rate.parse("1/day"))).charge("k")));
        Policy generous = Policy.of("p", TokenBucket.of(Rate.parse("10/minute")));

        assertThat(execute(later, charge(generous.charge("k"))).get(0).admitted())
                .isFalse();
        clock.addAndGet(6_000_000);

        assertThat(execute(later, charge(generous.charge("k"))).get(0).admitted())
                .isTrue();
    }

    @Test
    void execute_stateThatNoLimitWrote_failsAndIsKept() throws SQLException {
        execute(charge(TEN.charge("k")));
        database.run("update ratelimit set limits = 'v9 token-bucket 1/day'");

        assertThatThrownBy(() -> execute(charge(TEN.charge("k"))))
                .rootCause()
                .hasMessageContaining("it does not begin with 'v1 ', the version of the notation");
        assertThat(number("select count(*) from ratelimit where limits = 'v9 token-bucket 1/day'"))
                .isEqualTo(1);

        database.run("update ratelimit set limits = 'v1 sliding-log 5/day'");
        assertThatThrownBy(() -> execute(charge(TEN.charge("k"))))
                .cause()
                .hasMessageContaining("the state of the limits 'v1 sliding-log 5/day' cannot be read");
    }

    @Test
    void execute_sameMoment_clockALittleBehind_countsOnAsIfItStoodStill() {
        AtomicLong clock = new AtomicLong(1_800_000_000_000_000L);
        SqlDecider skewed = new SqlDecider(database.dialect(), "ratelimit", LimitNotation.STANDARD, 20, clock::get);
        Policy second = Policy.of("p", TokenBucket.of(Rate.parse("1/second")));
        execute(skewed, charge(second.charge("k")));

        // two servers whose clocks differ do not drive the time of a row
        for (int i = 0; i < 50; i++) {
            clock.addAndGet(i % 2 == 0 ? -50_000 : 50_000);
            execute(skewed, charge(second.charge("k")), reset(second.charge("other")));
        }
        clock.addAndGet(999_999);
        assertThat(execute(skewed, charge(second.charge("k"))).get(0).admitted())
                .isFalse();
        clock.addAndGet(1);
        assertThat(execute(skewed, charge(second.charge("k"))).get(0).admitted())
                .isTrue();
    }

    @Test
    void checkSchema_tablesOfThisVersion_passes() throws SQLException {
        try (Connection connection = database.connect()) {
            decider.checkSchema(connection);
        }
    }

    @Test
    void checkSchema_noTables_saysWhatToDo() throws SQLException {
        String whatToDo = "there is no table absent or absent_schema; create both by dev/ratelimit/jdbc/"
                + database.dialect().script() + " in ratelimit-jdbc";
        SqlDecider absent = decider("absent", 20);
        try (Connection connection = database.connect()) {
            assertThatThrownBy(() -> absent.checkSchema(connection)).hasMessage(whatToDo);
            assertThatThrownBy(() -> absent.execute(connection, List.of(charge(TEN.charge("k"))), () -> {}))
                    .hasMessage(whatToDo);
            assertThatThrownBy(() -> absent.execute(connection, List.of(peek(TEN.charge("k"))), () -> {}))
                    .hasMessage(whatToDo);
            assertThatThrownBy(() -> absent.removeIdle(connection, 10)).hasMessage(whatToDo);
        }
    }

    @Test
    void checkSchema_anotherVersionOrNone_saysSo() throws SQLException {
        database.createTables("other_one");
        database.run("update other_one_schema set version = 7");
        try (Connection connection = database.connect()) {
            assertThatThrownBy(() -> decider("other_one", 20).checkSchema(connection))
                    .hasMessageStartingWith("the table other_one is of version 7, but")
                    .hasMessageContaining("works with version 1");
            database.run("delete from other_one_schema");
            assertThatThrownBy(() -> decider("other_one", 20).checkSchema(connection))
                    .hasMessageStartingWith("the table other_one is of version 0, but");
        }
        database.run("drop table other_one");
        database.run("drop table other_one_schema");
    }

    @Test
    void dialect_isThatOfTheConnection() throws SQLException {
        try (Connection connection = database.connect()) {
            assertThat(Dialect.of(connection)).isEqualTo(database.dialect());
        }
    }

    @Test
    void removeIdle_removesWhatIsIdle_upToAMaximum() throws SQLException {
        AtomicLong clock = new AtomicLong(1_800_000_000_000_000L);
        SqlDecider later = new SqlDecider(database.dialect(), "ratelimit", LimitNotation.STANDARD, 20, clock::get);
        Policy minute = Policy.of("minute", FixedWindow.of(Rate.parse("10/minute")));
        for (int i = 0; i < 5; i++) {
            execute(later, charge(minute.charge("k" + i)), charge(TEN.charge("k" + i)));
        }
        try (Connection connection = database.connect()) {
            assertThat(later.removeIdle(connection, 100)).isZero();
            // until it is idle for sure
            clock.addAndGet(121_000_000);
            assertThat(later.removeIdle(connection, 3)).isEqualTo(3);
            assertThat(later.removeIdle(connection, 3)).isEqualTo(2);
            assertThat(later.removeIdle(connection, 3)).isZero();
        }
        assertThat(rows()).isEqualTo(5);
    }

    @Test
    void removeIdle_resetAndRefundedKeys_areIdleAtOnce() throws SQLException {
        Order taken = charge(TEN.charge("k", 4));
        long now = execute(taken, charge(TEN.charge("l"))).get(0).nowMicros();
        execute(refund(taken, now));
        execute(reset(TEN.charge("l"), TEN.charge("unknown")));
        assertThat(rows()).isEqualTo(2);

        try (Connection connection = database.connect()) {
            assertThat(decider.removeIdle(connection, 100)).isEqualTo(2);
        }
    }

    @Test
    void removeIdle_besideALockedRow_leavesIt_andBesideAnotherOne_doesNothing() throws SQLException {
        execute(charge(TEN.charge("k")), charge(TEN.charge("l")));
        execute(reset(TEN.charge("k"), TEN.charge("l")));
        try (Connection connection = database.connect();
                Connection other = lock(TEN.charge("k"))) {
            assertThat(decider.removeIdle(connection, 100)).isEqualTo(1);
            other.rollback();
            try (Statement statement = other.createStatement()) {
                statement.executeQuery("select version from ratelimit_schema for update");
                assertThat(decider.removeIdle(connection, 100)).isZero();
                other.rollback();
            }
            assertThat(decider.removeIdle(connection, 100)).isEqualTo(1);
        }
    }

    @Test
    void removeIdle_besideDecisions_losesNoCharge() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        AtomicInteger admitted = new AtomicInteger();
        try {
            Callable<Object> remover = Executors.callable(() -> {
                for (int i = 0; i < 40; i++) {
                    remove();
                }
            });
            Callable<Object> caller = Executors.callable(() -> {
                for (int i = 0; i < 40; i++) {
                    // idle, and charged again at once
                    execute(reset(TEN.charge("idle" + i % 3)));
                    admitted.addAndGet(
                            execute(charge(TEN.charge("all"), TEN.charge("idle" + i % 3)))
                                            .get(0)
                                            .admitted()
                                    ? 1
                                    : 0);
                }
            });
            for (Future<Object> call : threads.invokeAll(List.of(remover, caller, caller))) {
                call.get();
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(admitted).hasValue(10);
        assertThat(remaining(TEN, "all")).isZero();
    }

    private void remove() {
        try {
            Connection connection = database.borrow();
            decider.removeIdle(connection, 10);
            database.giveBack(connection);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
