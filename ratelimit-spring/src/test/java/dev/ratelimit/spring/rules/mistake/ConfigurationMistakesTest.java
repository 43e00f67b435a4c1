package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/** The report of a mistake says where it is and what to write instead. */
class ConfigurationMistakesTest {

    private static final String LOGIN = "ratelimit.policies.login.";

    /** The description contains what is wrong; the action starts with the text after the semicolon. */
    private static void assertReported(@Nullable FailureAnalysis analysis, String report) {
        String[] parts = report.split("; (?=[a-z])", 2);
        FailureAnalysis found = Objects.requireNonNull(analysis, report);
        assertThat(found.getDescription())
                .contains("Invalid rate limit configuration:")
                .contains(parts[0]);
        if (parts.length == 2) {
            assertThat(found.getAction()).startsWith(StringUtils.capitalize(parts[1]));
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
                "concurrency=2,max-hold=+100 | login.max-hold: has no unit, and a number without a unit would be milliseconds; write 100s or 100ms",
                "concurrency=2,max-hold=0100 | login.max-hold: has no unit, and a number without a unit would be milliseconds; write 100s or 100ms",
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
                "limit=9/s,key=usr | login.key: unknown key part 'usr' (did you mean 'user'?); write user, principal, ip, endpoint, route, method",
                "limit=9/s,key=sesion | login.key: unknown key part 'sesion' (did you mean 'session'?)",
                "limit=9/s,key=heder:X | login.key: unknown key part 'heder:X' (did you mean 'header'?)",
                "limit=9/s,algorithm=Token_Bucket | login.algorithm: unknown algorithm 'Token_Bucket' (did you mean 'token-bucket'?); write token-bucket, fixed",
                "limit=9/s,match.methods=G\u00cbT | login.match.methods: 'G\\u00cbT' is not an HTTP method",
                "limit=9/s,key=#request.foo() | login.key: #request has no method foo with 0 arguments",
                "limit=9/s,key=#request.foo( | login.key: not an expression",
                "limit=9/s,key=bean:x | login.key: there is no bean 'x' of type KeyResolver",
                "limit=9/s,key=#username | login.key: there is no #username; use #request, #principal or #ip. Is it an argument of a handler? Then write match.annotated: true as well",
                "limit=9/s,response.content={retryAfter} | login.response.content: unknown placeholder 'retryAfter' (did you mean 'retry-after'?); write {retry-after} or {policies}",
                "limit=9/s,response.content={retry-after } | login.response.content: unknown placeholder 'retry-after ' (did you mean 'retry-after'?); write {retry-after} or {policies}",
                "limit=9/s,response.content={\"for\": {retry-after}} and {policy} | login.response.content: unknown placeholder 'policy' (did you mean 'policies'?); write {retry-after} or {policies}",
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
                "limit=9/s,key=ip,overrides[10.0.0.7]=blocked,overrides[::ffff:10.0.0.7/128]=9/s | is written twice, in two spellings; write it once",
                "limit=9/s,key=ip,overrides[10.0.0.0/8]=9/s,overrides[10.1.2.3/8]=blocked | is written twice, in two spellings; write it once",
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
                "limit=9/s,penalty=soon | login.penalty: 'soon' cannot be read; write a duration, such as 50ms, 10s, 5m or 1h",
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
    void policy_mistake_isReportedWithPropertyAndRemedy(String properties, String report) {
        String[] all = properties.split(",(?=[a-z])");
        for (int i = 0; i < all.length; i++) {
            all[i] = LOGIN + all[i];
        }

        assertReported(Start.report(all), report);
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
    void property_unknown_isNeverIgnored(String property, String report) {
        assertThat(Start.report("ratelimit.policies.login.limit=9/s", property))
                .extracting(FailureAnalysis::getDescription)
                .asString()
                .startsWith("Unknown property under 'ratelimit'")
                .contains(report);
    }

    @ParameterizedTest
    @CsvSource({"events.max-per-second, write 10", "metrics.max-endpoints, write 100"})
    void maximumOfEventsAndMetrics_below1_isReported(String property, String remedy) {
        String name = property.substring(property.indexOf('.') + 1);

        FailureAnalysis analysis = Start.report("ratelimit.policies.login.limit=9/s", "ratelimit." + property + "=0");

        assertReported(analysis, "ratelimit." + property + ": " + name + " must be at least 1 but was 0; " + remedy);
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
    void redisStore_mistake_isReportedWithPropertyAndRule(String property, String report) {
        String name = "ratelimit.store.redis." + property.substring(0, property.indexOf('='));

        FailureAnalysis analysis =
                Start.report("ratelimit.policies.login.limit=9/s", "ratelimit.store.redis." + property);

        assertReported(analysis, name + ": " + report);
        assertThat(analysis)
                .extracting(FailureAnalysis::getDescription)
                .asString()
                .contains("Value: ");
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
    void value_impossible_stopsTheStart(String property) {
        assertThat(Start.report("ratelimit.policies.login.limit=9/s", property))
                .extracting(FailureAnalysis::getDescription)
                .asString()
                .contains("ratelimit.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"QUERY", "query", "HEAD", "get"})
    void method_inAnyCase_isKnown(String method) {
        assertThat(Start.report(
                        "ratelimit.policies.login.limit=9/s", "ratelimit.policies.login.match.methods=" + method))
                .isNull();
    }

    @Test
    void override_ofAPolicyInBrackets_isNoLessChecked() {
        FailureAnalysis analysis = Start.report(
                "ratelimit.policies[my policy].limit=9/s",
                "ratelimit.policies[my policy].key=user",
                "ratelimit.policies[my policy].overrides.evil@user=blocked");

        assertReported(analysis, "Spring Boot drops characters of 'evil@user'");
    }
}
