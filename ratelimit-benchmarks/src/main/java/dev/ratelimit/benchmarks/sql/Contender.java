package dev.ratelimit.benchmarks.sql;

import dev.ratelimit.Charge;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.jdbc.JdbcStore;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.remote.RemoteStore;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.jdbc.PrimaryKeyMapper;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.postgresql.Bucket4jPostgreSQL;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Decides about a request of a user. Thread-safe. */
interface Contender extends AutoCloseable {

    /** So many that every request is admitted. */
    int PERMITS = 1_000_000;

    /** Returns whether it is admitted. */
    boolean decide(String user) throws SQLException;

    @Override
    default void close() {}

    /** The least that a database can be asked. */
    static Contender select1(DataSource connections) {
        return user -> {
            try (Connection connection = connections.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet found = statement.executeQuery("select 1")) {
                return found.next();
            }
        };
    }

    /** This library: all policies in one decision, all or nothing. A decision without the database fails the run. */
    static Contender ours(DataSource connections, boolean leased, String... policies) {
        RemoteStore exact = JdbcStore.builder(connections)
                .deadline(Duration.ofSeconds(10))
                .onStoreFailure(OnStoreFailure.DENY)
                .build();
        RateLimitStore store = leased
                ? new LeasingStore(
                        exact,
                        0.1,
                        Duration.ofSeconds(1),
                        RemoteStore::decidedByServers,
                        Ticker.system(),
                        Scheduler.system())
                : exact;
        List<Policy> all = Stream.of(policies)
                .map(name -> Policy.of(name, TokenBucket.of(Rate.of(PERMITS, Duration.ofSeconds(1)))))
                .toList();
        return new Contender() {
            @Override
            public boolean decide(String user) {
                List<Charge> charges = all.stream()
                        .map(policy -> policy.name().equals("user") ? policy.charge(user) : policy.charge())
                        .toList();
                return store.decide(charges).admitted();
            }

            @Override
            public void close() {
                store.close();
            }
        };
    }

    /** Bucket4j as its documentation shows it: one bucket per limit, one after another, each in a transaction of its own. */
    static Contender bucket4j(DataSource connections, boolean advisory, String... policies) {
        ProxyManager<String> buckets = advisory
                ? Bucket4jPostgreSQL.advisoryLockBasedBuilder(connections)
                        .primaryKeyMapper(PrimaryKeyMapper.STRING)
                        .table("advisory")
                        .build()
                : Bucket4jPostgreSQL.selectForUpdateBasedBuilder(connections)
                        .primaryKeyMapper(PrimaryKeyMapper.STRING)
                        .table("bucket")
                        .build();
        BucketConfiguration configuration = BucketConfiguration.builder()
                .addLimit(limit -> limit.capacity(PERMITS).refillGreedy(PERMITS, Duration.ofSeconds(1)))
                .build();
        return user -> Stream.of(policies)
                .map(name -> name.equals("user") ? "user:" + user : name)
                .allMatch(key -> buckets.getProxy(key, () -> configuration).tryConsume(1));
    }
}
