package dev.ratelimit.jdbc;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.remote.Combiner;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.OperatorLog;
import dev.ratelimit.remote.RemoteStoreSettings;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.Server;
import dev.ratelimit.remote.Servers;
import dev.ratelimit.remote.Stamp;
import dev.ratelimit.remote.StoreFailure;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The database of a store: what waits goes together in its next transaction. Thread-safe; does not block. */
final class Database implements Servers, Server.Access {

    /** What probes charge; whether it is admitted does not matter. */
    private static final Policy PROBE =
            Policy.of("~dev.ratelimit.jdbc.probe", TokenBucket.of(Rate.parse("1000/second")));

    private final RemoteStoreSettings settings;
    private final Transactions transactions;
    private final Runnable closed;
    private final OperatorLog operatorLog;
    private final Server health;

    /** With what an order is to be combined does not matter: whoever has left is not asked about. */
    private final Combiner<Order, Executed> combiner = new Combiner<>((waiting, areWanted) -> execute(waiting));

    /** Of this instance, so that none waits for another one's probe. */
    private final Charge probe;

    /**
     * Creates a database that is assumed to be healthy.
     *
     * @param closed is run when it is closed
     */
    Database(Transactions transactions, Runnable closed, RemoteStoreSettings settings) {
        this.settings = settings;
        this.transactions = transactions;
        this.closed = closed;
        this.operatorLog = new OperatorLog(settings);
        this.health = new Server(this, settings, operatorLog);
        this.probe = PROBE.charge(Long.toHexString(settings.random().nextLong()));
    }

    /**
     * Waits for a first connection and checks the tables.
     *
     * @param patienceNanos how long to wait; a database that does not answer is probed from then on
     * @throws StoreFailure if the database lacks the tables, or is none that this library knows
     */
    void check(long patienceNanos) {
        CompletableFuture<?> checked = transactions.run((decider, connection) -> {
            decider.checkSchema(connection);
            return true;
        });
        try {
            checked.orTimeout(patienceNanos, TimeUnit.NANOSECONDS).join();
            health.connected();
        } catch (RuntimeException e) {
            StoreFailure failure = SqlFailure.of(e);
            if (failure.reason() == JdbcStoreFailure.SCHEMA) {
                throw failure;
            }
            health.unreached(failure);
        }
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // a request handles its own failures
    public void send(List<Charge> charges, Operation operation, Stamp stamp, List<Request> owner) {
        Request sent = new Request(charges, operation, stamp, settings);
        owner.add(sent);
        try {
            sent.goTo(health);
            Order order = new Order(operation, charges, stamp);
            combiner.charge(sent, order)
                    .exceptionallyCompose(failure -> again(sent, order, failure))
                    .whenComplete(sent::arrived);
        } catch (RuntimeException | Error e) {
            sent.arrived(null, e);
        }
    }

    /** A damaged row, perhaps another order's, says nothing about this order. */
    private CompletableFuture<Executed> again(Request sent, Order order, Throwable failure) {
        return SqlFailure.of(failure).reason() == JdbcStoreFailure.DAMAGED
                ? execute(() -> sent.isWanted() ? List.of(order) : List.of())
                        .thenApply(answers -> answers.stream().findFirst().orElseThrow(Database::late))
                : CompletableFuture.failedFuture(failure);
    }

    /** Executes what waits when there is a connection. Nothing is committed later than its callers wait. */
    private CompletableFuture<List<Executed>> execute(Supplier<List<Order>> waiting) {
        return transactions.run((decider, connection) -> {
            List<Order> orders = waiting.get();
            long began = settings.ticker().nanos();
            return orders.isEmpty()
                    ? List.of()
                    : decider.execute(connection, orders, () -> {
                        if (settings.ticker().nanos() - began > settings.deadlineNanos()) {
                            throw late();
                        }
                    });
        });
    }

    /** Nothing was executed; those who have left by now have judged the database. */
    private static StoreFailure late() {
        return StoreFailure.stalled("the transaction took longer than anybody waits for it", null);
    }

    @Override
    public boolean reaches(Charge charge) {
        return available();
    }

    @Override
    public boolean available() {
        return health.available();
    }

    @Override
    public String title() {
        return transactions.title();
    }

    /** Also checks the tables, which others may have replaced meanwhile. */
    @Override
    public CompletableFuture<?> probe() {
        return transactions.run((decider, connection) -> {
            decider.checkSchema(connection);
            Order order = new Order(Operation.CHARGE, List.of(probe), new Stamp(0, 0));
            return decider.execute(connection, List.of(order), () -> {});
        });
    }

    @Override
    public void reconnect() {
        // the pool does
    }

    @Override
    public void lookElsewhere() {
        // the pool does
    }

    @Override
    public void close() {
        operatorLog.close();
        health.close();
        closed.run();
    }
}
