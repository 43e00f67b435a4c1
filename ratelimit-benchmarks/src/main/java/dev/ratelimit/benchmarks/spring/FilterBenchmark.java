package dev.ratelimit.benchmarks.spring;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * What the filter adds to a request under three policies, as in an application: global, per endpoint and per user; or
 * only under the last. {@code requestOnly} creates the same mock request without the filter; subtract it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class FilterBenchmark {

    private static final String AMPLE = "1000000000000";
    private static final int USERS = 10_000;
    private static final FilterChain NEXT = (request, response) -> {};

    /**
     * The permits per hour of each user; the other policies never refuse. With the first, a budget is full again at the
     * next request, so that its key is unknown; with the second, it is known; the third refuses.
     */
    @Param({AMPLE, "50000", "1"})
    public String limit = "";

    /** The headers of responses. */
    @Param({"draft", "none"})
    public String headers = "";

    /** The number of policies: 3 or 1. */
    @Param({"3", "1"})
    public int policies;

    private final String[] users =
            IntStream.range(0, USERS).mapToObj(i -> "user-" + i).toArray(String[]::new);
    private @Nullable ConfigurableApplicationContext context;
    private Filter filter = (request, response, chain) -> {};

    /** An application with one endpoint. It scans no components, because its package is that of the starter. */
    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @RestController
    public static class App {

        /** The endpoint. */
        @GetMapping("/orders/{id}")
        public String order() {
            return "";
        }
    }

    /** Starts the application. */
    @Setup
    public void start() {
        SpringApplication application = new SpringApplication(App.class);
        Map<String, Object> properties = new HashMap<>(Map.of(
                "server.port", "0",
                "server.address", "127.0.0.1",
                "logging.level.root", "warn",
                "ratelimit.headers", headers,
                "ratelimit.policies.per-user.limit", limit + "/hour",
                "ratelimit.policies.per-user.key", "header:X-User"));
        if (policies > 1) {
            properties.put("ratelimit.policies.global.limit", AMPLE + "/hour");
            properties.put("ratelimit.policies.per-endpoint.limit", AMPLE + "/hour");
            properties.put("ratelimit.policies.per-endpoint.key", "endpoint");
        }
        application.setDefaultProperties(properties);
        ConfigurableApplicationContext running = application.run();
        context = running;
        FilterRegistrationBean<?> registered = running.getBean("dev.ratelimit.filter", FilterRegistrationBean.class);
        filter = Objects.requireNonNull(registered.getFilter());
    }

    /** Stops the application. */
    @TearDown
    public void stop() {
        if (context != null) {
            context.close();
        }
    }

    private MockHttpServletRequest request() {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders/17");
        request.addHeader("X-User", users[ThreadLocalRandom.current().nextInt(USERS)]);
        return request;
    }

    /** Only creates the request. */
    @Benchmark
    public Object requestOnly() {
        return List.of(request(), new MockHttpServletResponse());
    }

    /** Sends the request through the filter. */
    @Benchmark
    public Object filtered() throws ServletException, IOException {
        if (RequestContextHolder.getRequestAttributes() == null) {
            // as Spring Boot's RequestContextFilter does, which runs before
            RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(new MockHttpServletRequest()));
        }
        MockHttpServletResponse response = new MockHttpServletResponse();
        filter.doFilter(request(), response, NEXT);
        return response;
    }
}
