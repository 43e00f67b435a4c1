package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

/** The recipe for a login, with the system's clock: correct logins are free, and every wrong one is charged. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class LoginTest {

    private static final int LIMIT = 5;

    static final class LoginFailed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** A login that fails in every way; the user name selects which. */
    @RestController
    static class Login {

        private final Map<String, AtomicInteger> checked = new ConcurrentHashMap<>();

        int checked(String username) {
            return Objects.requireNonNull(checked.computeIfAbsent(username, name -> new AtomicInteger()))
                    .get();
        }

        @PostMapping("/login")
        Object login(@RequestParam String username, @RequestParam String password, HttpServletResponse response)
                throws IOException {
            Objects.requireNonNull(checked.computeIfAbsent(username, name -> new AtomicInteger()))
                    .incrementAndGet();
            ResponseEntity<Map<String, String>> failed =
                    ResponseEntity.status(401).body(Map.of("error", "wrong"));
            if (password.equals("secret")) {
                return ResponseEntity.ok(Map.of("welcome", username));
            }
            return switch (username) {
                case "thrown" -> throw new LoginFailed();
                case "later" -> (Callable<ResponseEntity<?>>) () -> failed;
                case "never" -> new DeferredResult<>(10L);
                case "sent" -> {
                    response.sendError(401);
                    yield ResponseEntity.status(401).build();
                }
                default -> failed;
            };
        }

        @RequestMapping("/login-failed")
        ResponseEntity<String> failed() {
            return ResponseEntity.status(401).body("wrong");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Pages {
        @Bean
        OnBoot.ErrorPages pages() {
            return new OnBoot.ErrorPages().with(LoginFailed.class, "/login-failed");
        }
    }

    private final RunningApp app;

    LoginTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.servers().map(server -> {
            try {
                return RunningApp.startInRealTime(
                        server,
                        List.of(Login.class, Pages.class),
                        RecipesTest.recipe("A login", "ratelimit.trusted-proxies=127.0.0.1"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** As a user with this name and a separate address. */
    private Socket begin(String username, String password, String accept) throws IOException {
        return app.client()
                .begin(
                        "POST /login?username=" + username + "&password=" + password + " HTTP/1.1",
                        "Content-Length: 0",
                        "Accept: " + accept,
                        "X-Forwarded-For: 192.0.2." + Math.floorMod(username.hashCode(), 256));
    }

    private int login(String username, String password, String accept) {
        try (Socket socket = begin(username, password, accept)) {
            return status(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int status(Socket socket) throws IOException {
        String answer = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
        return Integer.parseInt(answer.substring(9));
    }

    @Test
    void rightLogins_aThousandInARow_pass() throws IOException {
        for (int i = 0; i < 1_000; i++) {
            try (Socket socket = begin("alice", "secret", "*/*")) {
                assertThat(status(socket)).isEqualTo(200);
                // the server closes the connection after it has settled the request
                socket.shutdownOutput();
                byte[] unusedRest = socket.getInputStream().readAllBytes();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"body", "unacceptable", "thrown", "sent", "later", "never", "gone"})
    void wrongLogins_fiftyAtOnce_reachThePasswordAsOftenAsTheLimitPermits(String ending) throws InterruptedException {
        List<Thread> threads = IntStream.range(0, 50)
                .mapToObj(i -> new Thread(() -> attempt(ending)))
                .toList();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(login(ending, "secret", "*/*")).isEqualTo(429);
        assertThat(app.bean(Login.class).checked(ending)).isEqualTo(LIMIT);
    }

    private void attempt(String ending) {
        if (!ending.equals("gone")) {
            login(ending, "guess", ending.equals("unacceptable") ? "text/csv" : "*/*");
            return;
        }
        try (Socket socket = begin(ending, "guess", "*/*")) {
            // nobody reads the response
            socket.getInputStream().read();
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
