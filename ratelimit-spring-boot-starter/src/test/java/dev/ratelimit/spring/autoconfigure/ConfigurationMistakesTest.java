package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Every mistake stops the start, and the report says where it is and what to write. */
@ExtendWith(OutputCaptureExtension.class)
class ConfigurationMistakesTest {

    private static final String LOGIN = "ratelimit.policies.login.";

    private static void fails(List<Class<?>> controllers, String... properties) {
        assertThatThrownBy(() -> RunningApp.start(controllers, properties).close())
                .isInstanceOf(Exception.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limit=10 | login.limit: '10' has no period; write 10/second, 10/minute, 10/hour",
                "limit=0/minute | login.limit: '0/minute' permits nothing; at least 1 must be permitted",
                "limit=-1/minute | login.limit: '-1/minute': '-1' is not a whole number of permits",
                "limit=10/10 | login.limit: '10/10': the period '10' has no unit; write '10s', '10m' or '10h'",
                "limit=10/fortnight | login.limit: '10/fortnight': unknown period 'fortnight'; write second, minute",
                "limit=10/month | login.limit: a token bucket has no calendar; for 10/month use algorithm fixed-window",
                "key=ip | login.limit: a policy needs a limit; write 10/second, 100/minute or 1000/hour",
                "limit=9/s,algorithm=bucket | login.algorithm: algorithm must be one of token-bucket, fixed-window, sliding",
                "limit=9/s,algorithm=concurrency | login.algorithm: algorithm must be one of token-bucket, fixed-window",
                "limit=9/s,algorithm=fixed-window,burst=3 | login.burst: burst is no option of fixed-window, which has align and zone",
                "limit=9/s,rounding=floor | login.rounding: rounding is no option of token-bucket, which has burst and refill",
                "limit=9/s; 99/m,burst=3 | login.burst: burst is for a policy of one limit, and this one has 2",
                "limit=9/s,burst=0 | burst must be at least 1 but was 0",
                "limit=9/s,algorithm=fixed-window,zone=Europe/Berlin | zone needs align: clock",
                "limit=9/s,key=usr | login.key: 'usr' is no part of a key; write user, principal, ip, endpoint, method",
                "limit=9/s,key=sesion | login.key: 'sesion' is no part of a key",
                "limit=9/s,key=#request.foo() | login.key: HttpServletRequest has no method foo of 0 arguments",
                "limit=9/s,key=#request.foo( | login.key: not an expression",
                "limit=9/s,key=bean:x | login.key: there is no bean 'x' of type KeyResolver",
                "limit=9/s,match.when=#user == null | login.match.when: there is no #user; there are #request",
                "limit=9/s,permits=many | login.permits: permits must be a whole number, or an expression that starts with #",
                "limit=9/s,permits=#request.size | login.permits: HttpServletRequest has no property size",
                "limit=9/s,count=4x | login.count: '4x' is no status; write 401 or 5xx",
                "limit=9/s,key=user,stage=before-security | login.stage: the key 'user' is not known before",
                "limit=9/s,plans.pro=99/s | login.plan-resolver: plans need a plan-resolver, the name of a bean of type",
                "limit=9/s,plan-resolver=x | login.plan-resolver: there are no plans to choose from",
                "plans.pro=99/s | login.plans: those on no plan need a limit, too; write plans.default or limit",
                "limit=9/s,plans.default=99/s | login.plans.default: those on no plan have 'limit' already",
                "limit=9/s,plans.pro.burst=3 | login.plans.pro.limit: a plan needs a limit; write 100/minute, unlimited",
                "plans.default=9/s,burst=3 | login.burst: burst goes with limit; plans have a burst of their own",
                "limit=9/s,plans.pro=9 | login.plans.pro: '9' has no period; write 9/second",
                "limit=9/s,plans.pro=2/s,permits=3 | login.plans.pro: permits must be from 0 to 2",
                "limit=9/s,overrides.x=9/s | login.overrides[x]: overrides need a key of one part besides endpoint",
                "limit=9/s,key=user,overrides.x=lots | login.overrides[x]: 'lots' is not a limit",
                "limit=9/s,key=user,overrides.evil_user=blocked | Spring Boot drops characters of 'evil_user'; write it in brackets",
                "limit=9/s,plans.gold_plus.limit=9/s | Spring Boot drops characters of 'gold_plus'; write it in brackets",
                "limit=9/s,match.when=#principal != null,stage=before-security | is about a principal, who is not known before",
                "limit=9/s,key=ip,overrides.x=9/s | login.overrides[x]: 'x' is no address; write 10.0.0.7, 10.0.0.0/8",
                "limit=9/s,key=ip,overrides[10.0.0.0/33]=9/s | must have a prefix from 0 to 32 but has '33'",
                "limit=9/s,permits=10 | login.permits: permits must be from 0 to 9, the most that can be had at once",
                "limit=9/s,max-keys=0 | login.max-keys: max-keys must be at least 1 but was 0",
                "limit=9/s,retry-jitter.min=2s | login.retry-jitter: max must be from min (PT2S) to 365 days but was PT1S",
                "limit=9/s,match.paths=api/** | login.match.paths: 'api/**' must start with '/'",
                "limit=9/s,match.paths=/a{b | login.match.paths: ",
                "limit=9/s,match.methods=FETCH | login.match.methods: 'FETCH' is no method; write GET, POST, PUT",
                "limit=1/292y | unknown period '292y'",
                "limit=1/P400D,burst=1000000 | cannot be represented: an empty bucket must be full again within 73 years"
            })
    @DisplayName("F1 F2 F4 F13 a mistake in a policy is told with its property and what to write")
    void policy_mistake_isReportedWithPropertyAndRemedy(String properties, String report, CapturedOutput output) {
        String[] all = properties.split(",(?=[a-z])");
        for (int i = 0; i < all.length; i++) {
            all[i] = LOGIN + all[i];
        }

        fails(List.of(), all);

        assertThat(output).contains("A rate limit is not configured right:").contains(report);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.policies.login.limitt=9/s | did you mean 'limit'?",
                "ratelimit.policies.login.match.path=/x | did you mean 'paths'?",
                "ratelimit.polices.login.limit=9/s | did you mean 'policies'?",
                "ratelimit.policies.login.shadow=true | there is limit, algorithm, burst",
                "ratelimit.policies.login.plans.free.limitt=9/s | did you mean 'limit'?",
                "ratelimit.policies.login.penalty=10m | ratelimit.policies.login.penalty: ",
                "ratelimit.trusted-proxy=10.0.0.0/8 | did you mean 'trusted-proxies'?",
                "ratelimit.exempt.path=/x | did you mean 'paths'?",
                "ratelimit.store.tipe=redis | did you mean 'type'?",
                "ratelimit.store.redis.deadlin=1s | did you mean 'deadline'?",
                "ratelimit.policies.login.on-failure=deny | there is limit, algorithm, burst"
            })
    @DisplayName("F3 an unknown property is told, and which one was probably meant")
    void property_unknown_isNeverIgnored(String property, String report, CapturedOutput output) {
        fails(List.of(), "ratelimit.policies.login.limit=9/s", property);

        assertThat(output)
                .contains("There is no such property, so it would limit nothing")
                .contains(report);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "deadline=0s | deadline must be above 0 and at most 1h; write 50ms",
                "deadline=2h | deadline must be above 0 and at most 1h; write 50ms",
                "max-in-flight=0 | max-in-flight must be at least 1",
                "failures=21 | failures must be from 1 to 20, of the last 20 requests",
                "failures=0 | failures must be from 1 to 20, of the last 20 requests",
                "open-for=-1s | open-for must be above 0 and at most 1h; write 1s",
                "local-share=0 | local-share must be above 0 and at most 1; write 1/instances, such as 0.25 for four",
                "local-share=1.5 | local-share must be above 0 and at most 1; write 1/instances, such as 0.25 for four",
                "local-share=NaN | local-share must be above 0 and at most 1; write 1/instances, such as 0.25 for four",
                "lease.fraction=0 | lease.fraction must be above 0 and at most 1; write 0.05",
                "lease.max-age=0 | lease.max-age must be above 0 and at most 1h; write 1s",
                "deny-cache=-1ms | deny-cache must be from 0 to 1h; write 1s, or 0 to ask each time",
                "prefix=a b | prefix must be 1 to 32 letters, digits, dots, hyphens, underscores and colons"
            })
    void redisStore_mistake_isReportedWithPropertyAndRule(String property, String report, CapturedOutput output) {
        String name = "ratelimit.store.redis." + property.substring(0, property.indexOf('='));

        fails(List.of(), "ratelimit.policies.login.limit=9/s", "ratelimit.store.redis." + property);

        assertThat(output).contains(name + ": " + report).contains("Value: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.login.mode=shadow",
                "ratelimit.policies.login.on-store-failure=ignore",
                "ratelimit.store.type=postgres",
                "ratelimit.headers=all",
                "ratelimit.ipv6-prefix=129",
                "ratelimit.ipv4-prefix=0",
                "ratelimit.forwarded-header=x-real-ip",
                "ratelimit.exempt.addresses=nobody",
                "ratelimit.exempt.when=#nobody",
                "ratelimit.policies.login.missing-key=ignore",
                "ratelimit.policies.login.stage=first",
                "ratelimit.response.status=200",
                "ratelimit.response.status=1000",
                "ratelimit.retry-after-millis-header=a b",
                "ratelimit.policies[a\"b].limit=9/s",
                "ratelimit.policies[a\u00e9].limit=9/s"
            })
    void value_impossible_stopsTheStart(String property, CapturedOutput output) {
        fails(List.of(), "ratelimit.policies.login.limit=9/s", property);

        assertThat(output).contains("APPLICATION FAILED TO START").contains("ratelimit.");
    }

    @RestController
    static class Unknown {
        @GetMapping("/")
        @RateLimited(policy = "x")
        String create() {
            return "";
        }
    }

    @RestController
    static class Neither {
        @GetMapping("/")
        @RateLimited
        String create() {
            return "";
        }
    }

    @RestController
    static class Mixed {
        @GetMapping("/")
        @RateLimited(policy = "login", key = "ip")
        String create() {
            return "";
        }
    }

    @RestController
    static class Garbage {
        @GetMapping("/")
        @RateLimited("5 a minute")
        String create() {
            return "";
        }
    }

    @RestController
    static class TooDear {
        @GetMapping("/")
        @RateLimited(value = "5/minute", permits = 6)
        String create() {
            return "";
        }
    }

    @Test
    @DisplayName("F6 a mistake in an annotation is told with class and method")
    void annotation_mistake_isReportedWithClassAndMethod(CapturedOutput output) {
        String login = "ratelimit.policies.login.limit=9/s";
        fails(List.of(Unknown.class), login, "ratelimit.policies.api.limit=9/s");
        fails(List.of(Neither.class), login);
        fails(List.of(Mixed.class), login);
        fails(List.of(Garbage.class), login);
        fails(List.of(TooDear.class), login);

        assertThat(output)
                .contains("@RateLimited on Unknown.create(): names policy 'x'; there is [api, login]")
                .contains("@RateLimited on Neither.create(): give either a limit")
                .contains("@RateLimited on Mixed.create(): policy 'login' has its own burst, algorithm and key")
                .contains("@RateLimited on Garbage.create(): '5 a minute' is not a limit; write 10/second")
                .contains("@RateLimited on TooDear.create(): permits must be from 0 to 5");
    }

    @Test
    void mistake_inAFile_isReportedWithItsPlace(CapturedOutput output) {
        fails(List.of(), "spring.config.name=mistaken");

        assertThat(output)
                .contains("ratelimit.policies.login.limit: '10' has no period")
                .contains("mistaken.yml")
                .contains("4:");
    }

    @Test
    @DisplayName("F5 a policy that is there twice is told with both places")
    void policy_twice_isReportedWithBothPlaces(CapturedOutput output) {
        fails(List.of(), "spring.config.name=twice");
        fails(List.of(), "spring.config.name=spelt-twice");

        assertThat(output)
                .contains("found duplicate key login")
                .contains("line 3")
                .contains("line 5");
        assertThat(output)
                .contains("'perUser' and 'per-user' are one name to Spring Boot")
                .contains("4:14")
                .contains("6:14");
    }

    @Test
    @DisplayName("F9 a pattern that cannot be read is told with the place; blanks at its ends are dropped")
    void pattern_unreadable_isReportedWithACaret(CapturedOutput output) {
        String limit = "ratelimit.policies.login.limit=1/hour";
        fails(List.of(), limit, "ratelimit.policies.login.match.paths=/a/{b");

        assertThat(output).contains("      /a/{b\n      ").containsPattern("      +\\^");
        RunningApp app = RunningApp.start(List.of(), limit, "ratelimit.policies.login.match.paths= /actuator/health ");
        try (app) {
            assertThat(app.get("/actuator/health").status()).isEqualTo(200);
            assertThat(app.get("/actuator/health").status()).isEqualTo(429);
        }
    }

    @Test
    void override_ofAPolicyInBrackets_isNoLessChecked(CapturedOutput output) {
        fails(
                List.of(),
                "ratelimit.policies[my policy].limit=9/s",
                "ratelimit.policies[my policy].key=user",
                "ratelimit.policies[my policy].overrides.evil_user=blocked");

        assertThat(output).contains("Spring Boot drops characters of 'evil_user'; write it in brackets");
    }
}
