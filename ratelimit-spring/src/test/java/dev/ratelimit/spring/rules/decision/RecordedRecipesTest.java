package dev.ratelimit.spring.rules.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.test.FakeTicker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/** The recipes of docs/recipes.md without a web stack, on requests as a log may have recorded them. */
class RecordedRecipesTest {

    /** The handlers of the recipes' endpoints. */
    static final class Pages {

        void login() {}

        void orders() {}

        @RateLimited(policy = "work", permits = 5)
        void search() {}

        @RateLimited(policy = "work", permits = 50)
        void export() {}
    }

    private static final Map<String, String> ROUTES = Map.of(
            "POST /login", "login", "GET /api/orders", "orders", "GET /search", "search", "GET /export", "export");

    /** The endpoints of the recipes. */
    private static final class Routes implements EndpointResolver {

        private final Map<String, Endpoint> endpoints = new LinkedHashMap<>();

        Routes(RequestRules rules) {
            ROUTES.forEach((route, method) -> {
                String[] parts = route.split(" ", -1);
                Endpoint endpoint = Endpoint.of(List.of(parts[0]), PathPatternParser.defaultInstance.parse(parts[1]));
                endpoints.put(route, endpoint);
                rules.add(
                        endpoint, Pages.class, Objects.requireNonNull(ReflectionUtils.findMethod(Pages.class, method)));
            });
        }

        @Override
        public Endpoint resolve(WebRequest request) {
            return endpoints.getOrDefault(
                    request.method() + " " + request.path().value(), Endpoint.NOWHERE);
        }

        @Override
        public boolean mayLeadToAnnotated(WebRequest request) {
            return true;
        }
    }

    private final FakeTicker ticker = new FakeTicker();

    /** The limits of the YAML under this heading, with additional properties. */
    private RequestLimiter recipe(String heading, Map<String, Object> more) throws IOException {
        String page = Files.readString(Path.of("..", "docs", "recipes.md"));
        String section = page.split("\n## " + heading + "\n", 2)[1].split("\n## ", 2)[0];
        String yaml = section.split("```yaml\n", 2)[1].split("```", 2)[0];
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("more", more));
        new YamlPropertySourceLoader()
                .load("recipe", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                .forEach(environment.getPropertySources()::addLast);
        ConfigurationPropertySources.attach(environment);
        RateLimitProperties properties = Binder.get(environment)
                .bind("ratelimit", RateLimitProperties.class)
                .get();
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("plans", (PlanResolver) request -> request.header("X-Plan"));
        RequestRules rules = new RequestRules(properties, beans, text -> text, limit -> {});
        if (properties.policies().containsKey("work")) {
            rules.enforce(new Routes(rules));
        } else {
            rules.enforce(RecordedRequest.leadingTo(Endpoint.UNMAPPED));
        }
        return new RequestLimiter(
                rules,
                properties,
                new WaitingRequests(
                        rules, InMemoryStore.builder().ticker(ticker).build(), ticker, ticker),
                (policy, key, outcome, request) -> {},
                ticker,
                null);
    }

    private RequestLimiter recipe(String heading) throws IOException {
        return recipe(heading, Map.of());
    }

    private static RecordedRequest get(String path) {
        return new RecordedRequest("GET", path);
    }

    /** The status that the caller gets if the application answers with this one. */
    private static int status(RequestLimiter limits, WebRequest request, int status) {
        ChargedRequest charged = limits.charge(null, request);
        if (charged.isRefused()) {
            RecordedResponse response = new RecordedResponse();
            try {
                charged.writeRefusal(response);
            } catch (IOException impossible) {
                throw new AssertionError(impossible);
            }
            return response.status();
        }
        charged.settle(List.of(status));
        return status;
    }

    private static long admitted(int times, RequestLimiter limits, IntFunction<WebRequest> request) {
        return IntStream.range(0, times)
                .filter(i -> status(limits, request.apply(i), 200) == 200)
                .count();
    }

