package dev.ratelimit.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An HTTP server that counts its requests, and how many it handles at once. */
final class LoopbackServer implements AutoCloseable {

    /** What a request is answered with. */
    record Answer(int status, String field, String value) {
        static final Answer OK = new Answer(200, "X-Nothing", "");
    }

    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;
    private volatile UnaryOperator<Answer> answers = answer -> answer;

    LoopbackServer() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
        Answer answer = answers.apply(Answer.OK);
        byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add(answer.field(), answer.value());
        exchange.getResponseHeaders().add("Content-Type", "text/plain");
        atOnce.decrementAndGet();
        exchange.sendResponseHeaders(answer.status(), body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** Answers like this from now on. */
    void answer(int status, String field, String value) {
        answers = any -> new Answer(status, field, value);
    }

    /** Answers as this says. */
    void answer(UnaryOperator<Answer> answers) {
        this.answers = answers;
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    int requests() {
        return requests.get();
    }

    int mostAtOnce() {
        return mostAtOnce.get();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
