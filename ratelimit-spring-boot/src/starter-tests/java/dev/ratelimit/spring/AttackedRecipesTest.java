package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Reservation;
import java.io.IOException;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The recipes for callers whom Spring Security lets in, attacked; who counts are the handlers. Those for logins are attacked in
 * {@link LoginRecipesTest}.
 */
@Tag("servers")
class AttackedRecipesTest extends AppPerTest {

    private static final String ORDERS = "/api/orders";

    private static final String ALICE = "Authorization: Bearer alice.acme.1";

    /** What the test says the limit of a recipe is. */
    private static final int LIMIT = 5;

    /** Counts what handlers do. */
    static class Work implements Forgetful {

        private final Map<String, Integer> done = new ConcurrentHashMap<>();

        @Override
        public void forget() {
            done.clear();
        }

        String add(String what) {
            done.merge(what, 1, Integer::sum);
            return what;
        }

        int of(String what) {
            return done.getOrDefault(what, 0);
        }

        int all() {
            return done.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    @RestController
    static class Shop extends Work {

        private volatile Sinks.One<String> end = Sinks.one();

        @Override
        public void forget() {
            super.forget();
            end = Sinks.one();
        }

        @GetMapping(ORDERS)
        String orders(Principal user, @RequestHeader(name = "X-Api-Key", required = false) @Nullable String key) {
            return add(key == null ? user.getName() : key);
        }

        @GetMapping("/chat")
        String chat(Principal user, Reservation tokens) {
            return add(user.getName());
        }

        @GetMapping("/exports/{id}")
        Mono<String> export(Principal user) {
            add(user.getName());
            return end.asMono();
        }

        @GetMapping("/alive")
        String alive() {
            return "alive";
        }
    }

    @RestController
    static class Expensive extends Work {

        @GetMapping("/search")
        @RateLimited(policy = "work", permits = 5)
        String search() {
            return add("search");
        }

        @GetMapping("/export")
        @RateLimited(policy = "work", permits = 50)
        String export() {
            return add("export");
        }
    }

    static class TextMessages {

        private final Work work;

        TextMessages(Work work) {
            this.work = work;
        }

        @RateLimited(policy = "text-messages")
        @RateLimited(policy = "provider", cost = "#text.length() / 160 + 1")
        public void send(String number, String text) {
            work.add(number);
        }
    }

    @RestController
    static class Invitations {

        private final TextMessages messages;

        Invitations(TextMessages messages) {
            this.messages = messages;
        }

        @PostMapping("/invitations")
        String invite(@RequestParam String number) {
            messages.send(number, "Welcome");
            return number;
        }
    }

    /** Believes a token {@code alice.acme.7} to be the seventh of the user alice, who belongs to the tenant acme. */
    @Configuration(proxyBeanMethods = false)
    static class Issuer {

        private static Jwt token(String text) {
            String[] parts = text.split("\\.", -1);
            if (parts.length != 3) {
                throw new BadJwtException("forged");
            }
            return Jwt.withTokenValue(text)
                    .header("alg", "none")
                    .subject(parts[0])
                    .claim("tenant", parts[1])
                    .build();
        }

        @Bean
        JwtDecoder tokens() {
            return Issuer::token;
        }

        @Bean
        ReactiveJwtDecoder reactiveTokens() {
            return text -> Mono.fromCallable(() -> token(text));
        }

        /** Alice has none. */
        @Bean
        PlanResolver plans() {
            return request -> {
                Principal user = request.principal();
                return user != null && user.getName().equals("paula") ? "pro" : null;
            };
        }
    }

    private void startRecipe(String heading, List<Class<?>> handlers, String... more) throws IOException {
        List<Class<?>> all = new ArrayList<>(handlers);
        all.addAll(List.of(RunningApp.WithSecurity.class, Chains.Tokens.class, Issuer.class));
        List<String> properties = new ArrayList<>(List.of(RecipesTest.recipe(heading)));
        properties.add("ratelimit.trusted-proxies=127.0.0.1");
        properties.add("ratelimit.forwarded-header=x-forwarded-for");
        properties.addAll(List.of(more));
        start(all, properties);
    }

    private void startShop(String heading, String... more) throws IOException {
        startRecipe(heading, List.of(Shop.class), more);
    }

    /** Asks ten times; # is another number each time. */
    private void askTenTimes(String request, String... headers) {
        for (int i = 0; i < 10; i++) {
            String number = "" + i;
            app.send(
                    request.replace("#", number) + " HTTP/1.1",
                    Arrays.stream(headers)
                            .map(header -> header.replace("#", number))
                            .toArray(String[]::new));
        }
    }

    private Work work() {
        return app.bean(Work.class);
    }

    /** Ways to write a request for a path. */
    private static Stream<String> spellings(String path) {
        return Stream.of(
                "GET " + path,
                "HEAD " + path,
                "GET " + path + "?user=decoy#&tenant=decoy#&permits=0",
                "GET " + path + "/",
                "GET /" + path,
                "GET " + path + ";user=decoy#",
                "GET /%" + Integer.toHexString(path.charAt(1)) + path.substring(2),
                "GET " + path.toUpperCase(Locale.ROOT),
                "GET /." + path,
                "GET /decoy#/.." + path,
                "GET http://localhost" + path);
    }

    /** Ways to be alice. */
    static Stream<String> callers() {
        return Stream.of(
                "Authorization: Bearer alice.acme.#",
                "AUTHORIZATION: bearer alice.acme.#",
                ALICE + "\r\nX-Forwarded-For: 198.51.100.#",
                ALICE + "\r\nX-User: decoy#\r\nX-Tenant: decoy#",
                ALICE + "\r\nCookie: SESSION=decoy#; JSESSIONID=decoy#",
                ALICE + "\r\nAuthorization: Bearer decoy#.other.1",
                "Authorization: Bearer decoy#.other.1\r\n" + ALICE,
                ALICE + "\r\nOrigin: https://decoy#.example");
    }

    static Stream<Arguments> callersOfRecipes() {
        return callers()
                .flatMap(caller -> Stream.of(
                        Arguments.of("Tenants", "ratelimit.policies.by-user.limit=5/minute", caller),
                        Arguments.of("Tiers", "ratelimit.policies.api.plans.default=5/minute", caller)));
    }

    @ParameterizedTest
    @MethodSource("callersOfRecipes")
    void user_howeverTheTokenIsSent_hasOneBudget(String heading, String limit, String caller) throws IOException {
        startShop(heading, limit);

        askTenTimes("GET " + ORDERS + "?user=decoy#&tenant=decoy#", caller);
        askTenTimes("HEAD " + ORDERS, ALICE);

        assertThat(work().of("alice")).isLessThanOrEqualTo(LIMIT);
        assertThat(app.get(ORDERS, ALICE).status()).isEqualTo(429);
        assertThat(app.get(ORDERS, "Authorization: Bearer bob.acme.1").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @MethodSource("callers")
    void user_whoIsBlocked_isRefused_howeverTheTokenIsSent(String caller) throws IOException {
        startShop("Tiers");

        askTenTimes("GET " + ORDERS, caller.replace("alice", "mallory"));

        assertThat(work().of("mallory")).isZero();
    }

    @Test
    void tenant_whoeverItsUsersAre_hasOneBudget_andNobodyElseUsesItUp() throws IOException {
        startShop("Tenants", "ratelimit.policies.by-tenant.limit=5/minute", "ratelimit.policies.by-tenant.burst=5");

        askTenTimes("GET " + ORDERS, "Authorization: Bearer forged.acme");
        askTenTimes(
                "GET " + ORDERS + "?tenant=acme",
                "Authorization: Bearer eve.other.#",
                "X-Tenant: acme",
                "tenant: acme");
        assertThat(work().of("eve")).isEqualTo(LIMIT);
        askTenTimes("GET " + ORDERS + "?tenant=other#", "Authorization: Bearer user#.acme.1", "X-Tenant: other#");

        assertThat(work().all()).isEqualTo(LIMIT + LIMIT);
    }

    static Stream<Arguments> keys() {
        return Stream.of(
                        "X-Api-Key: one",
                        "x-api-key:one",
                        "X-Api-Key: \t one \t",
                        "X-Api-Key: one\r\nX-Api-Key: decoy#",
                        "X-Api-Key: decoy#\r\nX-Api-Key: one",
                        "X-Api-Key: one\r\nX_Api_Key: decoy#",
                        "X-Api-Key: one\r\nX-Api-Key: ",
                        "X-Api-Key: \r\nX-Api-Key: one")
                .flatMap(header -> Stream.of(
                        Arguments.of("API keys", "ratelimit.policies.by-key.limit=5/minute", header),
                        Arguments.of(
                                "A day that begins in the customer's time zone",
                                "ratelimit.policies.daily.plans.default=5/day",
                                header)));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void apiKey_howeverItIsSent_hasOneBudget(String heading, String limit, String header) throws IOException {
        startShop(heading, limit);

        askTenTimes("GET " + ORDERS, ALICE, "X-Forwarded-For: 198.51.100.#", header);
        askTenTimes("GET " + ORDERS, ALICE, "X-Forwarded-For: 198.51.101.#", "X-Api-Key: one");

        assertThat(work().of("one")).isEqualTo(LIMIT);
        assertThat(app.get(ORDERS, ALICE, "X-Api-Key: two").status()).isEqualTo(200);
    }

    @Test
    void apiKeys_thatAreInvented_areTriedAsOftenAsTheLimitOfTheAddressPermits() throws IOException {
        startShop("API keys", "ratelimit.policies.by-address.limit=5/minute");

        askTenTimes("GET " + ORDERS, ALICE, "X-Api-Key: a#");
        askTenTimes("GET " + ORDERS, "Authorization: Bearer decoy#.other.1", "X-Api-Key: b#");

        assertThat(work().all()).isEqualTo(LIMIT);
    }

    static Stream<String> addresses() {
        return Stream.of(
                "X-Forwarded-For: 198.51.100.#, 203.0.113.7",
                "X-Forwarded-For: 198.51.100.#\r\nX-Forwarded-For: 203.0.113.7",
                "X-Forwarded-For: , unknown, decoy#, 203.0.113.7",
                "X-Forwarded-For: 127.0.0.1, 198.51.100.#,203.0.113.7\t",
                "X-Forwarded-For: \"198.51.100.#, 203.0.113.7",
                "X-Forwarded-For: 203.0.113.7:4000#",
                "X-Forwarded-For: ::ffff:203.0.113.7",
                "X-Forwarded-For: [::ffff:cb00:7107]:4000#",
                "X-Forwarded-For: 203.0.113.7\r\nForwarded: for=198.51.100.#",
                "X-Forwarded-For: 203.0.113.7\r\nX-Real-IP: 198.51.100.#\r\nTrue-Client-IP: 198.51.100.#",
                "X-Forwarded-For: 203.0.113.7\r\nX_Forwarded_For: 198.51.100.#");
    }

    @ParameterizedTest
    @MethodSource("addresses")
    void address_whateverTheClientWrites_isThatWhichTheProxyHasSeen(String headers) throws IOException {
        startShop("Behind a proxy or a load balancer", "ratelimit.policies.by-address.limit=5/minute");

        askTenTimes("GET " + ORDERS, ALICE, headers);
        askTenTimes("GET " + ORDERS, "Authorization: Bearer decoy#.other.1", "X-Forwarded-For: 203.0.113.7");

        assertThat(work().all()).isEqualTo(LIMIT);
        assertThat(app.get(ORDERS, ALICE, "X-Forwarded-For: 203.0.113.8").status())
                .isEqualTo(200);
    }

    static Stream<Arguments> requestsToPlacesThatAreExempt() {
        String client = "X-Forwarded-For: 198.51.100.7";
        return Stream.concat(
                Stream.of(
                                "/alive/.." + ORDERS,
                                "/alive/%2e%2e" + ORDERS,
                                "/alive/..;" + ORDERS,
                                "/alive;/.." + ORDERS,
                                "//alive/.." + ORDERS,
                                "/alive%2f.." + ORDERS)
                        .map(path -> Arguments.of("GET " + path, client)),
                Stream.of(
                                "X-Forwarded-For: 10.1.2.3, 198.51.100.7",
                                "X-Forwarded-For: 10.1.2.3\r\n" + client,
                                "X-Forwarded-For: 203.0.113.#, 198.51.100.7",
                                client + "\r\nForwarded: for=10.1.2.3",
                                client + "\r\nX-Real-IP: 10.1.2.3")
                        .map(headers -> Arguments.of("GET " + ORDERS, headers)));
    }

    @ParameterizedTest
    @MethodSource("requestsToPlacesThatAreExempt")
    void exemption_isNobodyElses(String request, String headers) throws IOException {
        startShop("Monitoring and the office", "ratelimit.policies.by-address.limit=5/minute");

        askTenTimes(request, ALICE, headers);
        askTenTimes("GET " + ORDERS, ALICE, "X-Forwarded-For: 198.51.100.7");

        assertThat(work().all()).isLessThanOrEqualTo(LIMIT);
        assertThat(app.get(ORDERS, ALICE, "X-Forwarded-For: 198.51.100.7").status())
                .isEqualTo(429);
    }

    static Stream<String> ordersInAnySpelling() {
        return spellings(ORDERS);
    }

    @ParameterizedTest
    @MethodSource("ordersInAnySpelling")
    void endpoint_howeverItsPathIsWritten_hasItsOwnLimit(String request) throws IOException {
        startShop("Another response for one endpoint", "ratelimit.policies.orders.limit=5/minute");

        askTenTimes(request, ALICE);
        askTenTimes("GET " + ORDERS, ALICE);

        assertThat(work().all()).isLessThanOrEqualTo(LIMIT);
        assertThat(app.get(ORDERS, ALICE).status()).isEqualTo(420);
    }

    static Stream<String> exportsInAnySpelling() {
        return spellings("/export");
    }

    @ParameterizedTest
    @MethodSource("exportsInAnySpelling")
    void expensiveEndpoint_howeverItsPathIsWritten_costsItsPrice(String request) throws IOException {
        startRecipe("Expensive endpoints", List.of(Expensive.class), "ratelimit.policies.work.limit=100/minute");

        askTenTimes(request, ALICE);
        askTenTimes("GET /export", ALICE);
        askTenTimes("GET /search", ALICE);

        // what is not the handler's path costs one permit
        assertThat(work().of("export")).isBetween(1, 2);
        assertThat(50 * work().of("export") + 5 * work().of("search")).isBetween(90, 100);
    }

    /** At once; # is another number each time. */
    private List<Future<Integer>> askAtOnce(ExecutorService clients, int times, String request, String... headers) {
        return IntStream.range(0, times)
                .mapToObj(i -> clients.submit((Callable<Integer>) () -> app.send(
                                request.replace("#", "" + i) + " HTTP/1.1",
                                Arrays.stream(headers)
                                        .map(header -> header.replace("#", "" + i))
                                        .toArray(String[]::new))
                        .status()))
                .toList();
    }

    private static int count(List<Future<Integer>> answers, int status) throws Exception {
        int count = 0;
        for (Future<Integer> answer : answers) {
            count += answer.get() == status ? 1 : 0;
        }
        return count;
    }

    @Test
    void tokens_askedForAtOnce_areReservedAsOftenAsTheBudgetHasThem() throws Exception {
        startShop("Tokens of a language model", "ratelimit.policies.tokens.limit=5000/day");
        ExecutorService clients = Executors.newFixedThreadPool(50);
        try {
            List<Future<Integer>> answers =
                    askAtOnce(clients, 50, "GET /chat?prompt=#", "Authorization: Bearer alice.acme.#");

            assertThat(count(answers, 200)).isEqualTo(LIMIT);
            assertThat(work().of("alice")).isEqualTo(LIMIT);
        } finally {
            clients.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /exports/#", "HEAD /exports/1", "GET /exports/%31#", "GET /exports/#?user=decoy#"})
    void longWork_askedForAtOnce_runsTwicePerUser(String request) throws Exception {
        startShop("Long-running work");
        ExecutorService clients = Executors.newFixedThreadPool(11);
        try {
            List<Future<Integer>> answers = askAtOnce(clients, 10, request, "Authorization: Bearer alice.acme.#");
            await().until(() -> answers.stream().filter(Future::isDone).count() == 8);
            List<Future<Integer>> bob = askAtOnce(clients, 1, request, "Authorization: Bearer bob.acme.1");
            await().until(() -> work().of("bob") == 1);

            app.bean(Shop.class).end.tryEmitValue("done");

            assertThat(count(answers, 200)).isEqualTo(2);
            assertThat(count(bob, 200)).isEqualTo(1);
            assertThat(work().of("alice")).isEqualTo(2);
        } finally {
            clients.shutdownNow();
        }
    }

    @Test
    void messages_toOneNumber_whoeverAsksForThemAtOnce_areSentOnce() throws Exception {
        startRecipe("Mails, text messages, other services", List.of(Work.class, Invitations.class, TextMessages.class));
        ExecutorService clients = Executors.newFixedThreadPool(50);
        try {
            for (String more : List.of("1", "2&number=decoy#", "3&text=decoy#", "4&%6eumber=decoy#")) {
                List<Future<Integer>> answers = new ArrayList<>();
                for (String target :
                        List.of("/invitations?number=%2B4" + more, "/invitations?number=%2B4" + more.charAt(0))) {
                    answers.addAll(askAtOnce(
                            clients,
                            25,
                            "POST " + target,
                            "Authorization: Bearer decoy#.other.1",
                            "X-Forwarded-For: 198.51.100.#",
                            "Content-Length: 0"));
                }
                assertThat(count(answers, 500)).isZero();
            }
        } finally {
            clients.shutdownNow();
        }
        assertThat(IntStream.rangeClosed(1, 4).map(i -> work().of("+4" + i))).containsOnly(1);
    }
}
