package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.filter.OncePerRequestFilter;

/** A request that has waited is, for all that come after, the request that came: every getter answers the same. */
@Tag("slow")
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class SameRequestTest {

    /** What one part of the application sees. */
    private record Seen(String where, Map<String, String> getters) {}

    private static final List<Seen> SEEN = new CopyOnWriteArrayList<>();

    /** After how long a permit of the policy comes back. */
    private static final Duration EARLY = Duration.ofMinutes(1);

    private static final Duration LATE = Duration.ofMinutes(2);

    private static void see(String where, HttpServletRequest request) {
        SEEN.add(new Seen(where, RequestGetters.of(request)));
    }

    /** Wraps requests on their first dispatch only, before the rate limits. */
    @Component
    @Order(-1000)
    static class Wrapping extends OncePerRequestFilter {
        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            boolean wraps = request.getHeader("X-Wrap") != null;
            chain.doFilter(wraps ? new HttpServletRequestWrapper(request) : request, response);
        }
    }

    /** Wraps requests on every dispatch, before the rate limits. */
    @Component
    @Order(-999)
    static final class WrappingAlways extends Wrapping {
        @Override
        protected boolean shouldNotFilterAsyncDispatch() {
            return false;
        }
    }

    /** Lets only authenticated callers in. */
    @Configuration(proxyBeanMethods = false)
    static class Secured {
        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.csrf(csrf -> csrf.disable())
                    .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** Sees every dispatch after the rate limits. */
    @Configuration(proxyBeanMethods = false)
    static class Looking {
        @Bean
        FilterRegistrationBean<Filter> looking() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                see("filter, " + request.getDispatcherType(), (HttpServletRequest) request);
                chain.doFilter(request, response);
            });
            registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            return registration;
        }
    }

    /** Handlers of each kind, which look at the request. */
    @Controller
    static class Handlers {

        @RequestMapping("/probe/**")
        @ResponseBody
        String probe(HttpServletRequest request) {
            see("handler", request);
            return "probe";
        }

        @RequestMapping("/forward")
        String forward() {
            return "forward:/probe?f=1";
        }

        @RequestMapping("/include")
        void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/probe?i=1").include(request, response);
            see("handler, after it has included another", request);
        }

        @RequestMapping("/boom")
        void boom() {
            throw new IllegalStateException("on purpose");
        }

        @RequestMapping("/later")
        @ResponseBody
        Callable<String> later(HttpServletRequest request) {
            see("handler", request);
            return () -> "later";
        }
    }

    private final RunningApp app;
    private final boolean secured;
    private final ExecutorService client = Executors.newSingleThreadExecutor();

    SameRequestTest(RunningApp app, boolean secured) {
        this.app = app;
        this.secured = secured;
    }

    static Stream<Arguments> servers() {
        return RunningApp.servers()
                .flatMap(server ->
                        Stream.of(true, false).map(secured -> Arguments.of(start(server, secured), secured)));
    }

    private static RunningApp start(Server server, boolean secured) {
        List<Class<?>> sources =
                new ArrayList<>(List.of(Wrapping.class, WrappingAlways.class, Looking.class, Handlers.class));
        if (secured) {
            sources.addAll(List.of(RunningApp.WithSecurity.class, RunningApp.Alice.class, Secured.class));
        }
        return RunningApp.start(
                server,
                sources,
                "server.forward-headers-strategy=framework",
                "ratelimit.policies.early.limit=1/minute",
                "ratelimit.policies.early.key=header:X-Early",
                "ratelimit.policies.early.missing-key=skip",
                "ratelimit.policies.early.on-exceeded.action=wait",
                "ratelimit.policies.early.on-exceeded.max-wait=1h",
                "ratelimit.policies.late.limit=1/2m",
                "ratelimit.policies.late.key=header:X-Late",
                "ratelimit.policies.late.stage=after-security",
                "ratelimit.policies.late.missing-key=skip",
                "ratelimit.policies.late.on-exceeded.action=wait",
                "ratelimit.policies.late.on-exceeded.max-wait=1h");
    }

    @AfterEach
    void stop() {
        client.shutdownNow();
    }

    static Stream<Arguments> requests() {
        String form = "Content-Type: application/x-www-form-urlencoded";
        String multipart = """
                --b
                Content-Disposition: form-data; name="x"

                2
                --b
                Content-Disposition: form-data; name="file"; filename="f"

                content
                --b--
                """.replace("\n", "\r\n");
        List<String[]> kinds = List.of(
                new String[] {"GET /probe?x=1&x=2&y=%C3%A9+a", ""},
                new String[] {"GET /probe/a%20b;v=1/c", ""},
                new String[] {"GET //probe/./d", ""},
                new String[] {"POST /probe?x=1", "x=2&z=%C3%A9", form},
                new String[] {"POST /probe?x=1", multipart, "Content-Type: multipart/form-data; boundary=b"},
                new String[] {"POST /probe?x=1", "{\"x\": 2}", "Content-Type: application/json; charset=utf-8"},
                new String[] {"GET /forward?x=1&f=2", ""},
                new String[] {"POST /forward?x=1", "x=2&f=3", form},
                new String[] {"GET /include?x=1", ""},
                new String[] {"POST /boom?x=1", "x=2", form},
                new String[] {"GET /nowhere?x=1", ""},
                new String[] {"GET /later?x=1", ""},
                new String[] {"POST /later?x=1", "x=2", form});
        List<String[]> wrappings = List.of(
                new String[] {},
                new String[] {"X-Wrap: yes"},
                new String[] {"Forwarded: for=192.0.2.1;host=z.example;proto=https"},
                new String[] {"X-Forwarded-Prefix: /outside", "X-Forwarded-Host: z.example"});
        return kinds.stream()
                .flatMap(kind -> Stream.concat(
                        Stream.of("early", "late").map(policy -> arguments(kind, new String[0], List.of(policy))),
                        wrappings.stream().map(wrapping -> arguments(kind, wrapping, List.of("early", "late")))));
    }

    private static Arguments arguments(String[] kind, String[] wrapping, List<String> policies) {
        List<String> headers = new ArrayList<>(List.of(wrapping));
        String key = String.join(" ", headers) + kind[0] + kind[1].length() + policies;
        policies.forEach(policy -> headers.add("X-" + policy + ": " + key));
        headers.add("Cookie: a=1; b=2");
        headers.add("Accept-Language: de, en");
        if (kind.length > 2) {
            headers.add(kind[2]);
        }
        return Arguments.of(kind[0], kind[1], headers, policies);
    }

    private RawResponse send(String line, String body, List<String> headers) {
        List<String> all = new ArrayList<>(headers);
        if (secured) {
            all.add("Authorization: Basic YWxpY2U6c2VjcmV0");
        }
        String[] lines = all.toArray(String[]::new);
        return body.isEmpty()
                ? app.send(line + " HTTP/1.1", lines)
                : app.client().sendBody(line + " HTTP/1.1", body, lines);
    }

    private int waiting(String policy) {
        return app.bean(WaitingRequests.class).waiting(policy);
    }

    private static List<String> differences(Map<String, String> after, Map<String, String> before) {
        return Stream.concat(after.keySet().stream(), before.keySet().stream())
                .distinct()
                .filter(getter -> !Objects.equals(after.get(getter), before.get(getter)))
                .map(getter -> getter + " was " + before.get(getter) + ", is " + after.get(getter))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void everyGetter_isThatOfARequestThatDidNotWait(
            String line, String body, List<String> headers, List<String> policies) {
        SEEN.clear();
        RawResponse first = send(line, body, headers);
        List<Seen> before = List.copyOf(SEEN);
        SEEN.clear();
        assumeThat(before)
                .as("what comes after Spring Security, if it lets the path pass")
                .isNotEmpty();

        CompletableFuture<RawResponse> answer = CompletableFuture.supplyAsync(() -> send(line, body, headers), client);
        Map<String, Long> waited = new HashMap<>();
        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            policies.stream().filter(policy -> waiting(policy) > 0).forEach(policy -> {
                // again after a while: a slow thread may have set its alarm after the first step
                Long step = waited.get(policy);
                if (step == null || System.nanoTime() - step > 500_000_000) {
                    app.ticker().advance(policy.equals("early") ? EARLY : LATE);
                    waited.put(policy, System.nanoTime());
                }
            });
            return answer.isDone();
        });

        assertThat(waited).isNotEmpty();
        assertThat(answer.join().status()).isEqualTo(first.status()).isNotEqualTo(429);
        assertThat(SEEN.stream().map(Seen::where))
                .containsExactlyElementsOf(before.stream().map(Seen::where).toList());
        for (int i = 0; i < before.size(); i++) {
            assertThat(differences(SEEN.get(i).getters(), before.get(i).getters()))
                    .as(before.get(i).where())
                    .isEmpty();
        }
    }
}
