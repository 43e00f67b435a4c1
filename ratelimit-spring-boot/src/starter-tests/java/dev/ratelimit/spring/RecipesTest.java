package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.RateLimiter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The recipes of docs/recipes.md, exactly as written there, do what the text says. */
@Tag("servers")
class RecipesTest extends AppPerTest {

    /** The endpoints of the recipes. */
    @RestController
    static class Pages {

        @PostMapping("/login")
        ResponseEntity<Void> login(@RequestParam String username, @RequestParam String password) {
            return ResponseEntity.status(password.equals("secret") ? 204 : 401).build();
        }

        @GetMapping("/api/orders")
        String orders() {
            return "orders";
        }

        @GetMapping("/search")
        @RateLimited(policy = "work", permits = 5)
        String search() {
            return "hits";
        }

        @GetMapping("/export")
        @RateLimited(policy = "work", permits = 50)
        String export() {
            return "report";
        }
    }

    /** A login that binds an object. */
    @RestController
    static class Bound {

        /** The credentials in a request. */
        static final class Credentials {
            private String username = "";

            public String getUsername() {
                return username;
            }

            public void setUsername(String username) {
                this.username = username;
            }
        }

        @PostMapping("/login")
        ResponseEntity<String> login(Credentials credentials) {
            return ResponseEntity.status(401).body(credentials.getUsername());
        }
    }

    /** The other endpoints only. */
    @RestController
    static class Orders {
        @GetMapping("/api/orders")
        String orders() {
            return "orders";
        }
    }

