package dev.ratelimit.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Three instances charge the same keys while calls fail, and while the database now and then fails as a whole. No limit is ever
 * exceeded; afterwards the rows add up, and all permits that were held have come back.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // so that a subclass can say which database
abstract class FaultsContract {

    private static final int INSTANCES = 3;
    private static final int CALLERS = 8;
    private static final int KEYS = 20;
    private static final int DECISIONS = Integer.getInteger("decisions", 30_000);

    /** Reached by about half of the keys. */
    private static final int PER_KEY = DECISIONS / KEYS / 2;

    private static final Policy USER = Policy.of("user", FixedWindow.of(new Rate(PER_KEY, Duration.ofDays(300))));
    private static final Policy ALL = Policy.of("all", FixedWindow.of(new Rate(DECISIONS, Duration.ofDays(300))));
    private static final Policy HELD = Policy.of("held", Concurrency.of(3));

    private final List<HikariDataSource> pools = new ArrayList<>();
    private final List<JdbcStore> stores = new ArrayList<>();
    private final List<FaultyConnections> faults = new ArrayList<>();
    private final AtomicIntegerArray admitted = new AtomicIntegerArray(KEYS);
    private final AtomicIntegerArray unknown = new AtomicIntegerArray(KEYS);
    private final AtomicIntegerArray holders = new AtomicIntegerArray(KEYS);
    private final AtomicInteger mostHolders = new AtomicInteger();
    private TestDatabase database;

    abstract TestDatabase database();

    @BeforeAll
    void start() {
        database = database();
        for (int i = 0; i < INSTANCES; i++) {
            FaultyConnections faulty = new FaultyConnections(database.connections(), Seeds.next());
            HikariDataSource pool = TestDatabase.pool(faulty.connections(), 2);
            faults.add(faulty);
            pools.add(pool);
            stores.add(JdbcStore.builder(pool)
                    .openFor(Duration.ofMillis(100))
                    .onStoreFailure(OnStoreFailure.DENY)
                    .denyCache(Duration.ZERO)
                    .build());
        }
    }

    @AfterAll
    void close() {
        stores.forEach(JdbcStore::close);
        pools.forEach(HikariDataSource::close);
        if (database != null) {
            database.close();
        }
    }

    @Test
    void decisions_underFaults_exceedNoLimit_andAddUpAfterwards() throws Exception {
        ExecutorService callers = Executors.newCachedThreadPool();
        AtomicInteger left = new AtomicInteger(DECISIONS);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < INSTANCES * CALLERS; i++) {
            JdbcStore store = stores.get(i % INSTANCES);
            Random random = new Random(Seeds.next());
            running.add(callers.submit(() -> {
                while (left.get() > 0) {
                    if (decide(store, random.nextInt(KEYS))) {
                        left.decrementAndGet();
                    } else {
                        LockSupport.parkNanos(1_000_000);
                    }
                }
            }));
        }
        Random trouble = new Random(Seeds.next());
        while (left.get() > 0) {
            trouble(trouble);
        }
        for (Future<?> one : running) {
            one.get();
        }
        faults.forEach(one -> one.faulty(false));
        callers.shutdown();

        assertThat(faults.stream().mapToLong(FaultyConnections::faults).sum()).isPositive();
        assertThat(mostHolders).hasValueLessThanOrEqualTo(3);
        awaitAllGivenBack();
        int charged = IntStream.range(0, KEYS).map(this::charged).sum();
        assertThat(DECISIONS - remaining(ALL, "")).isEqualTo(charged);
    }

    /** Some milliseconds of single faults, or of an outage of one instance's database. */
    private void trouble(Random random) {
        FaultyConnections one = faults.get(random.nextInt(INSTANCES));
        one.faulty(true);
        LockSupport.parkNanos(50_000_000);
        if (random.nextInt(8) == 0) {
            one.outage(
                    random.nextBoolean()
                            ? new SQLException("cannot execute in a read-only transaction", "25006")
                            : new SQLException("the database system is shutting down", "57P01"));
            LockSupport.parkNanos(100_000_000);
            one.outage(null);
        }
        one.faulty(false);
        // so that the database also decides now and then
        LockSupport.parkNanos(200_000_000);
    }

    /** Returns whether the database has decided. */
    private boolean decide(JdbcStore store, int key) {
        String name = "key " + key;
        List<Charge> charges = List.of(ALL.charge(), USER.charge(name), HELD.charge(name));
        try {
            Decision decision = store.decide(charges);
            if (decision.admitted()) {
                admitted.incrementAndGet(key);
                mostHolders.accumulateAndGet(holders.incrementAndGet(key), Math::max);
                holders.decrementAndGet(key);
                store.refund(decision, List.of(HELD.charge(name)));
            }
            return true;
        } catch (StoreUnavailableException e) {
            unknown.incrementAndGet(key);
            return false;
        }
    }

    /** How many charges of this key the database knows: at least all that were admitted, unless they are given back. */
    private int charged(int key) {
        int charged = PER_KEY - remaining(USER, "key " + key);
        assertThat(charged)
                .as("key %s, %s admitted, %s failed", key, admitted.get(key), unknown.get(key))
                .isBetween(admitted.get(key), admitted.get(key) + unknown.get(key));
        return charged;
    }

    private int remaining(Policy policy, String key) {
        return (int)
                stores.get(0).peek(List.of(policy.charge(key))).limits().get(0).remaining();
    }

    private void awaitAllGivenBack() {
        long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (System.nanoTime() < end && !allGivenBack()) {
            LockSupport.parkNanos(20_000_000);
        }
        assertThat(stores).extracting(JdbcStore::available).containsOnly(true);
        assertThat(IntStream.range(0, KEYS).map(key -> remaining(HELD, "key " + key)))
                .as("permits that are free of each key")
                .containsOnly(3);
    }

    private boolean allGivenBack() {
        return stores.stream().allMatch(JdbcStore::available)
                && IntStream.range(0, KEYS).allMatch(key -> remaining(HELD, "key " + key) == 3);
    }
}
