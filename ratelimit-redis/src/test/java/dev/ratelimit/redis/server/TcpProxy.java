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
 * A way to a server that can be spoilt: it listens on a port of its own on loopback, and relays bytes both ways. What is
 * set holds for the open connections and for new ones. Safe for use by many threads.
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

    /** Starts one before this port of 127.0.0.1; whether anything listens there matters only once a client comes. */
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

    /** Holds each reply back so long from when it came, in order, and many at a time; zero ends that. */
    public void delay(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /**
     * Swallows all bytes from now on, and leaves connections open, even those that the server closes; new ones open as
     * well. When that ends, all connections are closed: after a gap, replies would answer the wrong requests.
     */
    public void blackHole(boolean on) {
        blackHole = on;
        if (!on) {
            disconnectAll();
        }
    }

    /**
     * Counts the bytes of replies on all connections from now on, and closes the connection that delivers the last of so
     * many, once; with 0, before the next byte.
     */
    public synchronized void cutAfter(int bytes) {
        bytesUntilCut = bytes;
    }

    /** Delivers replies no faster than this on each connection; 0 ends that. */
    public void throttle(int bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Closes new connections at once; those that are open stay. */
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

    /** How many connections have come so far, with those that were {@linkplain #refuse refused}. */
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

    /** After how many of the next {@code length} bytes of replies to cut, which is then done with; -1 for none of them. */
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
                // the proxy is closed, which ends the loop, or this client has gone
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
