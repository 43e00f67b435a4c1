package dev.ratelimit.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a store makes of transactions: when they run, and what is told when they fail. The database itself is H2. */
class JdbcStoreTest {

    private static final Policy TEN = Policy.of("ten", FixedWindow.of(Rate.parse("10/hour")));

    private final FakeTicker time = new FakeTicker();
    private final List<StoreFailure.Reason> failures = new ArrayList<>();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final TestDatabase database = TestDatabase.h2();
    private HikariDataSource pool;

    /** What the next connections do in place of their methods of these names. */
    private SQLException failure = new SQLException();

    private String failing = "";
    private String product = "";
    private final List<String> changed = new ArrayList<>();

    /** Whether a commit that fails has not been executed. */
    private boolean rollsBack;

    private int commits;

    /** Whether transactions wait for a thread. */
    private boolean busy;

    @BeforeEach
    void start() {
        pool = database.pool(2);
    }

    @AfterEach
    void close() {
        pool.close();
        database.close();
    }

    private JdbcStoreBuilder builder() {
        return JdbcStore.builder(faulty(pool))
                .ticker(time)
                .clock(() -> Math.floorDiv(time.epochNanos(), 1000))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .listener(new RemoteStoreListener() {
                    @Override
                    public void failed(StoreFailure.Reason reason) {
                        failures.add(reason);
                    }
                })
                .threads(task -> {
                    if (busy) {
                        waiting.add(task);
                    } else {
                        task.run();
                    }
                });
    }

    private DataSource faulty(DataSource inside) {
        return proxy(DataSource.class, inside);
    }

