package dev.ratelimit.redis.server;

import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection to a server that tests can disturb: it listens on a separate loopback port, and relays bytes both ways.
 * Settings apply to open and new connections. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int BACKLOG = 128;
    private static final int NOWHERE = -1;

    private final int target;
    private final ServerSocket listener;
    private final Set<Relay> relays = ConcurrentHashMap.newKeySet();
    private final AtomicLong accepted = new AtomicLong();
    private volatile long delayNanos;
    private volatile boolean blackHole;
    private volatile boolean refusing;
    private volatile int bytesPerSecond;
    private int bytesUntilCut = NOWHERE;

    private TcpProxy(int target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(RedisServer.freePort(), BACKLOG, InetAddress.getLoopbackAddress());
    }

    /** Starts a proxy for this port of 127.0.0.1, where a server must listen only once a client connects. */
    public static TcpProxy to(int port) {
        try {
            TcpProxy proxy = new TcpProxy(port);
            Thread thread = new Thread(proxy::accept, "proxy-" + proxy.port());
            thread.setDaemon(true);
            thread.start();
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The port that it listens on. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Where clients connect. */
    public RedisURI uri() {
        return RedisURI.create("127.0.0.1", port());
    }

    /** Delays each reply by this time, in order, and many at a time; zero ends that. */
    public void delay(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /**
     * Drops all bytes from now on, and keeps connections open, even those that the server closes; new ones can be
     * opened. When that ends, all connections are closed: after a gap, replies would answer the wrong requests.
     */
    public void blackHole(boolean on) {
        blackHole = on;
        if (!on) {
            disconnectAll();
        }
    }

    /** Drops all bytes of the open connections, like a firewall that has forgotten them. */
    public void forget() {
        relays.forEach(Relay::forget);
    }

    /**
     * Counts the bytes of replies on all connections from now on, and closes the connection that delivers the last of
     * this number, once; with 0, before the next byte.
     */
    public synchronized void cutAfter(int bytes) {
        bytesUntilCut = bytes;
    }

    /** Delivers replies at most this fast on each connection; 0 ends that. */
    public void throttle(int bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Closes new connections immediately; open ones remain. */
    public void refuse(boolean on) {
        refusing = on;
    }

    /** Closes the connections that are open now. */
    public void disconnectAll() {
        relays.forEach(Relay::close);
    }

    /** How many connections are open now. */
    public int connections() {
        return relays.size();
    }

    /** The number of connections so far, including those that were {@linkplain #refuse refused}. */
    public long accepted() {
        return accepted.get();
    }

    /** Stops listening, and closes all connections. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            disconnectAll();
        }
    }

    int target() {
        return target;
    }

    long delayNanos() {
        return delayNanos;
    }

    boolean isBlackHole() {
        return blackHole;
    }

    int bytesPerSecond() {
        return bytesPerSecond;
    }

    /** After how many of the next {@code length} bytes of replies to cut, once; -1 for none of them. */
    synchronized int cutWithin(int length) {
        int cut = bytesUntilCut;
        if (cut == NOWHERE) {
            return NOWHERE;
        }
        bytesUntilCut = cut <= length ? NOWHERE : cut - length;
        return cut <= length ? cut : NOWHERE;
    }

    void remove(Relay relay) {
        relays.remove(relay);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                open(listener.accept());
            } catch (IOException e) {
                // the proxy is closed, which ends the loop, or this client has disconnected
            }
        }
    }

    private void open(Socket client) throws IOException {
        accepted.incrementAndGet();
        if (refusing) {
            client.close();
            return;
        }
        Relay relay = new Relay(this, client);
        relays.add(relay);
        relay.start();
        if (listener.isClosed()) {
            relay.close();
        }
    }
}
