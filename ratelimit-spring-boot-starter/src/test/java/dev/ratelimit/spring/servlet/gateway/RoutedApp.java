package dev.ratelimit.spring.servlet.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.cloud.context.scope.refresh.RefreshScope;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.ClassUtils;

/**
 * A running gateway, and the service behind it, which answers {@code /status/503} and the like with that status, and all
 * other paths with 200.
 */
final class RoutedApp implements AutoCloseable {

    private static final Pattern POLICY = Pattern.compile("ratelimit\\.policies\\.[^.]+\\.");

    private final AtomicInteger reached = new AtomicInteger();
    private final HttpServer service;
    private final RunningApp app;

    private RoutedApp(String yaml, List<Class<?>> sources) {
        try {
            this.service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        service.createContext("/", this::answer);
        service.start();
        try {
            this.app = RunningApp.start(sources, properties(withService(yaml)));
        } catch (RuntimeException e) {
            service.stop(0);
            throw e;
        }
    }

    /** Whether the gateway is on the class path. */
    static boolean isPossible() {
        return ClassUtils.isPresent("org.springframework.cloud.gateway.server.mvc.common.MvcUtils", null);
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

    private void answer(HttpExchange exchange) throws IOException {
        reached.incrementAndGet();
        String path = exchange.getRequestURI().getPath();
        int status = path.contains("/status/") ? Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)) : 200;
        byte[] body = "from the service".getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    RunningApp app() {
        return app;
    }

    /** Changes the configuration where this says something else, and makes the routes again. */
    void refresh(String yaml) {
        Map<String, Object> changed = new HashMap<>();
        for (String property : properties(withService(yaml))) {
            changed.put(property.split("=", 2)[0], property.split("=", 2)[1]);
        }
        MutablePropertySources sources = app.context().getEnvironment().getPropertySources();
        sources.remove("refreshed");
        sources.addFirst(new MapPropertySource("refreshed", changed));
        app.context().publishEvent(new EnvironmentChangeEvent(app.context(), changed.keySet()));
        app.bean(RefreshScope.class).refreshAll();
    }

    private String withService(String yaml) {
        return yaml.replace(
                "$SERVICE", "http://127.0.0.1:" + service.getAddress().getPort());
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

    @Override
    public void close() {
        try {
            app.close();
        } finally {
            service.stop(0);
        }
    }
}
