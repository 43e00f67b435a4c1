package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Ticker;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
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

    private final ConfigurableApplicationContext context;
    private final FakeTicker ticker;

    private RunningApp(ConfigurableApplicationContext context, FakeTicker ticker) {
        this.context = context;
        this.ticker = ticker;
    }

    /** Starts the controllers and configurations with these properties on the server that applications have by default. */
    public static RunningApp start(List<Class<?>> sources, String... properties) {
        return start(Server.DEFAULT, sources, properties);
    }

    /** Starts the controllers and configurations with these properties on this server. */
    public static RunningApp start(Server server, List<Class<?>> sources, String... properties) {
        FakeTicker ticker = new FakeTicker();
        return start(server, ticker, ticker, sources, properties);
    }

    /** Like the above, but with the system's clock, which tests cannot set. */
    public static RunningApp startInRealTime(Server server, List<Class<?>> sources, String... properties) {
        return start(server, Ticker.system(), new FakeTicker(), sources, properties);
    }

    private static RunningApp start(
            Server server, Ticker time, FakeTicker ticker, List<Class<?>> sources, String... properties) {
        List<Class<?>> all = new ArrayList<>(sources);
        all.addAll(server.sources());
        if (!all.contains(WithSecurity.class)) {
            all.add(WithoutSecurity.class);
        }
        SpringApplicationBuilder application = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .properties("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off")
                // not gracefully: tests leave requests behind
                .properties("server.shutdown=immediate")
                .properties("management.health.redis.enabled=false", "spring.data.redis.repositories.enabled=false")
                .properties("logging.level.root=warn", "logging.level.dev.ratelimit=info")
                // what is reported about controllers that throw, as they do here on purpose
                .properties(Server.NOISE.stream()
                        .map(logger -> "logging.level." + logger + "=off")
                        .toArray(String[]::new))
                .properties("spring.autoconfigure.exclude=" + server.excluded())
                .properties(Stream.of(properties)
                        .map(property -> property.split("=", 2))
                        .collect(Collectors.toMap(
                                property -> property[0], property -> (Object) property[1], (a, b) -> b)))
                .initializers(context -> context.getBeanFactory().registerSingleton("ticker", time));
        return new RunningApp(application.run(), ticker);
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
        return counter == null ? 0 : (long) counter.count();
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
