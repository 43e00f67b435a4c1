package dev.ratelimit.spring;

import dev.ratelimit.Ticker;
import dev.ratelimit.test.FakeTicker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** An application on a real server with a fake clock. */
public final class RunningApp implements AutoCloseable {

    /** Without Spring Security. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration"
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
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("alice").password("{noop}secret").build());
        }
    }

    /** The available servers. */
    public enum Server {
        TOMCAT("jetty", "Jetty"),
        JETTY("tomcat", "Tomcat");

        private final String excluded;

        /** Excludes the other web stack, though it is on the class path. */
        Server(String otherPackage, String other) {
            String root = "org.springframework.boot." + otherPackage + ".autoconfigure.";
            this.excluded = root + "servlet." + other + "ServletWebServerAutoConfiguration," + root
                    + "actuate.web.server." + other + "ServletManagementContextAutoConfiguration";
        }
    }

    private final ServletWebServerApplicationContext context;
    private final FakeTicker ticker;

    private RunningApp(ServletWebServerApplicationContext context, FakeTicker ticker) {
        this.context = context;
        this.ticker = ticker;
    }

    /** Starts the controllers and configurations with these properties on Tomcat. */
    public static RunningApp start(List<Class<?>> sources, String... properties) {
        return start(Server.TOMCAT, sources, properties);
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
        if (!all.contains(WithSecurity.class)) {
            all.add(WithoutSecurity.class);
        }
        SpringApplicationBuilder application = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .properties("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off")
                .properties("management.health.redis.enabled=false")
                .properties("logging.level.root=warn", "logging.level.dev.ratelimit=info")
                .properties("logging.level.org.springframework.web.servlet.PageNotFound=error")
                // what servers report about controllers that throw, as they do here on purpose
                .properties("logging.level.org.apache.catalina.core.ContainerBase=off")
                .properties("logging.level.org.eclipse.jetty.ee11.servlet.ServletChannel=off")
                .properties("spring.autoconfigure.exclude=" + server.excluded)
                .properties(Stream.of(properties)
                        .map(property -> property.split("=", 2))
                        .collect(Collectors.toMap(
                                property -> property[0], property -> (Object) property[1], (a, b) -> b)))
                .initializers(context -> context.getBeanFactory().registerSingleton("ticker", time));
        return new RunningApp((ServletWebServerApplicationContext) application.run(), ticker);
    }

    /** The servers to test: Tomcat and, with {@code -Dservers=all}, as in the slow tests, the others. */
    public static Stream<Server> servers() {
        return Stream.of(Server.values())
                .filter(server -> server == Server.TOMCAT || "all".equals(System.getProperty("servers")));
    }

    /**
     * The same application on each of the servers, one after another, for the parameters of a test class, which are closed.
     */
    public static Stream<RunningApp> onEachServer(List<Class<?>> sources, String... properties) {
        return servers().map(server -> start(server, sources, properties));
    }

    @Override
    public String toString() {
        return Objects.requireNonNull(context.getWebServer()).getClass().getSimpleName();
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
