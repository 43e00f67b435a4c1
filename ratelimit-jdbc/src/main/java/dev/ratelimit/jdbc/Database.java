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
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The database of a store: what waits goes together in its next transaction. Thread-safe; does not block. */
final class Database implements Servers, Server.Access {

    /** What a probe charges; whether it is admitted does not matter. */
    private static final Charge PROBE =
            Policy.of("probe", TokenBucket.of(Rate.parse("1000/second"))).charge();

    private final RemoteStoreSettings settings;
    private final Transactions transactions;
    private final Runnable closed;
    private final OperatorLog operatorLog;
    private final Server health;
    private final Combiner<Order, Executed> combiner = new Combiner<>(this::execute);

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
                ? execute(() -> List.of(order), sent::isWanted).thenApply(answers -> answers.get(0))
                : CompletableFuture.failedFuture(failure);
    }

    /** Executes what waits when there is a connection. Nothing is committed later than its callers wait. */
    private CompletableFuture<List<Executed>> execute(Supplier<List<Order>> waiting, BooleanSupplier areWanted) {
        return transactions.run((decider, connection) -> {
            List<Order> orders = waiting.get();
            long began = settings.ticker().nanos();
            return orders.isEmpty()
                    ? List.of()
                    : decider.execute(connection, orders, () -> {
                        if (settings.ticker().nanos() - began > settings.deadlineNanos()) {
                            throw new SQLTimeoutException("the transaction took longer than anybody waits for it");
                        }
                    });
        });
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

    @Override
    public CompletableFuture<?> probe() {
        return execute(() -> List.of(new Order(Operation.CHARGE, List.of(PROBE), new Stamp(0, 0))), () -> true);
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
