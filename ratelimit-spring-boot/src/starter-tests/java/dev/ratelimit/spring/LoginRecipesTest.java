package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
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
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The recipes for logins in front of Spring Security's own, attacked; who counts is the encoder that compares passwords. */
@Tag("servers")
class LoginRecipesTest extends AppPerTest {

    /** What the recipe says how often a password is compared for an account. */
    private static final int PER_ACCOUNT = 5;

    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";

    private static final String RIGHT = "username=alice&password=secret";

    /** Alice, and an encoder that counts how often her password is compared. */
    @Configuration(proxyBeanMethods = false)
    static class Accounts implements Forgetful {

        private final AtomicInteger checks = new AtomicInteger();

        @Override
        public void forget() {
            checks.set(0);
        }

        private static UserDetails alice() {
            return User.withUsername("alice").password("secret").roles("USER").build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(alice());
        }

        @Bean
        ReactiveUserDetailsService reactiveUsers() {
            return new MapReactiveUserDetailsService(alice());
        }

        @Bean
        PasswordEncoder passwords() {
            return new PasswordEncoder() {
                @Override
                public String encode(@Nullable CharSequence password) {
                    return String.valueOf(password);
                }

                @Override
                public boolean matches(@Nullable CharSequence password, @Nullable String encoded) {
                    if (encode("secret").equals(encoded)) {
                        checks.incrementAndGet();
                    }
                    return encode(password).equals(encoded);
                }
            };
        }
    }

