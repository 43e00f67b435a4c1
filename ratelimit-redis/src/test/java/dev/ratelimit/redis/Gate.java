package dev.ratelimit.redis;

import dev.ratelimit.redis.server.RedisServer;
import io.lettuce.core.RedisClient;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A connection to one server that waits until the gate is opened. */
final class Gate extends OneServer implements AutoCloseable {

    private final RedisClient client;
    private final AtomicInteger attempts;
    private final CountDownLatch opened = new CountDownLatch(1);

    Gate(RedisServer server, AtomicInteger attempts) {
        this.client = RedisClient.create(server.uri());
        this.attempts = attempts;
    }

    void open() {
        opened.countDown();
    }

    /** Cancels the current attempt, as its timeout would. */
    void giveUp(Link link) {
        link.live().completeExceptionally(new IllegalStateException("given up"));
    }

    @Override
    public Connection connect(String server) {
        attempts.incrementAndGet();
        try {
            opened.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return new LettuceConnection(server, client.connect(LettuceConnection.CODEC));
    }

    @Override
    public String title(String server) {
        return "gate";
    }

    @Override
    public void close() {
        client.shutdown(0, 0, TimeUnit.SECONDS);
    }
}
