package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Requests that are written so as to mean one thing to the limits and another to the application. */
class WaysAroundTest {

    /** Two methods of one path, of which a parameter decides, and an endpoint that is exempt. */
    @RestController
    static class Account {

        final AtomicInteger logins = new AtomicInteger();

        @GetMapping("/account")
        String account() {
            return "account";
        }

        @PostMapping(path = "/account", params = "action=login")
        @RateLimited(value = "2/hour", key = "ip")
        String login() {
            logins.incrementAndGet();
            return "login";
        }

        @PostMapping(path = "/account", params = "action=logout", consumes = "text/plain")
        String logout() {
            return "logout";
        }

        @GetMapping("/who")
        String who(@RequestParam String user) {
            logins.incrementAndGet();
            return user;
        }

        @GetMapping("/free")
        @RateLimitExempt
        String free() {
            return "free";
        }
    }

    private RunningApp app = RunningApp.start(List.of());

    private void start(List<Class<?>> sources, String... properties) {
        app.close();
        app = RunningApp.start(
                sources,
                Arrays.stream(properties)
                        .map(property -> property.startsWith("p.") ? "ratelimit.policies." + property : property)
                        .toArray(String[]::new));
    }

    @AfterEach
    void stop() {
        app.close();
    }

    private List<Integer> fiveTimes(String line, String... headers) {
        return IntStream.range(0, 5)
                .mapToObj(i -> app.send(line, headers).status())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&%zz", "&%"})
    void parameterThatCannotBeRead_isNoWayToAnotherEndpointsBudget(String broken) {
        start(List.of(Account.class), "p.limit=1000/hour");

        fiveTimes("POST /account?action=login" + broken + " HTTP/1.1", "Content-Length: 0");

        assertThat(app.bean(Account.class).logins).hasValueLessThanOrEqualTo(2);
    }

    @Test
    void parameterThatCannotBeRead_isNoWayAroundAKey() {
        start(List.of(Account.class), "p.limit=2/hour", "p.key=#request.getParameter('user')", "p.missing-key=skip");

        assertThat(fiveTimes("GET /who?user=alice&%zz HTTP/1.1")).doesNotContain(200);

        assertThat(app.bean(Account.class).logins).hasValue(0);
    }

    @Test
    void preflightWithCredentials_triesNoPasswordsForFree() {
        start(
                List.of(RunningApp.WithSecurity.class, StagesTest.Users.class, TestApi.class),
                "p.limit=2/hour",
                "p.key=ip");

        List<Integer> statuses = fiveTimes(
                "OPTIONS /orders/1 HTTP/1.1",
                "Origin: https://x.example",
                "Access-Control-Request-Method: GET",
                "Authorization: Basic YWxpY2U6d3Jvbmc=");

        assertThat(statuses.subList(2, 5)).containsOnly(429);
        assertThat(app.bean(StagesTest.Users.class).checks).hasValueLessThanOrEqualTo(2);
    }

    @Test
    void exemptPlace_isNoneToTryPasswordsAt_andCostsNothing() {
        start(
                List.of(RunningApp.WithSecurity.class, StagesTest.Users.class, Account.class),
                "p.limit=2/hour",
                "p.key=ip",
                "ratelimit.exempt.paths=/account");

        for (String path : List.of("/free", "/account")) {
            assertThat(IntStream.range(0, 5).map(i -> app.getAs("alice", path).status()))
                    .containsOnly(200);
        }
        assertThat(IntStream.range(0, 5)
                        .map(i -> app.getAs("alice:wrong", i % 2 == 0 ? "/free" : "/account")
                                .status()))
                .containsExactly(401, 401, 429, 429, 429);
    }

    @Test
    void exemptionOfAUser_isDecidedWhenTheUserIsKnown() {
        start(
                List.of(RunningApp.WithSecurity.class, StagesTest.Users.class, TestApi.class),
                "p.limit=2/hour",
                "p.key=ip",
                "ratelimit.exempt.when=#principal?.name != 'bob'");

        assertThat(IntStream.range(0, 5).map(i -> app.getAs("alice", "/any").status()))
                .containsOnly(200);
        RawResponse exempt = app.getAs("alice", "/any");
        assertThat(exempt.header("RateLimit")).isNull();
        assertThat(IntStream.range(0, 3)
                        .map(i -> app.getAs("alice:wrong", "/any").status()))
                .containsExactly(401, 401, 429);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://[", "http://a:b", "http://a:99999999999", "%%%", "://", "null"})
    void originThatIsNone_isRefusedLikeOthers(String origin) {
        start(List.of(TestApi.class), "p.limit=1/hour");

        assertThat(fiveTimes("GET /any HTTP/1.1", "Origin: " + origin))
                .contains(429)
                .doesNotContain(500);
    }

    @ParameterizedTest
    @CsvSource({
        "TOMCAT, //files/big.txt",
        "TOMCAT, /files//big.txt",
        "TOMCAT, /./files/big.txt",
        "TOMCAT, /x/../files/big.txt",
        "TOMCAT, /;/files/big.txt",
        "JETTY, //files/big.txt",
        "JETTY, /./files/big.txt",
        "JETTY, /x/../files/big.txt"
    })
    void staticFile_inAnySpelling_isLimited(RunningApp.Server server, String path, @TempDir Path directory)
            throws IOException {
        Files.createDirectories(directory.resolve("files"));
        Files.writeString(directory.resolve("files/big.txt"), "the file");
        app.close();
        app = RunningApp.start(
                server,
                List.of(TestApi.class),
                "spring.web.resources.static-locations=" + directory.toUri(),
                "ratelimit.policies.p.limit=1/hour",
                "ratelimit.policies.p.match.paths=/files/**");

        assertThat(app.get("/files/big.txt").body()).contains("the file");
        assertThat(app.get(path).body()).doesNotContain("the file");
    }

    @Test
    void methodThatNobodyKnows_isLimited() {
        start(List.of(TestApi.class), "p.limit=1/hour", "p.match.methods=GET, POST");

        assertThat(fiveTimes("FOO /any HTTP/1.1")).contains(429);
    }

    @Test
    void conditionThatIsNeitherTrueNorFalse_holds() {
        start(List.of(TestApi.class), "p.limit=1/hour", "p.match.when=#request.getHeader('X-Beta')");

        assertThat(fiveTimes("GET /any HTTP/1.1", "X-Beta: yes")).contains(429);
    }

    @Test
    void budgetOfAllWithoutAKey_isNotTold() {
        start(List.of(TestApi.class), "p.limit=9/hour", "p.key=header:X-Key", "p.missing-key=shared");

        assertThat(app.get("/any", "X-Key: a").header("RateLimit")).isNotNull();
        assertThat(app.get("/any").header("RateLimit")).isNull();
    }

    @Test
    void wrongType_isChargedToTheEndpointOfTheRequestsMethod() {
        start(List.of(Account.class), "p.limit=2/hour", "p.key=endpoint");

        fiveTimes("POST /account?action=logout HTTP/1.1", "Content-Type: image/png", "Content-Length: 0");

        assertThat(app.get("/account").status()).isEqualTo(200);
    }

    /** A method of a long name. */
    @RestController
    static class Wordy {
        @GetMapping("/thisMethodHasANameThatIsLongerThanAnyPolicyMayBe")
        @RateLimited("1/hour")
        String thisMethodHasANameThatIsLongerThanAnyPolicyMayBeCalledAndSaysNothingAboutWhatItDoesWhichIsAnswering() {
            return "long";
        }
    }

    @Test
    void longName_isShortened() {
        start(List.of(Wordy.class));

        String path = "/thisMethodHasANameThatIsLongerThanAnyPolicyMayBe";
        assertThat(app.get(path).status()).isEqualTo(200);
        assertThat(app.get(path).status()).isEqualTo(429);
    }
}