    private void startRecipe(String heading, List<Class<?>> sources, String... more) {
        List<Class<?>> all = new ArrayList<>(List.of(RunningApp.WithSecurity.class, Accounts.class));
        all.addAll(sources);
        List<String> properties = new ArrayList<>(
                List.of("ratelimit.trusted-proxies=127.0.0.1", "ratelimit.forwarded-header=x-forwarded-for"));
        properties.addAll(List.of(more));
        try {
            start(all, RecipesTest.recipe(heading, properties.toArray(String[]::new)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As the recipe says for a form login: a redirect is a success, too. */
    private void startLogin() {
        startRecipe(
                "A login",
                List.of(Chains.FormLogin.class),
                "ratelimit.policies.failures-by-address.free=2xx, 3xx",
                "ratelimit.policies.failures-by-account.free=2xx, 3xx");
    }

    /** From an address of its own, so that only the limit by account counts. */
    private RawResponse login(String target, String body, int client, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        all.add("X-Forwarded-For: 198.51.100." + client % 250);
        return app.client().sendBody("POST " + target + " HTTP/1.1", body, all.toArray(String[]::new));
    }

    private int checks() {
        return app.bean(Accounts.class).checks.get();
    }

    static Stream<Arguments> attempts() {
        return Stream.of(
                Arguments.of("/login", "username=alice&password=x", FORM),
                Arguments.of("/login", "username=ALICE&password=x", FORM),
                Arguments.of("/login", "username=%61lice&password=x", FORM),
                Arguments.of("/login", "u%73ername=alice&password=x", FORM),
                Arguments.of("/login", "username=alice%20&password=x", FORM),
                Arguments.of("/login", "username=+alice&password=x", FORM),
                Arguments.of("/login", "username=%09alice%0a&password=x", FORM),
                Arguments.of("/login", "username=%00alice&password=x", FORM),
                Arguments.of("/login", "username=alice%e2%80%83&password=x", FORM),
                Arguments.of("/login", "username=alice&username=decoy#&password=x", FORM),
                Arguments.of("/login", "username=decoy#&username=alice&password=x", FORM),
                Arguments.of("/login?username=decoy#", "username=alice&password=x", FORM),
                Arguments.of("/login?username=alice", "username=decoy#&password=x", FORM),
                Arguments.of("/login?username=alice&password=x", "", FORM),
                Arguments.of("/login?username=alice&password=x", "", "Accept: */*"),
                Arguments.of("/login?username=alice", "password=x", FORM),
                Arguments.of("/login?username=decoy#;username=alice", "password=x", FORM),
                Arguments.of("/login;username=decoy#", "username=alice&password=x", FORM),
                Arguments.of("/login", "username=alice;username=decoy#&password=x", FORM),
                Arguments.of("/login/", "username=alice&password=x", FORM),
                Arguments.of("//login", "username=alice&password=x", FORM),
                Arguments.of("/%6cogin", "username=alice&password=x", FORM),
                Arguments.of("/LOGIN", "username=alice&password=x", FORM),
                Arguments.of("/login/.", "username=alice&password=x", FORM),
                Arguments.of("/x/../login", "username=alice&password=x", FORM),
                Arguments.of("/login", "username=alice&password=x", FORM + ";charset=UTF-8"),
                Arguments.of("/login", "username=alice&password=x", FORM + ";charset=ISO-8859-1"),
                Arguments.of("/login", "username=alice&password=x", FORM + ";charset=none"),
                Arguments.of("/login", "username=alice&password=x", FORM.toUpperCase(Locale.ROOT)),
                Arguments.of("/login", "username=alice&password=x", "Content-Type: text/plain"),
                Arguments.of("/login", "username=alice&password=x&%zz", FORM),
                Arguments.of("/login", "%zz&username=alice&password=x", FORM),
                Arguments.of("/login", "username=alice&password=x&a=" + "b".repeat(300_000), FORM),
                Arguments.of("/login", "username=alice&password=x" + "&a".repeat(20_000), FORM),
                Arguments.of("/login?_method=POST", "username=alice&password=x", FORM),
                Arguments.of(
                        "/login",
                        part("username", "alice") + part("password", "x") + "--b--\r\n",
                        "Content-Type: multipart/form-data; boundary=b"));
    }

    private static String part(String name, String value) {
        return "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n".formatted(name, value);
    }

    /** However the name is written, and whatever is written beside it: # is another one each time. */
    @ParameterizedTest
    @MethodSource("attempts")
    void login_ofOneAccount_isTriedAsOftenAsItsLimitPermits(String target, String body, String header) {
        startLogin();
        for (int i = 0; i < 10; i++) {
            try {
                login(target.replace("#", "" + i), body.replace("#", "" + i), i, header);
            } catch (UncheckedIOException refused) {
                // before the server has read the whole body
            }
        }
        for (int i = 0; i < 10; i++) {
            login("/login", "username=alice&password=x", 100 + i, FORM);
        }

        // fewer if what was written counts for this account, too, but not for Spring Security
        assertThat(checks()).isLessThanOrEqualTo(PER_ACCOUNT);
        assertThat(login("/login", RIGHT, 200, FORM).status()).isEqualTo(429);
    }

    @Test
    void login_thatSucceeds_costsNothing() {
        startLogin();

        for (int i = 0; i < 30; i++) {
            assertThat(login("/login", RIGHT, 0, FORM).status()).isEqualTo(302);
        }
    }

    @Test
    void login_fiftyAtOnce_reachesThePasswordAsOftenAsTheLimitPermits() throws Exception {
        startLogin();
        ExecutorService clients = Executors.newFixedThreadPool(50);
        try {
            List<Callable<Integer>> attempts = Stream.<Callable<Integer>>generate(
                            () -> () -> login("/login", "username=alice&password=x", 0, FORM)
                                    .status())
                    .limit(50)
                    .toList();
            List<Integer> statuses = new ArrayList<>();
            for (Future<Integer> attempt : clients.invokeAll(attempts)) {
                statuses.add(attempt.get());
            }

            assertThat(checks()).isEqualTo(PER_ACCOUNT);
            assertThat(statuses).filteredOn(status -> status == 429).hasSize(50 - PER_ACCOUNT);
        } finally {
            clients.shutdownNow();
        }
    }

    @Test
    void guesser_isKeptOut_beforeThePasswordIsCompared() {
        startRecipe("Keep guessers out", List.of(Chains.FormLogin.class), "ratelimit.policies.guesses.free=2xx, 3xx");
        for (int i = 0; i < 30; i++) {
            login("/login", "username=user" + i + "&password=x", 0, FORM);
        }

        assertThat(login("/login", RIGHT, 0, FORM).status()).isEqualTo(429);
        assertThat(checks()).isZero();
        assertThat(login("/login", RIGHT, 1, FORM).status()).isEqualTo(302);
    }

    /** A login by JSON. */
    @RestController
    static class Json implements Forgetful {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public void forget() {
            calls.set(0);
        }

        record Login(String username, String password) {}

        int calls() {
            return calls.get();
        }

        @PostMapping("/login")
        @RateLimited(policy = "failures-by-account")
        Mono<ResponseEntity<String>> login(@RequestBody Login login) {
            return Mono.fromSupplier(() -> {
                calls.incrementAndGet();
                return ResponseEntity.status(401).body(login.username());
            });
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'username': 'alice'}",
                "{'username': 'ALICE', 'password': '#'}",
                "{'username': '\\u0061lice'}",
                "{'username': 'decoy#', 'username': 'alice'}",
                "{'password': 'x', 'username': 'alice', 'other': #}"
            })
    void loginByJson_ofOneAccount_isTriedAsOftenAsItsLimitPermits(String body) {
        startRecipe("A login by JSON", List.of(Json.class, Chains.NoForgeryCheck.class));
        for (int i = 0; i < 10; i++) {
            login("/login", body.replace('\'', '"').replace("#", "" + i), i, "Content-Type: application/json");
        }

        assertThat(app.bean(Json.class).calls()).isEqualTo(PER_ACCOUNT);
    }
}
