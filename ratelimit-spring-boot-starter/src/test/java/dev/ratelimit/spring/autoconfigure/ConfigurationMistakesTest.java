package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Every mistake stops the start, and the report says where it is and what to write instead. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class ConfigurationMistakesTest {

    private static final String LOGIN = "ratelimit.policies.login.";

    private static void fails(List<Class<?>> controllers, String... properties) {
        assertThatThrownBy(() -> RunningApp.start(controllers, properties).close())
                .isInstanceOf(Exception.class);
    }

    /** The description contains what is wrong; the action starts with the text after the semicolon. */
    private static void assertReported(String report, CapturedOutput output) {
        String[] parts = report.split("; (?=[a-z])", 2);
        assertThat(output).contains("Invalid rate limit configuration:").contains(parts[0]);
        if (parts.length == 2) {
            assertThat(output).contains("Action:\n\n" + StringUtils.capitalize(parts[1]));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limit=10 | login.limit: '10' has no period; write 10/second, 10/minute, 10/hour",
                "limit=0/minute | login.limit: '0/minute' permits nothing; write at least 1 permit",
                "limit=-1/minute | login.limit: '-1/minute': '-1' is not a whole number of permits",
                "limit=10/10 | login.limit: '10/10': the period '10' has no unit; write '10s', '10m' or '10h'",
                "limit=10/fortnight | login.limit: '10/fortnight': unknown period 'fortnight'; write second, minute",
                "limit=10/month | login.limit: a token bucket cannot follow the calendar; for 10/month use algorithm fixed-window",
                "key=ip | login.limit: a policy needs a limit; write 10/second, 100/minute or 1000/hour",
                "limit=9/s,algorithm=bucket | login.algorithm: unknown algorithm 'bucket'; write token-bucket, fixed-window, sliding",
                "limit=9/s,algorithm=concurrency | login.limit: '9/s' is not a number of requests at once",
                "limit=9/s,algorithm=parallel | login.algorithm: unknown algorithm 'parallel'; write token-bucket, fixed-window",
                "limit=9/s,concurrency=0 | login.concurrency: permits must be at least 1 but was 0",
                "limit=9/s,max-hold=5m | login.max-hold: only concurrency limits hold permits",
                "concurrency=2,max-hold=0s | login.max-hold: max-hold must be from 1s to 365d",
                "concurrency=2,max-hold=5ms | login.max-hold: max-hold must be from 1s to 365d",
                "concurrency=2,max-hold=5 | login.max-hold: has no unit, and a number without a unit would be milliseconds; write 5s or 5ms",
                "limit=9/s,on-exceeded.action=wait,on-exceeded.max-wait=5 | login.on-exceeded.max-wait: has no unit",
                "limit=9/s,retry-jitter.max=5 | login.retry-jitter.max: has no unit",
                "concurrency=2,count=5xx | login.count: a request holds its permit until it is complete, whatever its",
                "limit=2,algorithm=concurrency,free=2xx | login.free: a request holds its permit until it is complete",
                "concurrency=1000001 | login.concurrency: a concurrency limit has at most 1000000 permits but was given",
                "limit=5,algorithm=concurrency,concurrency=2 | login.concurrency: algorithm: concurrency makes limit",
                "concurrency=5,algorithm=fixed-window | login.algorithm: the algorithm is that of limit, which is missing; write limit: 100/minute as well",
                "concurrency=5,algorithm=window | login.algorithm: unknown algorithm 'window'",
                "limit=9/s,algorithm=fixed-window,burst=3 | login.burst: burst is not an option of fixed-window, which has align and zone",
                "limit=9/s,rounding=floor | login.rounding: rounding is not an option of token-bucket, which has burst and refill; write algorithm: sliding-window, or remove it",
                "limit=9/s,zone=Europe/Zurich | login.zone: zone is not an option of token-bucket, which has burst and refill; write algorithm: fixed-window and align: clock, or remove it",
                "limit=0.5/second | login.limit: '0.5/second': '0.5' is not a whole number of permits; write 1/2s",
                "limit=1,000/minute | login.limit: '1,000/minute': '1,000' is not a whole number of permits; write 1000/minute",
                "limit=9/s; 99/m,burst=3 | login.burst: burst needs a policy with a single limit, but this one has 2",
                "limit=9/s,burst=0 | login.burst: burst must be at least 1 but was 0",
                "limit=9/s,algorithm=fixed-window,zone=Europe/Berlin | login.zone: a zone needs windows aligned with the clock; write align: clock",
                "limit=9/s,key=usr | login.key: unknown key part 'usr' (did you mean 'user'?); write user, principal, ip, endpoint, method",
                "limit=9/s,key=sesion | login.key: unknown key part 'sesion' (did you mean 'session'?)",
                "limit=9/s,key=heder:X | login.key: unknown key part 'heder:X' (did you mean 'header'?)",
                "limit=9/s,algorithm=Token_Bucket | login.algorithm: unknown algorithm 'Token_Bucket' (did you mean 'token-bucket'?); write token-bucket, fixed",
                "limit=9/s,match.methods=G\u00cbT | login.match.methods: 'G\\u00cbT' is not an HTTP method",
                "limit=9/s,key=#request.foo() | login.key: #request has no method foo with 0 arguments",
                "limit=9/s,key=#request.foo( | login.key: not an expression",
                "limit=9/s,key=bean:x | login.key: there is no bean 'x' of type KeyResolver",
                "limit=9/s,match.when=#user == null | login.match.when: there is no #user; use #request",
                "limit=9/s,permits=many | login.permits: permits must be a whole number or an expression; write 1, 5",
                "limit=9/s,permits=#request.size | login.permits: #request has no property size",
                "limit=9/s,count=4x | login.count: '4x' is not a status; write 401 or 5xx",
                "limit=9/s,free=2x | login.free: '2x' is not a status; write 401 or 5xx",
                "limit=9/s,count=1xx | login.count: no response ends with 1xx, so nothing is charged; write 2xx to 5xx",
                "limit=9/s,free[0]=2xx,free[1]=3xx,free[2]=4xx,free[3]=5xx | login.free: every response is free, so nothing",
                "limit=9/s,match.when=false | login.match.when: it is never true, so nothing is limited; write mode: off",
                "limit=9/s,match.when=1 > 2 | login.match.when: it is never true, so nothing is limited; write mode: off",
                "limit=9/s,match.when=yes | login.match.when: 'yes' is neither true nor false; use #request, #principal or #ip",
                "limit=9/s,match.when=#request.method == GET | login.match.when: there is no GET; write a text in quotes, as in 'GET'",
                "limit=9/s,match.when=#request.method == 'get' | login.match.when: the method is in upper case, so it is never 'get'; write 'GET'",
                "limit=9/s,permits=#request.method == 'post' ? 2 : 1 | login.permits: the method is in upper case, so it is never 'post'; write 'POST'",
                "limit=9/s,match.when=getHeader('X') == 'a' | login.match.when: there is no getHeader(); write #request.getHeader(...)",
                "limit=9/s,match.when=#request.getHeader(X) == null | login.match.when: there is no X; write a text in quotes",
                "limit=9/s,match.when=#ip == address.text | login.match.when: there is no address; write a text in quotes",
                "limit=9/s,match.when=@gate.open(#ip) | login.match.when: types, constructors, beans and functions are out of reach; use #request",
                "limit=9/s,key=#request.getHeader('X') + T(java.lang.Math).PI | login.key: types, constructors, beans and functions are out of reach; use #request",
                "limit=9/s,key=#root | login.key: '#root' does not depend on the request; use #request, #principal or #ip",
                "limit=9/s,permits=#root | login.permits: '#root' does not depend on the request; use #request",
                "limit=9/s,match.except-paths=/login?x=1 | login.match.except-paths: '/login?x=1' has a query",
                "limit=9/s,free=406 | login.free: 406 cannot be free: with its Accept header, a request can turn any response into a 406",
                "limit=9/s,count=401,free=2xx | login.free: write count (what is charged) or free (what is not charged)",
                "limit=9/s,key=user,stage=before-security | login.stage: the key 'user' is not known before",
                "limit=9/s,key=#principal?.name,stage=before-security | login.stage: the key '#principal?.name' is not known before",
                "limit=9/s,permits=#principal == null ? 2 : 1,stage=before-security | login.stage: the cost '#principal == null ? 2 : 1' depends on the principal, who is not known before",
                "limit=9/s,plans.pro=99/s | login.plan-resolver: plans need a bean of type PlanResolver, and there is none; declare one",
                "limit=9/s,plan-resolver=x | login.plan-resolver: there are no plans to choose from",
                "plans.pro=99/s | login.plans: callers without a plan need a limit; write plans.default or limit",
                "limit=9/s,plans.default=99/s | login.plans.default: callers on no plan already have 'limit'",
                "limit=9/s,plans.pro.burst=3 | login.plans.pro.limit: a plan needs a limit; write 100/minute, unlimited",
                "plans.default=9/s,burst=3 | login.burst: burst belongs to limit, which is missing; write plans",
                "limit=9/s,plans.pro.limit=5/s,plans.pro.zone=Europe/Zurich | login.plans.pro.zone: a zone needs windows aligned with the clock; write align: clock",
                "limit=9/s,plans.pro.limit=unlimited,plans.pro.burst=5 | login.plans.pro.burst: it has no effect on a plan that is unlimited; remove it",
                "limit=9/s,plans.pro.limit=blocked,plans.pro.zone=UTC,algorithm=fixed-window,align=clock | login.plans.pro.zone: it has no effect on a plan that is blocked; remove it",
                "limit=9/s,plans.pro=9 | login.plans.pro: '9' has no period; write 9/second",
                "limit=9/s,plans.pro=2/s,permits=3 | login.plans.pro: permits must be from 0 to 2",
                "limit=9/s,overrides.x=9/s | login.overrides[x]: overrides need a key with exactly one part besides endpoint",
                "limit=9/s,key=user,overrides.x=lots | login.overrides[x]: 'lots' is not a limit",
                "limit=9/s,key=user,overrides.evil@user=blocked | Spring Boot drops characters of 'evil@user'; write it in brackets",
                "limit=9/s,plans.gold+plus.limit=9/s | Spring Boot drops characters of 'gold+plus'; write it in brackets",
                "limit=9/s,match.when=#principal != null,stage=before-security | depends on the principal, who is not known before Spring Security has run; write after-security",
                "limit=9/s,key=ip,overrides.x=9/s | login.overrides[x]: 'x' is not an address; write 10.0.0.7, 10.0.0.0/8",
                "limit=9/s,key=ip,overrides[10.0.0.0/33]=9/s | must have a prefix from 0 to 32 but has '33'",
                "limit=9/s,permits=10 | login.permits: permits must be from 0 to 9, the maximum that the limit admits at once",
                "limit=9/s,max-keys=0 | login.max-keys: max-keys must be at least 1 but was 0",
                "limit=9/s,retry-jitter.min=2s | login.retry-jitter: max must be from min (PT2S) to 365 days but was PT1S",
                "limit=9/s,match.paths=api/** | login.match.paths: 'api/**' must start with '/'",
                "limit=9/s,match.paths=/a{b | login.match.paths: ",
                "limit=9/s,match.annotated=true,match.paths=/a | login.match.paths: with match.annotated: true, the policy applies where annotations name it, whatever their paths and methods; remove one of the two",
                "limit=9/s,match.annotated=true,match.except-paths=/a | login.match.except-paths: with match.annotated: true",
                "limit=9/s,match.annotated=true,match.methods=GET | login.match.methods: with match.annotated: true",
                "limit=9/s,response.status=200 | login.response.status: status must be from 400 to 599 but was 200; write 429",
                "limit=9/s,response.content-type=text/html | login.response.content-type: content-type belongs to content, which is missing; write content",
                "limit=9/s,response.content=x,response.content-type=html | login.response.content-type: 'html' is not a content type; write application/json",
                "limit=9/s,response.content=x,response.detail=y | login.response.detail: content is the whole body; write either content or detail",
                "limit=9/s,response.content=x,response.body=none | login.response.body: content is the whole body; write either content or body",
                "limit=9/s,match.methods=FETCH | login.match.methods: 'FETCH' is not an HTTP method; write GET, POST, PUT",
                "limit=1/292y | unknown period '292y'",
                "limit=9/s,penalty=0s | penalty must be above 0 and at most 365 days but was PT0S; write 10m, for example",
                "limit=9/s,penalty=10ms | penalty must be at least 1s; write 10m, for example",
                "limit=9/s,penalty=10 | login.penalty: has no unit, and a number without a unit would be milliseconds; write 10s",
                "limit=9/s,penalty=366d | penalty must be above 0 and at most 365 days but was PT8784H; write 10m, for example",
                "limit=9/s,penalty=soon | a duration, such as 50ms, 10s, 5m or 1h",
                "limit=9/s,on-exceeded.max-wait=2s | login.on-exceeded.max-wait: max-wait belongs to action: wait, but the action is reject; write on-exceeded.action: wait",
                "limit=9/s,on-exceeded.action=delay,on-exceeded.queue=2 | login.on-exceeded.queue: queue belongs to action: wait, but the action is delay",
                "limit=9/s,on-exceeded.order=newest-first | login.on-exceeded.order: order belongs to action: wait",
                "limit=9/s,on-exceeded.action=wait,on-exceeded.delayed=2 | login.on-exceeded.delayed: delayed belongs to action: delay",
                "limit=9/s,on-exceeded.action=wait,on-exceeded.max-wait=0s | login.on-exceeded.max-wait: max-wait must be above 0 and at most 1h; write 1s",
                "limit=9/s,on-exceeded.action=wait,on-exceeded.queue=0 | login.on-exceeded.queue: queue must be from 1 to 1000000 requests but was 0; write 100",
                "limit=9/s,on-exceeded.action=delay,on-exceeded.delay=2h | login.on-exceeded.delay: delay must be above 0 and at most 1h; write 1s",
                "limit=9/s,on-exceeded.action=wait,penalty=10m | login.on-exceeded.action: requests cannot wait for a policy with a penalty, which begins with the first refusal; leave penalty out",
                "limit=9/s,on-exceeded.action=park | login.on-exceeded.action: 'park'",
                "limit=1/P400D,burst=1000000 | cannot be represented: an empty bucket must be full again within 73 years"
            })
    @DisplayName("F1 F2 F4 F13 a mistake in a policy is reported with its property and what to write")
    void policy_mistake_isReportedWithPropertyAndRemedy(String properties, String report, CapturedOutput output) {
        String[] all = properties.split(",(?=[a-z])");
        for (int i = 0; i < all.length; i++) {
            all[i] = LOGIN + all[i];
        }

        fails(List.of(), all);

        assertReported(report, output);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.policies.login.limitt=9/s | did you mean 'limit'?",
                "ratelimit.policies.login.match.path=/x | did you mean 'paths'?",
                "ratelimit.polices.login.limit=9/s | did you mean 'policies'?",
                "ratelimit.policies.login.shadow=true | the properties here are limit, algorithm, concurrency",
                "ratelimit.policies.login.plans.free.limitt=9/s | did you mean 'limit'?",
                "ratelimit.policies.login.penalti=10m | did you mean 'penalty'?",
                "ratelimit.trusted-proxy=10.0.0.0/8 | did you mean 'trusted-proxies'?",
                "ratelimit.exempt.path=/x | did you mean 'paths'?",
                "ratelimit.store.tipe=redis | did you mean 'type'?",
                "ratelimit.store.redis.deadlin=1s | did you mean 'deadline'?",
                "ratelimit.policies.login.on-failure=deny | the properties here are limit, algorithm, concurrency"
            })
    @DisplayName("F3 an unknown property is reported with the one that was probably meant")
    void property_unknown_isNeverIgnored(String property, String report, CapturedOutput output) {
        fails(List.of(), "ratelimit.policies.login.limit=9/s", property);

        assertThat(output).contains("Unknown property under 'ratelimit'").contains(report);
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

        assertReported(name + ": " + report, output);
        assertThat(output).contains("Value: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.login.mode=shade",
                "ratelimit.policies.login.on-store-failure=ignore",
                "ratelimit.store.type=postgres",
                "ratelimit.headers=all",
                "ratelimit.ipv6-prefix=129",
                "ratelimit.ipv4-prefix=0",
                "ratelimit.forwarded-header=x-real-ip",
                "ratelimit.exempt.addresses=nobody",
                "ratelimit.exempt.when=#nobody",
                "ratelimit.exempt.when=nobody",
                "ratelimit.exempt.paths=GET /health",
                "ratelimit.exempt.management=probes",
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
    static class Both {

        @GetMapping("/")
        @RateLimited(value = "5/minute", policy = "login")
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
    static class Costless {
        @GetMapping("/")
        @RateLimited(value = "5/minute", permits = 0)
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

    @RestController
    static class Free {
        @GetMapping("/")
        @RateLimited(policy = "work", permits = 50)
        String create() {
            return "";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Plans {
        @Bean
        PlanResolver plans() {
            return request -> "free";
        }
    }

    @Test
    void annotation_priceBeyondAPlanOrAnOverride_isAMistake(CapturedOutput output) {
        fails(
                List.of(Free.class, Plans.class),
                "ratelimit.policies.work.limit=100/minute",
                "ratelimit.policies.work.plans.free=10/minute");
        fails(
                List.of(Free.class),
                "ratelimit.policies.work.limit=100/minute",
                "ratelimit.policies.work.key=user",
                "ratelimit.policies.work.overrides.alice=20/minute");

        assertThat(output)
                .contains(
                        "@RateLimited on Free.create(): under [10/minute (token-bucket)], a plan or an override, permits"
                                + " must be from 0 to 10, the maximum that the limit admits at once, but was 50")
                .contains(
                        "@RateLimited on Free.create(): under [20/minute (token-bucket)], a plan or an override, permits"
                                + " must be from 0 to 20");
    }

    @RestController
    static class DearTogether {
        @GetMapping("/")
        @RateLimited(policy = "work", permits = 6)
        @RateLimited(policy = "work", permits = 5)
        String create() {
            return "";
        }
    }

    @Test
    void annotations_pricesThatNoRequestCanPayTogether_areAMistake(CapturedOutput output) {
        fails(List.of(DearTogether.class), "ratelimit.policies.work=10/minute");
        fails(
                List.of(DearTogether.class, Plans.class),
                "ratelimit.policies.work.limit=100/minute",
                "ratelimit.policies.work.plans.free=9/minute");

        String together =
                "@RateLimited on DearTogether.create(): the annotations here charge policy 'work' together, and ";
        assertThat(output)
                .contains(together
                        + "permits must be from 0 to 10, the maximum that the limit admits at once, but was 11")
                .contains(together
                        + "under [9/minute (token-bucket)], a plan or an override, permits must be from 0 to 9");
    }

    @RestController
    static class SameName {
        @GetMapping("/a")
        @RateLimited(value = "5/minute", name = "one")
        String a() {
            return "";
        }

        @GetMapping("/b")
        @RateLimited(value = "5/minute", name = "one")
        String b() {
            return "";
        }
    }

    @RestController
    static class Quoted {
        @GetMapping("/")
        @RateLimited(value = "5/minute", name = "a\"b")
        String create() {
            return "";
        }
    }

    @RestController
    static class Unset {
        @GetMapping("/")
        @RateLimited("${unset.limit}")
        String create() {
            return "";
        }
    }

    @RestController
    static class NamedPolicy {
        @GetMapping("/")
        @RateLimited(policy = "login", name = "other")
        String create() {
            return "";
        }
    }

    @Test
    void annotation_nameOrPlaceholderMistaken_isReported(CapturedOutput output) {
        String login = "ratelimit.policies.login.limit=9/s";
        fails(List.of(SameName.class), login);
        fails(List.of(SameName.class), "ratelimit.policies.one.limit=9/s");
        fails(List.of(Quoted.class), login);
        fails(List.of(Unset.class), login);
        fails(List.of(NamedPolicy.class), login);

        assertThat(output)
                .containsPattern("@RateLimited on SameName[.][ab]\\(\\): another @RateLimited is also called 'one'")
                .containsPattern(
                        "@RateLimited on SameName[.][ab]\\(\\): a policy of the configuration is also called 'one'")
                .contains("@RateLimited on Quoted.create(): name must be 1 to 100 printable ASCII characters")
                .contains("@RateLimited on Unset.create(): Could not resolve placeholder 'unset.limit'")
                .contains("@RateLimited on NamedPolicy.create(): policy 'login' has its own name");
    }

    @Test
    @DisplayName("F6 a mistake in an annotation is reported with class and method")
    void annotation_mistake_isReportedWithClassAndMethod(CapturedOutput output) {
        String login = "ratelimit.policies.login.limit=9/s";
        fails(List.of(Unknown.class), login, "ratelimit.policies.api.limit=9/s");
        fails(List.of(Neither.class), login);
        fails(List.of(Both.class), login);
        fails(List.of(Mixed.class), login);
        fails(List.of(Garbage.class), login);
        fails(List.of(TooDear.class), login);
        fails(List.of(Costless.class), login);

        assertThat(output)
                .contains("@RateLimited on Unknown.create(): names policy 'x', which does not exist")
                .contains("@RateLimited on Neither.create(): it needs a limit")
                .contains("@RateLimited on Both.create(): it has both a limit and the name of a policy")
                .contains("@RateLimited on Mixed.create(): policy 'login' has its own name, burst, algorithm and key")
                .contains("@RateLimited on Garbage.create(): '5 a minute' is not a limit")
                .contains("@RateLimited on TooDear.create(): permits must be from 0 to 5")
                .contains("@RateLimited on Costless.create(): permits = 0 limits nothing");
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
    @DisplayName("F5 a policy that is written twice is reported with both places")
    void policy_twice_isReportedWithBothPlaces(CapturedOutput output) {
        fails(List.of(), "spring.config.name=twice");
        fails(List.of(), "spring.config.name=spelt-twice");

        assertThat(output)
                .contains("found duplicate key login")
                .contains("line 3")
                .contains("line 5");
        assertThat(output)
                .contains("'perUser' and 'per-user' are the same name to Spring Boot")
                .contains("4:14")
                .contains("6:14");
    }

    @Test
    @DisplayName("F9 an invalid pattern is reported with the position; blanks at its ends are dropped")
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
    void policy_inBrackets_isAnotherThanOneWithoutItsDots() {
        RunningApp app = RunningApp.start(
                List.of(), "ratelimit.policies.login.limit=9/s", "ratelimit.policies[log.in].limit=9/s");
        try (app) {
            assertThat(app.get("/").header("RateLimit")).isNull();
            assertThat(app.counted("log.in", "admitted")).isEqualTo(1);
        }
    }

    @Test
    void override_ofAPolicyInBrackets_isNoLessChecked(CapturedOutput output) {
        fails(
                List.of(),
                "ratelimit.policies[my policy].limit=9/s",
                "ratelimit.policies[my policy].key=user",
                "ratelimit.policies[my policy].overrides.evil@user=blocked");

        assertThat(output).contains("Spring Boot drops characters of 'evil@user'");
    }
}
