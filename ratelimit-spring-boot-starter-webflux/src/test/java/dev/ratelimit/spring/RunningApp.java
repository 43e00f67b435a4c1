package dev.ratelimit.spring;

import dev.ratelimit.Ticker;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.reactive.context.ReactiveWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;

/** An application on a real server with a fake clock. */
public final class RunningApp implements AutoCloseable {

    /** Without Spring Security. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.security.autoconfigure.ReactiveUserDetailsServiceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration"
            })
    public static class WithoutSecurity {}

    /** With Spring Security. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    public static class WithSecurity {}

    /** A user of Spring Security, {@code alice} with the password {@code secret}. */
    @Configuration(proxyBeanMethods = false)
    public static class Alice {

        /** The only user. */
        @Bean
        ReactiveUserDetailsService users() {
            return new MapReactiveUserDetailsService(
                    User.withUsername("alice").password("{noop}secret").build());
        }
    }

    private final ReactiveWebServerApplicationContext context;
    private final FakeTicker ticker;

    private RunningApp(ReactiveWebServerApplicationContext context, FakeTicker ticker) {
        this.context = context;
        this.ticker = ticker;
    }

    /** Starts the controllers and configurations with these properties. */
    public static RunningApp start(List<Class<?>> sources, String... properties) {
        FakeTicker ticker = new FakeTicker();
        return start(ticker, ticker, sources, properties);
    }

    /** Like the above, but with the system's clock, which tests cannot set. */
    public static RunningApp startInRealTime(List<Class<?>> sources, String... properties) {
        return start(Ticker.system(), new FakeTicker(), sources, properties);
    }

    private static RunningApp start(Ticker time, FakeTicker ticker, List<Class<?>> sources, String... properties) {
        List<Class<?>> all = new ArrayList<>(sources);
        if (!all.contains(WithSecurity.class)) {
            all.add(WithoutSecurity.class);
        }
        SpringApplicationBuilder application = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .web(WebApplicationType.REACTIVE)
                .properties("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off")
                .properties("management.health.redis.enabled=false")
                .properties("logging.level.root=warn", "logging.level.dev.ratelimit=info")
                .properties("logging.level.org.springframework.web.HttpLogging=off")
                .properties("logging.level.org.springframework.boot.webflux.autoconfigure.error=off")
                .properties(Stream.of(properties)
                        .map(property -> property.split("=", 2))
                        .collect(Collectors.toMap(
                                property -> property[0], property -> (Object) property[1], (a, b) -> b)))
                .initializers(context -> context.getBeanFactory().registerSingleton("ticker", time));
        return new RunningApp((ReactiveWebServerApplicationContext) application.run(), ticker);
    }

    /** The clock, which tests advance. */
    public FakeTicker ticker() {
        return ticker;
    }

    /** A bean. */
    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    /** How many requests were counted under the policy. */
    public long counted(String policy, String outcome) {
        Counter counter = bean(MeterRegistry.class)
                .find("ratelimit.requests")
                .tags("policy", policy, "outcome", outcome)
                .counter();
        return counter == null ? 0 : (long) counter.count();
    }

    /** Sends a GET request. */
    public RawResponse get(String path, String... headers) {
        return client().get(path, headers);
    }

    /** Sends a GET request as this user, such as {@code alice}, whose password is "secret", or {@code alice:wrong}. */
    public RawResponse getAs(String user, String path, String... headers) {
        String credentials = user.contains(":") ? user : user + ":secret";
        byte[] bytes = credentials.getBytes(StandardCharsets.UTF_8);
        List<String> all = new ArrayList<>(List.of(headers));
        all.add("Authorization: Basic " + Base64.getEncoder().encodeToString(bytes));
        return get(path, all.toArray(String[]::new));
    }

    /** Sends a request line and headers unchanged. */
    public RawResponse send(String requestLine, String... headers) {
        return client().send(requestLine, headers);
    }

    /** A client of the application's port. */
    public RawClient client() {
        return client("local.server.port");
    }

    /** A client of the actuator's port, if it is another. */
    public RawClient managementClient() {
        return client("local.management.port");
    }

    private RawClient client(String portProperty) {
        return new RawClient(context.getEnvironment().getRequiredProperty(portProperty, Integer.class));
    }

    @Override
    public void close() {
        context.close();
    }
}
