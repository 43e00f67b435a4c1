package dev.ratelimit.redis.server;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One client's connection through a {@link TcpProxy}: a thread for requests, one for replies, one that delivers them. */
final class Relay implements Closeable {

    private static final int CONNECT_TIMEOUT_MILLIS = 5_000;
    private static final int BUFFER = 16 * 1024;
    private static final int PIECES_PER_SECOND = 100;

    private final TcpProxy proxy;
    private final Socket client;
    private final BlockingQueue<Chunk> replies = new LinkedBlockingQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable Socket server;
    /** Whether bytes are missing: the following ones would answer the wrong request. */
    private volatile boolean torn;

    private volatile boolean forgotten;

    Relay(TcpProxy proxy, Socket client) {
        this.proxy = proxy;
        this.client = client;
    }

    /** From now on, all bytes are dropped silently. */
    void forget() {
        forgotten = true;
    }

    void start() {
        run("requests", this::relayRequests);
    }

    @Override
    public void close() {
        closed.countDown();
        proxy.remove(this);
        closeQuietly(client);
        Socket connected = server;
        if (connected != null) {
            closeQuietly(connected);
        }
    }

    private void relayRequests() throws IOException {
        client.setTcpNoDelay(true);
        // a client cannot distinguish a server behind a black hole from a missing one
        OutputStream out = swallows() ? null : connect();
        InputStream in = client.getInputStream();
        byte[] buffer = new byte[BUFFER];
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
            if (!swallows()) {
                out = out == null ? connect() : out;
                out.write(buffer, 0, length);
            }
        }
        close();
    }

    private OutputStream connect() throws IOException {
        Socket connecting = new Socket();
        server = connecting;
        if (closed.getCount() == 0) {
            // closed while the server was down
            connecting.close();
        }
        connecting.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), proxy.target()), CONNECT_TIMEOUT_MILLIS);
        connecting.setTcpNoDelay(true);
        InputStream in = connecting.getInputStream();
        run("replies", () -> collectReplies(in));
        run("delivery", this::deliverReplies);
        return connecting.getOutputStream();
    }

    private void collectReplies(InputStream in) {
        byte[] buffer = new byte[BUFFER];
        try {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                replies.add(new Chunk(Arrays.copyOf(buffer, length), dueNanos()));
            }
        } catch (IOException e) {
            // the end, too: earlier bytes must still be delivered
        }
        replies.add(new Chunk(new byte[0], dueNanos()));
    }

    private void deliverReplies() throws IOException, InterruptedException {
        OutputStream out = client.getOutputStream();
        Chunk chunk = replies.take();
        while (!chunk.isEnd() && !closed.await(chunk.dueNanos() - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            deliver(chunk.bytes(), out);
            chunk = replies.take();
        }
        if (!closed.await(chunk.dueNanos() - System.nanoTime(), TimeUnit.NANOSECONDS) && !swallows()) {
            close();
        }
    }

    private void deliver(byte[] bytes, OutputStream out) throws IOException, InterruptedException {
        int from = 0;
        while (from < bytes.length) {
            int length = bytes.length - from;
            int bytesPerSecond = proxy.bytesPerSecond();
            if (bytesPerSecond > 0) {
                length = Math.min(length, Math.max(1, bytesPerSecond / PIECES_PER_SECOND));
                if (closed.await(TimeUnit.SECONDS.toNanos(length) / bytesPerSecond, TimeUnit.NANOSECONDS)) {
                    return;
                }
            }
            if (!swallows()) {
                int cut = proxy.cutWithin(length);
                out.write(bytes, from, cut < 0 ? length : cut);
                if (cut >= 0) {
                    close();
                    return;
                }
            }
            from += length;
        }
    }

    /** Whether these bytes are lost; remembers it. */
    private boolean swallows() throws IOException {
        if (proxy.isBlackHole()) {
            torn = true;
            return true;
        }
        if (forgotten) {
            return true;
        }
        if (torn) {
            throw new IOException("the hole has swallowed a part of this stream");
        }
        return false;
    }

    private long dueNanos() {
        return System.nanoTime() + proxy.delayNanos();
    }

    private void run(String name, Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        step.run();
                    } catch (IOException | InterruptedException e) {
                        close();
                    }
                },
                "proxy-" + proxy.port() + "-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // closed as far as possible
        }
    }

    /** Bytes of replies and when they may be delivered; empty at the end. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Chunk(byte[] bytes, long dueNanos) {

        boolean isEnd() {
            return bytes.length == 0;
        }
    }

    @FunctionalInterface
    private interface Step {
        void run() throws IOException, InterruptedException;
    }
}