    private static int login(RequestLimiter limits, String user, int status) {
        return status(limits, new RecordedRequest("POST", "/login").withQuery("username=" + user), status);
    }

    @Test
    void login_failuresAreCountedByAccountAndAddress() throws IOException {
        RequestLimiter limits = recipe("A login");

        assertThat(IntStream.range(0, 10).filter(i -> login(limits, "alice", 204) == 204))
                .hasSize(10);
        assertThat(IntStream.range(0, 10).filter(i -> login(limits, i % 2 == 0 ? "alice" : "ALICE", 401) == 401))
                .hasSize(5);
        assertThat(login(limits, "alice", 204)).isEqualTo(429);
        assertThat(login(limits, "bob", 204)).isEqualTo(204);
        assertThat(status(limits, new RecordedRequest("POST", "/login"), 401)).isEqualTo(400);
    }

    @Test
    void guessers_areKeptOutForAnHourFromTheFirstRefusal() throws IOException {
        RequestLimiter limits = recipe("Keep guessers out");

        assertThat(IntStream.range(0, 19).filter(i -> login(limits, "alice", 401) == 401))
                .hasSize(19);
        assertThat(IntStream.range(0, 30).filter(i -> login(limits, "alice", 204) == 204))
                .hasSize(30);
        assertThat(login(limits, "alice", 401)).isEqualTo(401);
        for (int minute = 0; minute < 60; minute++) {
            assertThat(login(limits, "alice", 204)).isEqualTo(429);
            ticker.advance(Duration.ofMinutes(1));
        }
        assertThat(login(limits, "alice", 204)).isEqualTo(204);
    }

    @Test
    void apiKeys_haveBudgets_andSoDoAddresses() throws IOException {
        RequestLimiter limits = recipe("API keys");

        assertThat(status(limits, get("/api/orders"), 200)).isEqualTo(400);
        assertThat(admitted(700, limits, i -> get("/api/orders").with("X-Api-Key", "a")))
                .isEqualTo(600);
        assertThat(admitted(700, limits, i -> get("/api/orders").with("X-Api-Key", "invented" + i)))
                .isEqualTo(600); // permits left for the address
    }

    @Test
    void tenants_shareABudget_andEachUserHasOne() throws IOException {
        RequestLimiter limits = recipe("Tenants", Map.of("ratelimit.policies.by-tenant.burst", "900"));

        assertThat(admitted(700, limits, i -> of("alice", "acme"))).isEqualTo(600);
        assertThat(admitted(700, limits, i -> of("bob", "acme"))).isEqualTo(300);
        assertThat(admitted(10, limits, i -> of("eve", "other"))).isEqualTo(10);
    }

    private static RecordedRequest of(String user, String tenant) {
        Jwt token = Jwt.withTokenValue("token")
                .header("alg", "none")
                .subject(user)
                .claim("tenant", tenant)
                .build();
        return get("/api/orders").by(new JwtAuthenticationToken(token));
    }

    @Test
    void tiers_limitByPlan() throws IOException {
        RequestLimiter limits = recipe("Tiers");

        assertThat(admitted(100, limits, i -> get("/api/orders").by("a"))).isEqualTo(60);
        assertThat(admitted(1_100, limits, i -> get("/api/orders").by("b").with("X-Plan", "pro")))
                .isEqualTo(1_000);
        assertThat(admitted(100, limits, i -> get("/api/orders").by("c").with("X-Plan", "partner")))
                .isEqualTo(100);
        assertThat(admitted(10, limits, i -> get("/api/orders").by("mallory"))).isZero();
    }

    @Test
    void proxy_clientsAreDistinguished_andCannotChooseWhoTheyAre() throws IOException {
        RequestLimiter limits = recipe("Behind a proxy or a load balancer");

        assertThat(admitted(
                        700,
                        limits,
                        i -> get("/api/orders")
                                .from("10.0.0.1")
                                .with("X-Forwarded-For", "198.51.100." + i % 250 + ", 203.0.113.1")))
                .isEqualTo(600);
    }

