package dev.ratelimit.spring.rules.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RecordedResponse;
import dev.ratelimit.spring.rules.traffic.FrequentKeys;
import dev.ratelimit.spring.rules.traffic.Traffic;
import dev.ratelimit.spring.rules.trial.Trial;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Everything that is counted of a load of many callers, a few of whom send most requests, is what a model of the limits says
 * that knows nothing of this library: exactly, or within the bound that is promised.
 */
class CountsOfAZipfLoadTest {

    private static final int ENDPOINTS = 30;
    private static final int MINUTES = 100;
    private static final int NOW = 6;
    private static final int SHADOW = 4;
    private static final int TRIED = 3;

    /** A fixed window for each caller, from its first request on. */
    private static final class Windows {

        private final int limit;
        private final Map<String, Long> began = new HashMap<>();
        private final Map<String, Integer> used = new HashMap<>();

        Windows(int limit) {
            this.limit = limit;
        }

        boolean hasRoom(String user, long now) {
            Long begin = began.get(user);
            if (begin == null || now - begin >= Duration.ofMinutes(10).toNanos()) {
                began.remove(user);
                used.remove(user);
            }
            return used.getOrDefault(user, 0) < limit;
        }

        void take(String user, long now) {
            began.putIfAbsent(user, now);
            used.merge(user, 1, Integer::sum);
        }
    }

    /** What must have been counted. */
    private static final class Truth {

        private final Windows now = new Windows(NOW);
        private final Windows shadow = new Windows(SHADOW);
        private final Windows tried = new Windows(TRIED);
        private final Map<String, Long> outcomes = new TreeMap<>();
        private final Map<String, Long> endpoints = new TreeMap<>();
        private final Map<String, Long> refusedKeys = new HashMap<>();
        private final Set<String> refusedMore = new HashSet<>();
        private final long[] trial = new long[4];

        /** Returns whether the request is refused. */
        boolean add(String user, String endpoint, long at) {
            boolean refused = !now.hasRoom(user, at);
            boolean would = !tried.hasRoom(user, at);
            trial[(refused ? 2 : 0) + (would ? 1 : 0)]++;
            if (!would) {
                tried.take(user, at);
            }
            if (would && !refused) {
                refusedMore.add(user);
            }
            if (refused) {
                count("p", "refused", user, endpoint);
                return true;
            }
            now.take(user, at);
            outcomes.merge("p admitted", 1L, Long::sum);
            if (shadow.hasRoom(user, at)) {
                shadow.take(user, at);
                outcomes.merge("s admitted", 1L, Long::sum);
            } else {
                count("s", "shadow-refused", user, endpoint);
            }
            return false;
        }

        private void count(String policy, String outcome, String user, String endpoint) {
            outcomes.merge(policy + " " + outcome, 1L, Long::sum);
            endpoints.merge(policy + " " + endpoint, 1L, Long::sum);
            refusedKeys.merge(policy + " " + user, 1L, Long::sum);
        }
    }

    private final Truth truth = new Truth();
    private final LiveRules live = new LiveRules(
            "p.limit=" + NOW + "/10m",
            "p.algorithm=fixed-window",
            "p.key=user",
            "ratelimit.policies.s.limit=" + SHADOW + "/10m",
            "ratelimit.policies.s.algorithm=fixed-window",
            "ratelimit.policies.s.key=user",
            "ratelimit.policies.s.mode=shadow");
    private final Map<String, Long> counted = new TreeMap<>();

    /** Counts as the metrics do. */
    private final OutcomeCounter meters =
            (policy, key, outcome, request) -> counted.merge(policy + " " + outcome.tag(), 1L, Long::sum);

    private final RequestLimiter limiter = live.limiter(OutcomeCounter.of(List.of(meters, live.traffic())));

