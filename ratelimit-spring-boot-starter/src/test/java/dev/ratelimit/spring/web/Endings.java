package dev.ratelimit.spring.web;

import dev.ratelimit.spring.OnBoot;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Ends requests in the ways of Spring MVC. */
@RestController
class Endings {

    /** The ways that only Spring MVC has: path, Accept, status, charged by count: 401, charged by free: 2xx. */
    static final List<String> MORE = List.of(
            "/sent?status=410, */*, 401, true, true",
            "/sent-later?status=410, */*, 401, true, true",
            "/later-and-later?status=401, */*, 401, true, true",
            "/forward, */*, 200, false, false");

    final AtomicInteger reached = new AtomicInteger();
    private final CountDownLatch gone = new CountDownLatch(1);

    static final class LoginFailed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class ToOuterFilter extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** The requests whose end the server has not told. */
    int unended() {
        return 0;
    }

    /** What answers exceptions. */
    @Configuration(proxyBeanMethods = false)
    static class Pages {

        @Bean
        OnBoot.ErrorPages pages() {
            return new OnBoot.ErrorPages()
                    .with(LoginFailed.class, "/login-failed")
                    .with(HttpStatus.GONE, "/login-failed");
        }

        /** Turns exceptions into a 401, outside of the rate limits. */
        @Bean
        FilterRegistrationBean<Filter> outer() {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                try {
                    chain.doFilter(request, response);
                } catch (ServletException e) {
                    if (!(e.getCause() instanceof ToOuterFilter)) {
                        throw e;
                    }
                    ((HttpServletResponse) response).setStatus(401);
                }
            });
            filter.setOrder(-1_000);
            filter.setDispatcherTypes(DispatcherType.REQUEST);
            return filter;
        }
    }

    @GetMapping("/sent")
    void sent(@RequestParam int status, HttpServletResponse response) throws IOException {
        response.sendError(status);
    }

    @GetMapping("/thrown-after-status")
    String thrownAfterStatus(HttpServletResponse response) {
        response.setStatus(404);
        throw new IllegalStateException("broken");
    }

    @GetMapping("/thrown-to-page")
    String thrownToPage() {
        throw new LoginFailed();
    }

    @GetMapping("/thrown-to-filter")
    String thrownToFilter() {
        throw new ToOuterFilter();
    }

    @GetMapping("/thrown-after-commit")
    void thrownAfterCommit(HttpServletResponse response) throws IOException {
        response.getWriter().write("begun");
        response.flushBuffer();
        throw new IllegalStateException("broken");
    }

    @RequestMapping("/login-failed")
    ResponseEntity<String> page() {
        return ResponseEntity.status(401).body("failed");
    }

    @GetMapping("/later")
    Callable<ResponseEntity<String>> later(@RequestParam int status) {
        return () -> ResponseEntity.status(status).body("later");
    }

    /** In two asynchronous phases. */
    @GetMapping("/later-and-later")
    Callable<ResponseEntity<StreamingResponseBody>> laterAndLater(@RequestParam int status) {
        return () ->
                ResponseEntity.status(status).body(body -> body.write("later".getBytes(StandardCharsets.US_ASCII)));
    }

    @GetMapping("/sent-later")
    Callable<String> sentLater(@RequestParam int status) {
        return () -> {
            throw new ResponseStatusException(HttpStatus.valueOf(status));
        };
    }

    @GetMapping("/thrown-later")
    Callable<String> thrownLater() {
        return () -> {
            throw new IllegalStateException("broken");
        };
    }

    @GetMapping("/never")
    DeferredResult<String> never() {
        return new DeferredResult<>(100L);
    }

    @GetMapping("/endless")
    SseEmitter endless() {
        SseEmitter emitter = new SseEmitter(0L);
        sendUntilLost(emitter, emitter::completeWithError);
        return emitter;
    }

    /** Sends on another thread until the client is gone, and then tells. */
    static void sendUntilLost(SseEmitter emitter, Consumer<Exception> lost) {
        new Thread(() -> {
                    try {
                        while (true) {
                            emitter.send("x".repeat(1_000));
                        }
                    } catch (IOException | IllegalStateException e) {
                        lost.accept(e);
                    }
                })
                .start();
    }

    /** Sends nothing, and fails when the client has gone. */
    @GetMapping("/abandoned")
    String abandoned() throws InterruptedException {
        reached.incrementAndGet();
        gone.await();
        throw new IllegalStateException("the client has gone");
    }

    /** Sends a 401 when the client has gone. */
    @GetMapping("/abandoned-unauthorized")
    void abandonedUnauthorized(HttpServletRequest request, HttpServletResponse response) throws Exception {
        response.setStatus(401);
        reached.incrementAndGet();
        gone.await();
        byte[] much = new byte[1 << 16];
        for (int i = 0; i < 1_000; i++) {
            response.getOutputStream().write(much);
            response.getOutputStream().flush();
        }
    }

    /** Tells the two above that the client has gone. */
    void clientGone() {
        gone.countDown();
    }
}