    /** Knows plans by a header. */
    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        PlanResolver plans() {
            return request -> request.header("X-Plan");
        }
    }

    /** The properties of the YAML under this heading, with additional ones. */
    static String[] recipe(String heading, String... more) throws IOException {
        return yaml("recipes.md", "\n## " + heading + "\n", more);
    }

    /** The properties of the first YAML on this page that says something about limits after this text, with others. */
    static String[] yaml(String name, String after, String... more) throws IOException {
        String page = Files.readString(Path.of("..", "docs").resolve(name));
        String rest = page.substring(page.indexOf(after) + after.length());
        String yaml = "ratelimit:\n" + rest.split("```yaml\nratelimit:\n", 2)[1].split("```", 2)[0];
        YamlPropertiesFactoryBean reader = new YamlPropertiesFactoryBean();
        reader.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        Properties properties = new Properties();
        properties.putAll(Objects.requireNonNull(reader.getObject()));
        return Stream.concat(
                        properties.entrySet().stream().map(entry -> entry.getKey() + "=" + entry.getValue()),
                        Arrays.stream(more))
                .toArray(String[]::new);
    }

    private RunningApp start(String heading, List<Class<?>> sources, String... more) throws IOException {
        return start(sources, recipe(heading, more));
    }

    @Test
    void burst_waits() throws Exception {
        RunningApp site = start("A burst that may wait", List.of(Orders.class));
        ExecutorService clients = Executors.newFixedThreadPool(300);
        try {
            List<Future<Integer>> answers = Stream.generate(
                            () -> clients.submit(() -> site.get("/api/orders").status()))
                    .limit(300)
                    .toList();
            await().until(() -> site.counted("orders", "refused") == 50);
            await().until(() -> answers.stream().filter(Future::isDone).count() == 100);

            for (int i = 0; i < 200; i++) {
                site.ticker().advance(Duration.ofMillis(20));
            }

            int admitted = 0;
            for (Future<Integer> answer : answers) {
                admitted += answer.get() == 200 ? 1 : 0;
            }
            assertThat(admitted).isEqualTo(250);
            site.awaitCounted("orders", "waited", 200);
        } finally {
            clients.shutdownNow();
        }
    }

    private static long count(int times, int status, IntFunction<RawResponse> request) {
        return IntStream.range(0, times)
                .filter(i -> request.apply(i).status() == status)
                .count();
    }

    @Test
    void login_failuresAreCountedByAccountAndAddress() throws IOException {
        RunningApp site = start("A login", List.of(Pages.class), "ratelimit.policies.work.limit=1000/hour");

        assertThat(count(10, 204, i -> login(site, "alice", "secret"))).isEqualTo(10);
        assertThat(count(10, 401, i -> login(site, i % 2 == 0 ? "alice" : "ALICE", "guess" + i)))
                .isEqualTo(5);
        assertThat(login(site, "alice", "secret").status()).isEqualTo(429);
        assertThat(login(site, "bob", "secret").status()).isEqualTo(204);
        assertThat(count(30, 401, i -> login(site, "user" + i, "guess"))).isEqualTo(15);
        assertThat(login(site, "bob", "secret").status()).isEqualTo(429);
        assertThat(site.get("/api/orders").status()).isEqualTo(200);
    }

    @Test
    void login_whoseAccountTheLimitCannotSee_isRefused() throws IOException {
        RunningApp site = start("A login", List.of(Bound.class));

        assertThat(login(site, "alice", "guess").body()).isEqualTo("alice");
        assertThat(site.send("POST /login?!username=alice HTTP/1.1", "Content-Length: 0")
                        .status())
                .isEqualTo(400);
        assertThat(site.send("POST /login?username%5B%5D=alice HTTP/1.1", "Content-Length: 0")
                        .status())
                .isEqualTo(400);
        assertThat(site.send("POST /login HTTP/1.1", "Content-Length: 0", "username: alice")
                        .status())
                .isEqualTo(400);
    }

    private static RawResponse login(RunningApp site, String user, String password) {
        return site.send("POST /login?username=" + user + "&password=" + password + " HTTP/1.1", "Content-Length: 0");
    }

    @Test
    void guessers_areKeptOutForAnHour() throws IOException {
        RunningApp site = start("Keep guessers out", List.of(Pages.class), "ratelimit.policies.work.limit=1000/hour");

        assertThat(count(30, 401, i -> login(site, "user" + i, "guess"))).isEqualTo(20);

        RawResponse refused = login(site, "alice", "secret");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(Long.parseLong(refused.header("Retry-After"))).isBetween(3_500L, 3_601L);
        assertThat(site.get("/api/orders").status()).isEqualTo(200);
    }

    @Test
    void apiKeys_haveBudgets_andSoDoAddresses() throws IOException {
        RunningApp site = start("API keys", List.of(Orders.class));

        assertThat(site.get("/api/orders").status()).isEqualTo(400);
        assertThat(count(700, 200, i -> site.get("/api/orders", "X-Api-Key: a")))
                .isEqualTo(600);
        assertThat(count(700, 200, i -> site.get("/api/orders", "X-Api-Key: invented" + i)))
                .isEqualTo(600); // permits left for the address
    }

    @Test
    void tenants_shareABudget_andEachUserHasOne() throws IOException {
        RunningApp site = start(
                "Tenants", List.of(Orders.class, Tokens.class, Plans.class), "ratelimit.policies.by-tenant.burst=900");

        assertThat(count(700, 200, i -> site.get("/api/orders", "X-User: alice@acme")))
                .isEqualTo(600);
        assertThat(count(700, 200, i -> site.get("/api/orders", "X-User: bob@acme")))
                .isEqualTo(300);
        assertThat(count(10, 200, i -> site.get("/api/orders", "X-User: eve@other")))
                .isEqualTo(10);
        assertThat(count(10, 200, i -> site.get("/api/orders"))).isEqualTo(10);
    }

    @Test
    void tiers_limitByPlan() throws IOException {
        RunningApp site = start("Tiers", List.of(Orders.class, Tokens.class, Plans.class));

        assertThat(count(100, 200, i -> site.get("/api/orders", "X-User: a@x"))).isEqualTo(60);
        assertThat(count(1_100, 200, i -> site.get("/api/orders", "X-User: b@x", "X-Plan: pro")))
                .isEqualTo(1_000);
        assertThat(count(100, 200, i -> site.get("/api/orders", "X-User: c@x", "X-Plan: partner")))
                .isEqualTo(100);
        assertThat(count(100, 200, i -> site.get("/api/orders", "X-User: acme")))
                .isEqualTo(100);
        assertThat(count(10, 200, i -> site.get("/api/orders", "X-User: mallory")))
                .isZero();
    }

    @Test
    void proxy_clientsAreDistinguished_andCannotChooseWhoTheyAre() throws IOException {
        RunningApp site = start(
                "Behind a proxy or a load balancer",
                List.of(Orders.class),
                "ratelimit.trusted-proxies=127.0.0.1",
                "ratelimit.policies.by-address.burst=5");

        assertThat(count(10, 200, i -> site.get("/api/orders", "X-Forwarded-For: 198.51.100." + i + ", 203.0.113.1")))
                .isEqualTo(5);
        assertThat(count(
                        10,
                        200,
                        i -> site.get("/api/orders", "Forwarded: for=198.51.100." + i, "X-Forwarded-For: 203.0.113.2")))
                .isEqualTo(5);
    }

    @Test
    void customersDay_beginsAtTheirMidnight() throws IOException {
        RunningApp site = start(
                "A day that begins in the customer's time zone", List.of(Orders.class, Tokens.class, Plans.class));
        String[] zurich = {"X-Api-Key: a", "X-Plan: europe"};
        String[] newYork = {"X-Api-Key: b", "X-Plan: america"};

        // it is midnight UTC, 1 a.m. in Zurich, and 7 p.m. in New York
        assertThat(count(101, 200, i -> site.get("/api/orders", zurich))).isEqualTo(100);
        assertThat(count(101, 200, i -> site.get("/api/orders", newYork))).isEqualTo(100);
        assertThat(count(101, 200, i -> site.get("/api/orders", "X-Api-Key: c")))
                .isEqualTo(100);
        assertThat(site.get("/api/orders", zurich).header("Retry-After")).isBetween("82800", "82801");

        site.ticker().advance(Duration.ofHours(5));
        assertThat(site.get("/api/orders", newYork).status()).isEqualTo(200);
        assertThat(site.get("/api/orders", zurich).status()).isEqualTo(429);

        site.ticker().advance(Duration.ofHours(18));
        assertThat(site.get("/api/orders", zurich).status()).isEqualTo(200);
        assertThat(site.get("/api/orders", "X-Api-Key: c").status()).isEqualTo(429);
    }

    @Test
    void oneEndpoint_hasAnotherResponse() throws IOException {
        RunningApp site = start("Another response for one endpoint", List.of(Orders.class));
        assertThat(count(2, 200, i -> site.get("/api/orders"))).isEqualTo(2);

        RawResponse refused = site.get("/api/orders");

        assertThat(refused.status()).isEqualTo(420);
        assertThat(refused.body())
                .isEqualTo("{\"error\": \"too many orders\", \"retryAfter\": " + refused.header("Retry-After") + "}");
        assertThat(refused.header("Content-Type")).isEqualTo("application/json");
        assertThat(refused.header("RateLimit")).contains("\"orders\";r=0").contains("\"per-address\";r=598");
    }

    @Test
    void expensiveEndpoints_payTheirPrice() throws IOException {
        RunningApp site = start("Expensive endpoints", List.of(Pages.class));

        assertThat(count(20, 200, i -> site.get("/export"))).isEqualTo(12);
        site.ticker().advance(Duration.ofMinutes(1));
        assertThat(count(130, 200, i -> site.get("/search"))).isEqualTo(120);
        site.ticker().advance(Duration.ofMinutes(1));
        assertThat(count(610, 200, i -> site.get("/api/orders"))).isEqualTo(600);
    }

    @Test
    void monitoringAndOffice_haveOtherLimits() throws IOException {
        RunningApp site = start(
                "Monitoring and the office",
                List.of(Orders.class),
                "ratelimit.trusted-proxies=127.0.0.1",
                "management.endpoints.web.exposure.include=health");

        assertThat(count(100, 200, i -> site.get("/api/orders", "X-Forwarded-For: 198.51.100.1")))
                .isEqualTo(60);
        assertThat(count(100, 200, i -> site.get("/api/orders", "X-Forwarded-For: 203.0.113." + i)))
                .isEqualTo(100);
        assertThat(count(100, 200, i -> site.get("/api/orders", "X-Forwarded-For: 10.1.2.3")))
                .isEqualTo(100);
        assertThat(count(100, 200, i -> site.get("/actuator/health"))).isEqualTo(100);
    }

    @Test
    void tests_canSwitchLimitsOff() throws IOException {
        RunningApp site = start("Tests", List.of(Orders.class), "ratelimit.policies.one.limit=1/hour");

        assertThat(count(10, 200, i -> site.get("/api/orders"))).isEqualTo(10);
        assertThat(site.bean(RateLimiter.class)).isNotNull();
    }
}