    private void send(int requests, int callers, long seed) throws IOException {
        Map<String, Endpoint> endpoints = new HashMap<>();
        IntStream.range(0, ENDPOINTS)
                .forEach(i -> endpoints.put(
                        "/e" + i,
                        Endpoint.of(List.of("GET"), PathPatternParser.defaultInstance.parse("/e" + i + "/**"))));
        live.rules.enforce(new EndpointResolver() {
            @Override
            public Endpoint resolve(WebRequest request) {
                return endpoints.getOrDefault(request.path().value(), Endpoint.NOWHERE);
            }

            @Override
            public boolean mayLeadToAnnotated(WebRequest request) {
                return false;
            }
        });
        live.policies.startTrial("p", RateLimitTrial.of(TRIED + "/10m").lasting(Duration.ofMinutes(2 * MINUTES)));
        Random random = new Random(seed);
        long start = live.ticker.nanos();
        long stepNanos = Duration.ofMinutes(MINUTES).toNanos() / requests;
        for (int i = 0; i < requests; i++) {
            live.ticker.advanceNanos(stepNanos);
            String user = "u" + (int) Math.pow(callers, random.nextDouble());
            String path = "/e" + (int) Math.pow(ENDPOINTS, random.nextDouble());
            long now = live.ticker.nanos() - start;
            ChargedRequest charged = limiter.charge(null, new RecordedRequest("GET", path).by(user));
            if (charged.isRefused()) {
                charged.writeRefusal(new RecordedResponse());
            }
            if (truth.add(user, "GET " + path + "/**", now) != charged.isRefused()) {
                throw new AssertionError("request " + i + " of " + user + ", seed " + seed);
            }
        }
    }

    @Test
    @Tag("slow")
    void hundredThousandCallers_areCountedExactly_orWithinTheBounds() throws IOException {
        long seed = Seeds.next();

        send(150_000, 100_000, seed);

        check(seed);
    }

    @Test
    @Tag("nightly")
    void millionCallers_areCountedExactly_orWithinTheBounds() throws IOException {
        long seed = Seeds.next();

        send(3_000_000, 1_000_000, seed);

        check(seed);
    }

    private void check(long seed) {
        assertThat(counted).as("seed %s", seed).isEqualTo(truth.outcomes);
        for (String policy : List.of("p", "s")) {
            Traffic traffic = live.traffic();
            traffic.counts(policy)
                    .forEach((outcome, requests) -> assertThat(requests)
                            .as("%s %s, seed %s", policy, outcome, seed)
                            .isEqualTo(truth.outcomes.getOrDefault(policy + " " + outcome, 0L)));
            traffic.mostRefusedEndpoints(policy)
                    .forEach(one -> assertThat(one)
                            .isEqualTo(new FrequentKeys.Frequent(
                                    one.key(), truth.endpoints.getOrDefault(policy + " " + one.key(), 0L), 0)));
            assertThat(traffic.mostRefusedEndpoints(policy)).hasSize((int) truth.endpoints.keySet().stream()
                    .filter(key -> key.startsWith(policy))
                    .count());
            checkMostRefused(policy, traffic);
        }
        checkTrial();
    }

    private void checkMostRefused(String policy, Traffic traffic) {
        long all = truth.refusedKeys.entrySet().stream()
                .filter(one -> one.getKey().startsWith(policy))
                .mapToLong(Map.Entry::getValue)
                .sum();
        Set<String> listed = new HashSet<>();
        for (FrequentKeys.Frequent one : traffic.mostRefused(policy)) {
            String user = one.key().substring(one.key().indexOf(':') + 1);
            long exact = truth.refusedKeys.getOrDefault(policy + " " + user, 0L);
            assertThat(exact).as("%s %s", policy, user).isBetween(one.count(), one.count() + one.lost());
            listed.add(policy + " " + user);
        }
        truth.refusedKeys.forEach((key, times) -> {
            if (key.startsWith(policy) && times > all / Traffic.FREQUENT) {
                assertThat(listed).contains(key);
            }
        });
    }

    private void checkTrial() {
        RateLimitTrial.Result result = Objects.requireNonNull(live.policies.trial("p"));
        Map<String, Object> report = live.trials.report("p", true);
        long all = LongStream.of(truth.trial).sum();
        assertThat(result.requests()).isEqualTo(all);
        if (report.containsKey("remark")) {
            // more keys than have room: those that were forgotten are not refused
            assertThat(truth.now.used).hasSizeGreaterThan(Trial.KEYS);
            assertThat(result.more()).isBetween(truth.trial[1] * 9 / 10, truth.trial[1]);
            return;
        }
        assertThat(List.of(
                        all - result.more() - result.fewer() - result.both(),
                        result.more(),
                        result.fewer(),
                        result.both()))
                .containsExactly(truth.trial[0], truth.trial[1], truth.trial[2], truth.trial[3]);
        assertThat(result.refusedKeys()).isEqualTo(Math.min(Trial.REFUSED_KEYS, truth.refusedMore.size()));
    }
}
