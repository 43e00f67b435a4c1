package dev.ratelimit.jdbc;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.RateLimitStoreContract;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The store contract on a database whose time is fake. With the two algorithms that differ most: numbers that refill, and a list
 * of times. {@link HistoriesTest} has all of them, and at night all are used here, too.
 */
abstract class SqlStoreContract extends RateLimitStoreContract {

    private TestDatabase database;

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

    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        database.run("delete from ratelimit");
        return database.store(time);
    }

    @Override
    protected Stream<Limit> limits(Rate rate) {
        return Boolean.getBoolean("nightly")
                ? super.limits(rate)
                : Stream.of(TokenBucket.of(rate), SlidingLog.of(rate));
    }

    @Override
    protected Duration resolution() {
        return Duration.ofNanos(1000);
    }
}