    @Test
    void expensiveEndpoints_payTheirPrice() throws IOException {
        RequestLimiter limits = recipe("Expensive endpoints");

        assertThat(admitted(20, limits, i -> get("/export"))).isEqualTo(12);
        assertThat(admitted(20, limits, i -> get("/export").by("alice"))).isEqualTo(12);
        assertThat(admitted(130, limits, i -> get("/search").by("bob"))).isEqualTo(120);
        assertThat(admitted(610, limits, i -> get("/api/orders").by("eve"))).isEqualTo(600);
    }

    @Test
    void monitoringAndOffice_haveOtherLimits() throws IOException {
        RequestLimiter limits = recipe("Monitoring and the office");

        assertThat(admitted(100, limits, i -> get("/api/orders").from("198.51.100.1")))
                .isEqualTo(60);
        assertThat(admitted(100, limits, i -> get("/api/orders").from("203.0.113.7")))
                .isEqualTo(100);
        assertThat(admitted(100, limits, i -> get("/api/orders").from("10.1.2.3")))
                .isEqualTo(100);
        assertThat(admitted(100, limits, i -> get("/alive"))).isEqualTo(100);
    }

    @Test
    void tokens_areReservedAndSettledApartFromRequests() throws IOException {
        RequestLimiter limits = recipe("Tokens of a language model");

        for (int i = 0; i < 50; i++) {
            ChargedRequest charged = limits.charge(null, get("/chat").by("alice"));
            assertThat(charged.isRefused()).isFalse();
            Objects.requireNonNull(charged.reservation()).settle(2_000);
        }

        assertThat(limits.charge(null, get("/chat").by("alice")).isRefused()).isTrue();
        assertThat(admitted(20, limits, i -> get("/other").by("alice"))).isEqualTo(10);
        assertThat(limits.charge(null, get("/other").by("bob")).reservation()).isNull();
    }

    @Test
    void longRunningWork_isLimitedAtOnce() throws IOException {
        RequestLimiter limits = recipe("Long-running work");
        ChargedRequest first = limits.charge(null, get("/exports/1").by("alice"));
        ChargedRequest second = limits.charge(null, get("/exports/2").by("alice"));
        assertThat(first.holds()).isTrue();
        assertThat(limits.charge(null, get("/exports/3").by("alice")).isRefused())
                .isTrue();

        second.release();
        second.release();

        assertThat(limits.charge(null, get("/exports/3").by("alice")).isRefused())
                .isFalse();
        assertThat(limits.charge(null, get("/exports/3").by("alice")).isRefused())
                .isTrue();
        assertThat(admitted(30, limits, i -> get("/exports/1").by("user" + i))).isEqualTo(18);
    }

    @Test
    void tryALimit_shadowBeyondItsLimit_refusesNobody() throws IOException {
        RequestLimiter limits = recipe("Try a limit before it refuses anybody");

        for (int i = 0; i < 600; i++) {
            assertThat(limits.charge(null, get("/").by("alice")).isRefused()).isFalse();
        }
        assertThat(limits.charge(null, get("/").by("alice")).isRefused()).isTrue();
    }

    @Test
    void headers_andTheRefusal_needNoWebStack() throws IOException {
        RequestLimiter limits = recipe("Tiers");
        RecordedResponse first = new RecordedResponse();
        limits.charge(null, get("/api/orders").by("a")).writeHeaders(first);
        admitted(100, limits, i -> get("/api/orders").by("a"));
        RecordedResponse refused = new RecordedResponse();

        limits.charge(null, get("/api/orders").by("a")).writeRefusal(refused);

        assertThat(first.header("RateLimit")).isEqualTo("\"api\";r=59;t=1");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).matches("[12]");
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.body()).contains("\"violated-policies\":[\"api\"]");
    }
}
