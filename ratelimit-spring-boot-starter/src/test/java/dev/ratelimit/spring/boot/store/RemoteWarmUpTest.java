package dev.ratelimit.spring.boot.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

class RemoteWarmUpTest {

    private static final Policy BUCKET = Policy.of("bucket", TokenBucket.of(Rate.parse("1/minute")));
    private static final Policy LOG = Policy.of("log", SlidingLog.of(Rate.parse("1/minute")));
    private static final Policy OTHER_BUCKET = Policy.of("other", TokenBucket.of(Rate.parse("2/minute")));

    private final FakeTicker ticker = new FakeTicker();
    private final SlowStore store = new SlowStore();

    /** Answers after this time, until it gives up. */
    private final class SlowStore extends ForwardingStore {

        private final List<List<String>> asked = new ArrayList<>();
        private Duration time = Duration.ZERO;
        private boolean available = true;
        private boolean deny;

        SlowStore() {
            super(InMemoryStore.builder().ticker(ticker).build());
        }

        @Override
        public Decision peek(List<Charge> charges) {
            asked.add(charges.stream().map(charge -> charge.policy().name()).toList());
            ticker.advance(time);
            if (deny) {
                throw new StoreUnavailableException("bucket", Duration.ofSeconds(1), "timeout");
            }
            return super.peek(charges);
        }
    }

    private void warmUp(String... settings) {
        Map<String, String> written = settings.length == 0 ? Map.of() : Map.of(settings[0], settings[1]);
        RateLimitProperties.Redis redis = new Binder(new MapConfigurationPropertySource(written))
                .bindOrCreate("redis", RateLimitProperties.Redis.class);
        new RemoteWarmUp(store, () -> store.available, ticker, redis).ask(List.of(BUCKET, LOG, OTHER_BUCKET));
    }

    @Test
    void fastAnswer_isEnough_forOnePolicyOfEachKind() {
        store.time = Duration.ofMillis(25);

        warmUp();

        assertThat(store.asked).containsExactly(List.of("bucket", "log"));
    }

    @ParameterizedTest
    @CsvSource({"10, 5", "5, 4", "2, 1", "1, 0"})
    void slowAnswers_areRepeated_butDoNotMakeTheStoreGiveUp(String failures, int rounds) {
        store.time = Duration.ofMillis(26);

        warmUp("redis.failures", failures);

        assertThat(store.asked).hasSize(rounds);
    }

    @Test
    void failingServer_isNotAsked() {
        store.available = false;

        warmUp();

        assertThat(store.asked).isEmpty();
    }

    @Test
    void policyThatFailsClosed_doesNotStopTheStart() {
        store.deny = true;
        store.time = Duration.ofMillis(50);

        warmUp();

        assertThat(store.asked).hasSize(5);
    }

    @Test
    void policiesInForce_areAskedAboutAtTheStart() {
        List<String> asked = new ArrayList<>();
        new WebApplicationContextRunner()
                .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
                .withBean(StoreWarmUp.class, () -> policies -> policies.forEach(policy -> asked.add(policy.name())))
                .withPropertyValues(
                        "ratelimit.policies.a.limit=1/minute",
                        "ratelimit.policies.a.concurrency=2",
                        "ratelimit.policies.b.limit=1/minute",
                        "ratelimit.policies.b.mode=off")
                .run(context -> assertThat(asked).containsExactly("a", "a/concurrency"));
    }

    @Test
    void asking_chargesNothing() {
        warmUp();

        assertThat(store.tryCharge(BUCKET.charge("warm-up"))).isTrue();
        assertThat(store.tryCharge(LOG.charge("warm-up"))).isTrue();
    }
}
