package dev.ratelimit.spring.web;

import dev.ratelimit.spring.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Requests that stay until they are let go. */
@RestController
class Staying {

    /** Those that a server does not report when their client is gone. */
    static final List<String> LOST = List.of("/started-and-lost", "/lost-later", "/lost-by-writer", "/lost-unflushed");

    final AtomicInteger inside = new AtomicInteger();
    private volatile CountDownLatch door = new CountDownLatch(1);
    private volatile DeferredResult<String> deferred = new DeferredResult<>(60_000L);

    /** Lets those go that are inside, and no others. */
    void letGo() {
        door.countDown();
        door = new CountDownLatch(1);
        deferred.setResult("there");
        deferred = new DeferredResult<>(60_000L);
    }

    @GetMapping("/stay")
    String stay() throws InterruptedException {
        CountDownLatch mine = door;
        inside.incrementAndGet();
        mine.await();
        return "stayed";
    }

    @GetMapping("/stay-later")
    DeferredResult<String> deferred() {
        DeferredResult<String> mine = deferred;
        inside.incrementAndGet();
        return mine;
    }

    @GetMapping("/fatal")
    String fatal() {
        throw new AssertionError("on purpose");
    }

    /** Fails to write on the server's own thread, and leaves it to the server to complete the request. */
    @GetMapping("/started-and-lost")
    void startedAndLost(HttpServletRequest request, HttpServletResponse response) {
        request.startAsync(request, response).setTimeout(0);
        try {
            while (true) {
                response.getOutputStream().write(new byte[1_000]);
                response.flushBuffer();
            }
        } catch (IOException e) {
            inside.incrementAndGet();
        }
    }

    /** Leaves it to the server to notice that the client is gone. */
    @GetMapping("/lost-later")
    SseEmitter lostLater() {
        SseEmitter emitter = new SseEmitter(0L);
        Endings.sendUntilLost(emitter, lost -> inside.incrementAndGet());
        return emitter;
    }

    @GetMapping("/lost-by-writer")
    void lostByWriter(HttpServletRequest request, HttpServletResponse response) throws IOException {
        request.startAsync(request, response).setTimeout(0);
        PrintWriter writer = response.getWriter();
        while (!writer.checkError()) {
            writer.write("x".repeat(1_000));
            writer.flush();
        }
    }

    @GetMapping("/lost-unflushed")
    void lostUnflushed(HttpServletRequest request, HttpServletResponse response) throws IOException {
        request.startAsync(request, response).setTimeout(0);
        PrintWriter writer = response.getWriter();
        String text = "x".repeat(1_000);
        for (int i = 0; i < 100_000; i++) {
            writer.write(text);
        }
    }

    /** Whether the server offers to send a file after the request. */
    @GetMapping("/sendfile")
    String sendfile(HttpServletRequest request) {
        return String.valueOf(request.getAttribute("org.apache.tomcat.sendfile.support"));
    }

    @GetMapping("/annotated")
    @RateLimited(value = "1", algorithm = "concurrency", key = "header:X-Annotated")
    String annotated() {
        return "annotated";
    }
}
