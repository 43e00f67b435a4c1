package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.Forgetful;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.Users;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Requests that try to mean one thing to rate limits and another to the application. */
@Tag("servers")
class WaysAroundTest extends AppPerTest {

    /** Knows plans by a header. */
    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        PlanResolver plans() {
            return request -> request.header("X-Plan");
        }
    }

    /** What an object of the application is bound to. */
    record Form(String user) {}

    /** Two methods of one path, selected by a parameter, and an exempt endpoint. */
    @RestController
    static class Account implements Forgetful {

        final AtomicInteger logins = new AtomicInteger();

        @Override
        public void forget() {
            logins.set(0);
        }

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

        @PostMapping("/bound")
        String bound(Form form) {
            logins.incrementAndGet();
            return form.user();
        }

        @GetMapping("/free")
        @RateLimitExempt
        String free() {
            return "free";
        }
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
        app.bean(Account.class).logins.set(0);

        fiveTimes("POST /account?action=login" + broken + " HTTP/1.1", "Content-Length: 0");

        assertThat(app.bean(Account.class).logins).hasValueLessThanOrEqualTo(2);
    }

    /** Servers refuse to read it, or read it as it is. */
    @ParameterizedTest
    @ValueSource(strings = {"user=alice&%zz", "user=%zz", "user=alice%zz"})
    void parameterThatCannotBeRead_isNoWayAroundAKey(String query) {
        start(List.of(Account.class), "p.limit=2/hour", "p.key=#request.getParameter('user')", "p.missing-key=skip");
        app.bean(Account.class).logins.set(0);

        List<Integer> statuses = fiveTimes("GET /who?" + query + " HTTP/1.1");

        assertThat(statuses.subList(2, 5)).doesNotContain(200);
        assertThat(app.bean(Account.class).logins).hasValueLessThanOrEqualTo(2);
    }

    /** The plan is known before the key: no plan, not even that of all others, stands for a key. */
    @ParameterizedTest
    @ValueSource(strings = {"5/minute", "blocked", "unlimited"})
    void missingKey_isRejected_whateverThePlanOfAllOthersIs(String otherwise) {
        start(
                List.of(TestApi.class, Plans.class),
                "p.key=header:X-Api-Key",
                "p.missing-key=reject",
                "p.plans.free=10/minute",
                "p.plans.default=" + otherwise);

        assertThat(fiveTimes("GET /any HTTP/1.1")).containsOnly(400);
        assertThat(app.get("/any", "X-Api-Key: a", "X-Plan: free").status()).isEqualTo(200);
    }

    /** Some applications take the last slash for nothing; others answer with 404, which is charged as any. */
    @Test
    void lastSlash_isNoWayAroundAPath() {
        start(List.of(TestApi.class), "p.limit=2/hour", "p.key=ip", "p.match.paths=/orders/1");

        assertThat(fiveTimes("GET /orders/1/ HTTP/1.1").subList(2, 5)).containsOnly(429);
        assertThat(app.get("/orders/1").status()).isEqualTo(429);
        assertThat(app.get("/orders/2").status()).isEqualTo(200);
    }

    private RawResponse sendForm(String target, String form) {
        return app.client()
                .sendBody("POST " + target + " HTTP/1.1", form, "Content-Type: application/x-www-form-urlencoded");
    }

    /** Servers refuse to read it, or read it as it is, but no wait helps. */
    @Test
    void formThatCannotBeRead_isNotAnsweredAsIfAWaitHelped() {
        start(List.of(Account.class), "p.limit=2/hour", "p.key=#request.getParameter('user')", "p.missing-key=reject");

        assertThat(sendForm("/who?user=alice", "x=%zz").status()).isNotEqualTo(429);
    }

    /** A rule may read the one, and the application the other. */
    @Test
    void parameterInTheQueryAndInTheForm_isNoWayAroundAKey() {
        start(List.of(Account.class), "p.limit=2/hour", "p.key=#request.getParameter('user')", "p.missing-key=reject");

        for (int i = 0; i < 5; i++) {
            assertThat(sendForm("/bound?user=decoy" + i, "user=alice").status()).isEqualTo(400);
        }
        assertThat(app.bean(Account.class).logins).hasValue(0);
        assertThat(sendForm("/bound", "user=alice").body()).isEqualTo("alice");
    }

    @Test
    void parameterInTheQueryAndInTheForm_isNoWayAroundACondition_norACost() {
        start(
                List.of(Account.class),
                "p.limit=1/hour",
                "p.match.when=#request.getParameter('user') == 'alice'",
                "ratelimit.policies.cost.limit=100/hour",
                "ratelimit.policies.cost.permits=#request.getParameter('size') == '1' ? 1 : 60");

        assertThat(sendForm("/bound?user=bob", "user=alice").status()).isEqualTo(200);
        assertThat(sendForm("/bound?user=bob", "user=alice&size=1").status()).isEqualTo(429);
        assertThat(sendForm("/bound?size=1", "user=bob&size=60").status()).isEqualTo(429);
    }

    @Test
    void preflightWithCredentials_triesNoPasswordsForFree() {
        start(List.of(RunningApp.WithSecurity.class, Users.class, TestApi.class), "p.limit=2/hour", "p.key=ip");

        List<Integer> statuses = fiveTimes(
                "OPTIONS /orders/1 HTTP/1.1",
                "Origin: https://x.example",
                "Access-Control-Request-Method: GET",
                "Authorization: Basic YWxpY2U6d3Jvbmc=");

        assertThat(statuses.subList(2, 5)).containsOnly(429);
        assertThat(app.bean(Users.class).checks()).isLessThanOrEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "header:X-Api-Key, /orders/1, X-Api-Key: guess",
        "header:Referer, /orders/1, Referer: guess",
        "query:key, /orders/1?key=guess, Accept: */*",
        "query:key, /orders/1?key=guess&key=x, Accept: */*",
        "ip, /orders/1, X-Api-Key: guess",
        "ip, /orders/1, Authorization: Bearer guess",
        "ip, /orders/1, Cookie: key=guess",
        "ip, /orders/1, Sec-WebSocket-Protocol: guess",
        "ip, /orders/1?access_token=guess, Accept: */*",
        "ip, /orders/1;jsessionid=guess, Accept: */*"
    })
    void preflight_withAnythingThatMayBeACredential_isCharged(String key, String path, String header) {
        start(
                List.of(RunningApp.WithSecurity.class, Chains.ApiKeys.class, TestApi.class),
                "p.limit=2/hour",
                "p.key=" + key,
                "ratelimit.policies.all.limit=3/hour");
        app.bean(Chains.ApiKeys.class).checks().set(0);

        List<Integer> statuses = fiveTimes(
                "OPTIONS " + path + " HTTP/1.1",
                "Origin: https://x.example",
                "Access-Control-Request-Method: GET",
                header);

        assertThat(statuses.subList(3, 5)).containsOnly(429);
        assertThat(app.bean(Chains.ApiKeys.class).checks()).hasValueLessThanOrEqualTo(3);
    }

    /** Scripts of other origins may read it. Without that, Spring Framework 6 refuses preflights. */
    @RestController
    @CrossOrigin
    static class Shop {

        @GetMapping("/shop/{id}")
        String item(@PathVariable String id) {
            return id;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/shop/1", "/shop/1?page=2"})
    void preflight_asBrowsersAndProxiesSendIt_isFree(String path) {
        start(
                List.of(Shop.class),
                "p.limit=1/hour",
                "p.key=header:X-Api-Key",
                "ratelimit.policies.q.limit=1/hour",
                "ratelimit.policies.q.algorithm=sliding-log");

        List<Integer> statuses = fiveTimes(
                "OPTIONS " + path + " HTTP/1.1",
                "Origin: https://x.example",
                "Access-Control-Request-Method: GET",
                "Access-Control-Request-Headers: x-api-key, authorization",
                "Accept: */*",
                "Accept-Encoding: gzip, deflate, br",
                "Accept-Language: en",
                "Cache-Control: no-cache",
                "Content-Length: 0",
                "Sec-Fetch-Mode: cors",
                "Sec-Fetch-Site: cross-site",
                "User-Agent: Mozilla/5.0",
                "Via: 1.1 proxy",
                "X-Forwarded-For: 192.0.2.1",
                "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

        assertThat(statuses).containsOnly(200);
        assertThat(app.get("/shop/1").status()).isEqualTo(200);
        assertThat(app.get("/shop/1").status()).isEqualTo(429);
    }

    @Test
    void preflight_withACredential_thatSucceeds_isCharged() {
        start(List.of(Shop.class), "p.limit=2/hour");

        assertThat(fiveTimes(
                        "OPTIONS /shop/1 HTTP/1.1",
                        "Origin: https://x.example",
                        "Access-Control-Request-Method: GET",
                        "Authorization: Basic YWxpY2U6c2VjcmV0"))
                .containsExactly(200, 200, 429, 429, 429);
    }

    @ParameterizedTest
    @CsvSource({
        "GET /free, X-Api-Key: guess",
        "GET /account, X-Auth-Token: guess",
        "GET /account?key=guess, Accept: */*",
        "GET /account?access_token=guess, Accept: */*",
        "GET /free;token=guess, Accept: */*",
        "GET /account, Cookie: token=guess",
        "POST /account, Content-Type: application/x-www-form-urlencoded",
        "GET /any?probe=yes, Accept: */*",
        "GET /any?probe=yes, Authorization: Bearer guess",
        "GET /actuator/health?access_token=guess, Accept: */*",
        "GET /actuator/health, Cookie: token=guess",
    })
    void exemptPlace_isNoneToTryKeysAt(String request, String header) {
        start(
                List.of(RunningApp.WithSecurity.class, Chains.ApiKeys.class, Account.class),
                "p.limit=2/hour",
                "p.key=ip",
                "ratelimit.exempt.paths=/account",
                "ratelimit.exempt.when=#request.getParameter('probe') == 'yes'");

        List<Integer> statuses = fiveTimes(request + " HTTP/1.1", header);

        // Spring Security answers some of them before it looks at the key
        assertThat(statuses.subList(0, 2)).isSubsetOf(400, 401, 403);
        assertThat(statuses.subList(2, 5)).containsOnly(429);
    }

    @Test
    void exemptPlace_askedByAProbeOrABrowser_isNeverRefused() {
        start(
                List.of(RunningApp.WithSecurity.class, Users.class, Chains.ApiKeys.class, Account.class),
                "p.limit=1/hour",
                "ratelimit.exempt.paths=/account");

        for (String header : List.of("User-Agent: kube-probe/1.33", "If-None-Match: x")) {
            assertThat(fiveTimes("GET /account HTTP/1.1", header)).containsOnly(401);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/account?page=1, Accept: */*",
        "/account, Cookie: seen=1",
        "/free?page=1, Accept: */*",
        "/who?user=probe, Accept: */*",
        "/actuator/health?x=1, Cookie: seen=1"
    })
    void exemptPlace_withAQueryOrACookie_costsNothingOnceSpringSecurityHasLetItPass(String path, String header) {
        start(
                List.of(RunningApp.WithSecurity.class, Users.class, Account.class),
                "p.limit=2/hour",
                "p.key=ip",
                "ratelimit.exempt.paths=/account",
                "ratelimit.exempt.when=#request.getParameter('user') == 'probe'",
                "management.endpoints.web.exposure.include=health");

        assertThat(IntStream.range(0, 5)
                        .map(i -> app.getAs("alice", path, header).status()))
                .containsOnly(200);
    }

    @Test
    void exemptPlace_isNoneToTryPasswordsAt_andCostsNothing() {
        start(
                List.of(RunningApp.WithSecurity.class, Users.class, Account.class),
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
                List.of(RunningApp.WithSecurity.class, Users.class, TestApi.class),
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

    @TempDir
    static Path directory;

    static Stream<Arguments> spellings() {
        List<String> paths = List.of(
                "//files/big.txt",
                "/files//big.txt",
                "/./files/big.txt",
                "/x/../files/big.txt",
                "/;/files/big.txt",
                "/%2e/files/big.txt",
                "/files%2fbig.txt",
                "/files%5cbig.txt",
                "/%5cfiles/big.txt",
                "/%2ffiles/big.txt",
                "/%66iles/big.txt");
        return Stream.of(Server.values()).flatMap(server -> paths.stream().map(path -> Arguments.of(server, path)));
    }

    @ParameterizedTest
    @MethodSource("spellings")
    void staticFile_inAnySpelling_isLimited(Server server, String path) throws IOException {
        Files.createDirectories(directory.resolve("files"));
        Files.writeString(directory.resolve("files/big.txt"), "the file");
        start(
                server,
                List.of(TestApi.class),
                "spring.web.resources.static-locations=" + directory.toUri(),
                "p.limit=1/hour",
                "p.match.paths=/files/**");

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
        start(List.of(TestApi.class), "p.limit=1/hour", "p.match.when=#request.getHeader('X-Beta') ?: 'no'");

        assertThat(fiveTimes("GET /any HTTP/1.1", "X-Beta: yes")).contains(429);
    }

    @Test
    void exemptionThatIsNeitherTrueNorFalse_exemptsNobody() {
        start(List.of(TestApi.class), "p.limit=1/hour", "ratelimit.exempt.when=#request.getHeader('X-Beta') ?: 'yes'");

        assertThat(fiveTimes("GET /any HTTP/1.1")).contains(429);
    }

    @Test
    void budgetOfAllWithoutAKey_isNotShown() {
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

    /** A method with a long name. */
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
