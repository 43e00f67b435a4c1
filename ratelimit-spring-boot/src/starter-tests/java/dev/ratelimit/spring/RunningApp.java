package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** An application on a real server with a fake clock. */
public final class RunningApp implements AutoCloseable {

    /** Without Spring Security. */
    @Configuration(proxyBeanMethods = false)
    @AnyStack.EnableAllButSecurity
    public static class WithoutSecurity {}

    /** With Spring Security. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    public static class WithSecurity {}

    /** A user of Spring Security, {@code alice} with the password {@code secret}. */
    @Configuration(proxyBeanMethods = false)
    public static class Alice {

        /** Passwords as they are: Spring Security's own encoder cost a sixth of all tests. */
        private static final class Plain implements PasswordEncoder {

            @Override
            public @Nullable String encode(@Nullable CharSequence password) {
                return password == null ? null : password.toString();
            }

            @Override
            public boolean matches(@Nullable CharSequence password, @Nullable String encoded) {
                return Objects.equals(encode(password), encoded);
            }
        }

        @Bean
        PasswordEncoder passwords() {
            return new Plain();
        }

        private static UserDetails alice() {
            return User.withUsername("alice").password("secret").build();
        }

        /** The only user of a servlet application. */
        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(alice());
        }

        /** The only user of a WebFlux application. */
        @Bean
        ReactiveUserDetailsService reactiveUsers() {
            return new MapReactiveUserDetailsService(alice());
        }
    }

    /** What an application is started with. Policies can be replaced while it runs, all others are fixed at the start. */
    record Configured(
            Server server, List<Class<?>> sources, Map<String, Object> properties, Map<String, Object> policies) {

        private static final String POLICIES = "ratelimit.policies";

        static Configured of(Server server, List<Class<?>> sources, String... properties) {
            Map<String, Object> fixed = new HashMap<>();
            Map<String, Object> policies = new LinkedHashMap<>();
            for (String property : properties) {
                String[] parts = property.split("=", 2);
                (isOfPolicy(parts[0]) ? policies : fixed).put(parts[0], parts[1]);
            }
            fixed.putAll(UsedAutoConfigurations.of(Stream.of(properties)));
            return new Configured(server, sources, fixed, policies);
        }

        private static boolean isOfPolicy(String name) {
            return name.startsWith(POLICIES) && !name.endsWith(".max-keys");
        }

        /** What is the same in all applications that differ in their policies only; one without policies limits nothing. */
        Configured fixed() {
            return new Configured(server, sources, properties, policies.isEmpty() ? policies : Map.of(POLICIES, "any"));
        }
    }

    private static final String REPLACEABLE = "replaceable";

    private final ConfigurableApplicationContext context;
    private final FakeTicker ticker;
    private final long startNanos;
    private final List<String> propertySources;

    /** How many requests had been counted when the test began, by policy and outcome. */
    private final Map<List<String>, Long> countedBefore = new HashMap<>();

    private RunningApp(ConfigurableApplicationContext context, FakeTicker ticker) {
        this.context = context;
        this.ticker = ticker;
        this.startNanos = ticker.epochNanos();
        this.propertySources = propertySources();
    }

    private List<String> propertySources() {
        return context.getEnvironment().getPropertySources().stream()
                .map(PropertySource::getName)
                .toList();
    }

    /** Starts the controllers and configurations with these properties on the server that applications have by default. */
    public static RunningApp start(List<Class<?>> sources, String... properties) {
        return start(Server.DEFAULT, sources, properties);
    }

    /** Starts the controllers and configurations with these properties on this server. */
    public static RunningApp start(Server server, List<Class<?>> sources, String... properties) {
        return start(Configured.of(server, sources, properties));
    }

    static RunningApp start(Configured configured) {
        FakeTicker ticker = new FakeTicker();
        return start(ticker, ticker, configured);
    }

    /** Like the above, but with the system's clock, which tests cannot set. */
    public static RunningApp startInRealTime(Server server, List<Class<?>> sources, String... properties) {
        return start(Ticker.system(), new FakeTicker(), Configured.of(server, sources, properties));
    }

    private static RunningApp start(Ticker time, FakeTicker ticker, Configured configured) {
        List<Class<?>> all = new ArrayList<>(configured.sources());
        all.addAll(configured.server().sources());
        if (!all.contains(WithSecurity.class)) {
            all.add(WithoutSecurity.class);
        }
        SpringApplicationBuilder application = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .properties("server.port=0", "server.address=127.0.0.1")
                .properties("spring.main.banner-mode=off", "spring.main.log-startup-info=false")
                // not gracefully: tests leave requests behind
                .properties("server.shutdown=immediate")
                .properties("management.health.redis.enabled=false", "spring.data.redis.repositories.enabled=false")
                .properties("logging.level.root=warn", "logging.level.dev.ratelimit=info")
                // what is reported about controllers that throw, as they do here on purpose
                .properties(Server.NOISE.stream()
                        .map(logger -> "logging.level." + logger + "=off")
                        .toArray(String[]::new))
                .properties(
                        "spring.autoconfigure.exclude=" + configured.server().excluded())
                .properties(configured.properties())
                .initializers(context -> {
                    context.getBeanFactory().registerSingleton("ticker", time);
                    context.getEnvironment()
                            .getPropertySources()
                            .addLast(new MapPropertySource(REPLACEABLE, configured.policies()));
                    // that of the tests, in all of whose classes Jackson would look for mix-ins at each start
                    context.addBeanFactoryPostProcessor(beans -> ((BeanDefinitionRegistry) beans)
                            .removeBeanDefinition(AutoConfigurationPackages.class.getName()));
                });
        return new RunningApp(application.run(), ticker);
    }

    /**
     * Replaces the policies, as if the application had started with them.
     *
     * @return whether it is possible; otherwise the application is to be closed
     */
    boolean reconfigure(Configured wanted) {
        context.getEnvironment()
                .getPropertySources()
                .replace(REPLACEABLE, new MapPropertySource(REPLACEABLE, wanted.policies()));
        context.publishEvent(
                new EnvironmentChangeEvent(context, wanted.policies().keySet()));
        if (bean(RefreshedConfiguration.class).refused() != null) {
            return false;
        }
        context.getBeansOfType(InMemoryStore.class).values().forEach(InMemoryStore::clear);
        context.getBeansOfType(Forgetful.class).values().forEach(Forgetful::forget);
        ticker.setWallClock(Duration.ofNanos(startNanos - ticker.epochNanos()));
        countedBefore.clear();
        for (Counter counter :
                bean(MeterRegistry.class).find("ratelimit.requests").counters()) {
            Meter.Id id = counter.getId();
            countedBefore.put(
                    List.of(Objects.requireNonNull(id.getTag("policy")), Objects.requireNonNull(id.getTag("outcome"))),
                    (long) counter.count());
        }
        return true;
    }

    /**
     * Whether the application is as it was at its start, but for budgets, clocks and counts: a change or an override by an
     * operator stays in its history, and a trial counts requests.
     *
     * @param patience how long to wait for the end of requests
     * @throws ConditionTimeoutException if a test has left requests that wait for a limit
     */
    boolean isUnchanged(Duration patience) {
        if (!context.isActive() || !propertySources().equals(propertySources)) {
            return false;
        }
        ticker.advanceOnRead(Duration.ZERO);
        RateLimitPolicies policies = bean(RateLimitPolicies.class);
        if (!policies.history(1).isEmpty() || policies.names().stream().anyMatch(p -> policies.trial(p) != null)) {
            return false;
        }
        context.getBeanProvider(WaitingRequests.class)
                .ifAvailable(waiting -> await().atMost(patience)
                        .untilAsserted(() -> assertThat(waiting.policies())
                                .as("policies whose limits requests still wait for after the test")
                                .noneMatch(policy -> waiting.waiting(policy) > 0)));
        return true;
    }

    /** The servers to test: the default one and, with {@code -Dservers=all}, as in the slow tests, the others. */
    public static Stream<Server> servers() {
        return Stream.of(Server.values())
                .filter(server -> server == Server.DEFAULT || "all".equals(System.getProperty("servers")));
    }

    /**
     * The same application on each of the servers, one after another, for the parameters of a test class, which are closed.
     */
    public static Stream<RunningApp> onEachServer(List<Class<?>> sources, String... properties) {
        return servers().map(server -> start(server, sources, properties));
    }

    @Override
    public String toString() {
        return AnyStack.server(context);
    }

    /** The clock, which tests advance. */
    public FakeTicker ticker() {
        return ticker;
    }

    /** A bean. */
    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    public ConfigurableApplicationContext context() {
        return context;
    }

    /** How many requests were counted under the policy. */
    public long counted(String policy, String outcome) {
        Counter counter = bean(MeterRegistry.class)
                .find("ratelimit.requests")
                .tags("policy", policy, "outcome", outcome)
                .counter();
        return counter == null ? 0 : (long) counter.count() - countedBefore.getOrDefault(List.of(policy, outcome), 0L);
    }

    /** Waits until so many requests were counted under the policy, because a request is counted after its answer. */
    public void awaitCounted(String policy, String outcome, long requests) {
        await().untilAsserted(() -> assertThat(counted(policy, outcome)).isEqualTo(requests));
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

    /**
     * Awaits the first byte of a response.
     *
     * @return {@code false} if there was none: with WebFlux, also without limits, Tomcat closes some connections when another
     *     one was reset just before
     */
    public boolean awaitAnswer(Socket socket) throws IOException {
        int first = socket.getInputStream().read();
        if (first < 0 && Stack.current() != Stack.SERVLET && toString().startsWith("Tomcat")) {
            return false;
        }
        assertThat(first).isEqualTo('H');
        return true;
    }

    @Override
    public void close() {
        context.close();
    }
}