    private <T> T proxy(Class<T> type, Object inside) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().equals(failing)) {
                        if (failing.equals("commit") && !rollsBack) {
                            // only the answer gets lost
                            Object ignored = method.invoke(inside, arguments);
                        }
                        throw failure;
                    }
                    if (method.getName().equals("setNetworkTimeout")) {
                        changed.add(method.getName());
                    }
                    if (method.getName().equals("getDatabaseProductName") && !product.isEmpty()) {
                        return product;
                    }
                    commits += method.getName().equals("commit") ? 1 : 0;
                    try {
                        Object result = method.invoke(inside, arguments);
                        if (result instanceof DatabaseMetaData server) {
                            return proxy(DatabaseMetaData.class, server);
                        }
                        return result instanceof Connection connection ? proxy(Connection.class, connection) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private void runAll() {
        busy = false;
        while (!waiting.isEmpty()) {
            waiting.remove().run();
        }
    }

    private void fail(String method, SQLException with) {
        failing = method;
        failure = with;
    }

    @Test
    void decisions_thatWaitForAThread_goTogetherInOneTransaction() {
        try (RemoteStore store = builder().build()) {
            busy = true;
            List<CompletableFuture<Decision>> decisions = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                decisions.add(store.decideAsync(List.of(TEN.charge("k"))).toCompletableFuture());
            }
            commits = 0;
            runAll();
            time.advance(Duration.ofMillis(1));

            assertThat(decisions.stream().filter(one -> one.join().admitted())).hasSize(10);
            assertThat(commits).isOne();
        }
    }

    @Test
    void decision_whoseCallerHasLeft_isNotExecuted() {
        try (RemoteStore store = builder().build()) {
            busy = true;
            CompletableFuture<Decision> late =
                    store.decideAsync(List.of(TEN.charge("k", 10))).toCompletableFuture();
            time.advance(Duration.ofMillis(251));
            runAll();

            assertThat(late).isCompletedExceptionally();
            assertThat(failures).contains(RemoteStoreFailure.TIMEOUT);
        }
        try (RateLimitStore store = builder().build()) {
            assertThat(store.peek(List.of(TEN.charge("k", 10))).admitted()).isTrue();
        }
    }

    @Test
    void transaction_thatTakesLongerThanTheDeadline_isRolledBack() {
        JdbcStoreBuilder slow = builder().clock(() -> {
            long now = Math.floorDiv(time.epochNanos(), 1000);
            // while rows are read and locked
            time.advance(Duration.ofMillis(251));
            return now;
        });
        try (RateLimitStore store = slow.build()) {
            assertThatThrownBy(() -> store.decide(List.of(TEN.charge("k", 4))))
                    .isInstanceOf(StoreUnavailableException.class);
        }
        try (RateLimitStore store = builder().build()) {
            assertThat(store.peek(List.of(TEN.charge("k", 10))).admitted()).isTrue();
        }
    }

    @Test
    void commit_ofUnknownOutcome_permitsThatAreHeldComeBack_whenTheDatabaseAnswersAgain() {
        Policy two = Policy.of("two", Concurrency.of(2));
        try (RateLimitStore store = builder().build()) {
            fail("commit", new SQLException("connection reset", "08006"));
            assertThatThrownBy(() -> store.decide(List.of(two.charge("k", 2))))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(failures).contains(RemoteStoreFailure.CONNECTION);

            failing = "";
            time.advance(Duration.ofSeconds(2));
            assertThat(store.decide(List.of(two.charge("k", 2))).admitted()).isTrue();
        }
    }

    @Test
    void reasons_ofFailures_areThoseOfOperators() {
        assertReason(JdbcStoreFailure.READONLY, new SQLException("cannot execute in a read-only transaction", "25006"));
        assertReason(JdbcStoreFailure.READONLY, new SQLException("--read-only", "HY000", 1290));
        assertReason(JdbcStoreFailure.UNWRITABLE, new SQLException("could not extend file", "53100"));
        assertReason(JdbcStoreFailure.UNWRITABLE, new SQLException("The table is full", "HY000", 1114));
        assertReason(JdbcStoreFailure.AUTH, new SQLException("permission denied for table ratelimit", "42501"));
        assertReason(JdbcStoreFailure.AUTH, new SQLException("UPDATE command denied", "42000", 1142));
        assertReason(JdbcStoreFailure.SCHEMA, new SQLException("relation does not exist", "42P01"));
        assertReason(JdbcStoreFailure.LOCKED, new SQLException("deadlock detected", "40P01"));
        assertReason(JdbcStoreFailure.LOCKED, new SQLException("Lock wait timeout exceeded", "HY000", 1205));
        assertReason(RemoteStoreFailure.TIMEOUT, new SQLException("canceling statement", "57014"));
        assertReason(RemoteStoreFailure.CONNECTION, new SQLException("terminating connection", "57P01"));
        assertReason(RemoteStoreFailure.CONNECTION, new SQLException("too many clients", "53300"));
        assertReason(RemoteStoreFailure.ERROR, new SQLException("anything else"));
    }

    private void assertReason(StoreFailure.Reason reason, SQLException thrown) {
        try (RateLimitStore store = builder().build()) {
            failures.clear();
            fail("prepareStatement", thrown);
            assertThatThrownBy(() -> store.decide(List.of(TEN.charge("k"))))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(failures).containsOnly(reason);
        } finally {
            failing = "";
        }
    }

    @Test
    void database_thatReadsButDoesNotWrite_isNotUsed_untilItWritesAgain() {
        try (RemoteStore store = builder().build()) {
            fail("prepareStatement", new SQLException("cannot execute in a read-only transaction", "25006"));
            assertThatThrownBy(() -> store.decide(List.of(TEN.charge("k"))))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(store.available()).isFalse();

            time.advance(Duration.ofSeconds(2));
            assertThat(store.available()).isFalse();
            failing = "";
            time.advance(Duration.ofSeconds(5));
            assertThat(store.available()).isTrue();
            assertThat(store.decide(List.of(TEN.charge("k"))).admitted()).isTrue();
        }
    }

    @Test
    void budgetOfAPolicyThatIsCalledProbe_isItsOwn() {
        Policy probe = Policy.of("probe", FixedWindow.of(Rate.parse("10/hour")));
        try (RemoteStore store = builder().build()) {
            assertThat(store.decide(List.of(probe.charge("", 10))).admitted()).isTrue();
            fail("prepareStatement", new SQLException("cannot execute in a read-only transaction", "25006"));
            assertThatThrownBy(() -> store.decide(List.of(probe.charge())))
                    .isInstanceOf(StoreUnavailableException.class);
            failing = "";
            time.advance(Duration.ofSeconds(5));
            assertThat(store.available()).isTrue();
            assertThat(store.decide(List.of(probe.charge())).admitted()).isFalse();
        }
    }

    @Test
    void connectionThatHasFailed_goesBackAsItCame() throws SQLException {
        try (RateLimitStore store = builder().build()) {
            assertThat(store.decide(List.of(TEN.charge("k"))).admitted()).isTrue();
            changed.clear();
            fail("prepareStatement", new SQLException("deadlock detected", "40P01"));
            assertThatThrownBy(() -> store.decide(List.of(TEN.charge("k"))))
                    .isInstanceOf(StoreUnavailableException.class);
        }
        // the time of the socket, for the transaction and as before
        assertThat(changed).containsExactly("setNetworkTimeout", "setNetworkTimeout");
    }

    @Test
    void databaseThatIsNotKnown_failsTheBuild() {
        product = "Oracle";
        assertThatThrownBy(() -> builder().build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Database cannot keep rate limits: rate limits can be kept in PostgreSQL, MySQL, MariaDB or H2,"
                                + " but this is Oracle");
    }

    @Test
    void failureOfCleaningUp_isLoggedOnce_andFewerRowsAreRemovedNext() {
        Policy fast = Policy.of("fast", TokenBucket.of(Rate.parse("10/second")));
        try (RateLimitStore store = builder().build()) {
            for (int i = 0; i < 600; i++) {
                assertThat(store.decide(List.of(fast.charge("" + i))).admitted())
                        .isTrue();
            }
            fail("commit", new SQLException("canceling statement due to statement timeout", "57014"));
            rollsBack = true;
            time.advance(Duration.ofMinutes(3));
            assertThat(rows()).isEqualTo(600);
            failing = "";
            time.advance(Duration.ofMinutes(2));
            assertThat(rows()).isZero();
        }
    }

    @Test
    void title_hasNoSecrets() {
        assertTitle("jdbc:postgresql://db:5432/app", "jdbc:postgresql://db:5432/app?user=u&password=secret");
        assertTitle("jdbc:mysql://db/app", "jdbc:mysql://u:se?cret@db/app");
        assertTitle("", "jdbc:mysql://(host=db,user=u,password=secret)/app");
        assertTitle("jdbc:h2:mem:x", "jdbc:h2:mem:x;USER=u;PASSWORD=secret");
    }

    private static void assertTitle(String title, String url) {
        assertThat(Transactions.withoutSecrets(url)).isEqualTo(title);
    }

    @Test
    void rowThatIsDamaged_failsItsOwnDecisionsOnly() {
        try (RemoteStore store = builder().build()) {
            assertThat(store.decide(List.of(TEN.charge("damaged"))).admitted()).isTrue();
            database.run("update ratelimit set limits = 'v9 unheard-of'");
            busy = true;
            CompletableFuture<Decision> damaged =
                    store.decideAsync(List.of(TEN.charge("damaged"))).toCompletableFuture();
            CompletableFuture<Decision> sound =
                    store.decideAsync(List.of(TEN.charge("sound"))).toCompletableFuture();
            runAll();
            time.advance(Duration.ofMillis(1));

            assertThat(sound.join().admitted()).isTrue();
            assertThat(damaged).isCompletedExceptionally();
            assertThat(failures).containsOnly(JdbcStoreFailure.DAMAGED);
            assertThat(store.available()).isTrue();
        }
    }

    @Test
    void idleRows_areRemovedByTheWay() {
        Policy fast = Policy.of("fast", TokenBucket.of(Rate.parse("10/second")));
        try (RateLimitStore store = builder().build()) {
            for (int i = 0; i < 2500; i++) {
                assertThat(store.decide(List.of(fast.charge("" + i))).admitted())
                        .isTrue();
            }
            assertThat(rows()).isEqualTo(2500);
            // not before they are idle, which is rounded up to a minute
            time.advance(Duration.ofMinutes(4));
            assertThat(rows()).isZero();
        }
    }

    private int rows() {
        try (Connection connection = database.connect();
                var found = connection.createStatement().executeQuery("select count(*) from ratelimit")) {
            found.next();
            return found.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void build_withoutTables_orOfAnotherVersion_fails_andSaysWhatToDo() {
        assertThatThrownBy(() -> builder().table("absent").build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Database cannot keep rate limits: there is no table absent or absent_schema; create both by"
                                + " dev/ratelimit/jdbc/schema-h2.sql in ratelimit-jdbc");
        database.run("update ratelimit_schema set version = 2");
        assertThatThrownBy(() -> builder().build())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Database cannot keep rate limits: the table ratelimit is of version 2, but this version of"
                        + " ratelimit-jdbc works with version 1, of dev/ratelimit/jdbc/schema-h2.sql");
        assertThatThrownBy(() -> builder().table("a b").build()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void build_withoutDatabase_startsWithoutIt_andUsesItLater() {
        fail("getConnection", new SQLException("Connection refused", "08001"));
        try (RemoteStore store = builder().onStoreFailure(OnStoreFailure.ALLOW).build()) {
            assertThat(store.available()).isFalse();
            assertThat(store.decide(List.of(TEN.charge("k", 10))).admitted()).isTrue();

            failing = "";
            time.advance(Duration.ofSeconds(2));
            assertThat(store.available()).isTrue();
            assertThat(store.decide(List.of(TEN.charge("k", 10))).admitted()).isTrue();
            assertThat(store.decide(List.of(TEN.charge("k"))).admitted()).isFalse();
        }
    }

    @Test
    void threads_areThoseOfTheStore_andEndWithIt() {
        Scheduled threads = new Scheduled();
        try (RateLimitStore store = JdbcStore.builder(threads.on(pool)).build()) {
            assertThat(store.decide(List.of(TEN.charge("k"))).admitted()).isTrue();
        }
        assertThat(threads.names).isNotEmpty().allMatch(name -> name.startsWith("ratelimit-jdbc-"));
    }

    /** Who asks for connections. */
    private static final class Scheduled {

        private final List<String> names = new ArrayList<>();

        DataSource on(DataSource inside) {
            return (DataSource) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                        synchronized (names) {
                            names.add(Thread.currentThread().getName());
                        }
                        return method.invoke(inside, arguments);
                    });
        }
    }
}
