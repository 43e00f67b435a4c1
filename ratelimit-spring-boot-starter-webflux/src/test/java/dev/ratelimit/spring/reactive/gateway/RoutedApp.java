package dev.ratelimit.spring.reactive.gateway;

import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * A running gateway, and the service behind it, which answers {@code /status/503} and the like with that status, and
 * {@code /never} never. All other paths are answered with 200, {@code /fields} with a budget of its own.
 */
final class RoutedApp implements AutoCloseable {

    private static final Pattern POLICY = Pattern.compile("ratelimit\\.policies\\.[^.]+\\.");

    private final AtomicInteger reached = new AtomicInteger();
    private final DisposableServer service;
    private final RunningApp app;

    private RoutedApp(String yaml, List<Class<?>> sources) {
        this.service = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(this::answer)
                .bindNow();
        try {
            this.app = RunningApp.start(
                    sources, properties(yaml.replace("$SERVICE", "http://127.0.0.1:" + service.port())));
        } catch (RuntimeException e) {
            service.disposeNow();
            throw e;
        }
    }

    /** Whether the gateway is on the class path. */
    static boolean isPossible() {
        return ClassUtils.isPresent("org.springframework.cloud.gateway.route.Route", null);
    }

    /**
     * Starts a gateway, whose policies add no time to {@code Retry-After}.
     *
     * @param yaml its configuration, with {@code $SERVICE} for the address of the service
     */
    static RoutedApp start(String yaml, Class<?>... sources) {
        return new RoutedApp(yaml, List.of(sources));
    }

    private static String[] properties(String yaml) {
        YamlPropertiesFactoryBean read = new YamlPropertiesFactoryBean();
        read.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        Map<String, Object> all = new TreeMap<>();
        Objects.requireNonNull(read.getObject()).forEach((name, value) -> {
            Matcher policy = POLICY.matcher(name.toString());
            if (policy.lookingAt()) {
                all.put(policy.group() + "retry-jitter.max", "0s");
            }
            all.put(name.toString(), value);
        });
        return all.entrySet().stream()
                .map(property -> property.getKey() + "=" + property.getValue())
                .toArray(String[]::new);
    }

    private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        reached.incrementAndGet();
        String path = request.uri();
        if (path.contains("/never")) {
            return Mono.never();
        }
        if (path.contains("/fields")) {
            response.header("RateLimit", "\"service\";r=1;t=2");
        }
        int status = path.contains("/status/") ? Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)) : 200;
        return response.status(status).sendString(Mono.just("from the service"));
    }

    RunningApp app() {
        return app;
    }

    int servicePort() {
        return service.port();
    }

    /** How many requests the service has got. */
    int reached() {
        return reached.get();
    }

    RawResponse get(String path, String... headers) {
        return app.get(path, headers);
    }

    int status(String path, String... headers) {
        return get(path, headers).status();
    }

    @Nullable
    String retryAfter(String path, String... headers) {
        return get(path, headers).header("Retry-After");
    }

    /** How many requests of this key the policy still admits. */
    long remaining(String policy, String... key) {
        return app.bean(RateLimitPolicies.class).state(policy, key).get(0).remaining();
    }

    void advance(Duration time) {
        app.ticker().advance(time);
    }

    @Override
    public void close() {
        try {
            app.close();
        } finally {
            service.disposeNow();
        }
    }
}
