package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** Each repetition must find the context as the first one did. */
@SpringBootTest(
        classes = WithFakeTickerTest.Application.class,
        properties = {
            "ratelimit.store.type=redis",
            "ratelimit.policies.day.limit=3/day",
            "ratelimit.policies.day.algorithm=fixed-window",
            "ratelimit.policies.day.align=clock",
            "ratelimit.policies.day.match.paths=/any",
            "ratelimit.policies.line.limit=1/minute",
            "ratelimit.policies.line.match.paths=/orders/**",
            "ratelimit.policies.line.on-exceeded.action=wait",
            "ratelimit.policies.line.on-exceeded.max-wait=1h",
            "ratelimit.policies.line.on-exceeded.queue=1"
        })
@OnBoot.MockMvc
@WithFakeTicker
class WithFakeTickerTest {

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    static class Application {
        @Bean
        TestApi api() {
            return new TestApi();
        }

        @Bean
        Ticker own() {
            return Ticker.system();
        }
    }

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private FakeTicker ticker;

    private int status(String path) {
        return mvc.get().uri(path).exchange().getResponse().getStatus();
    }

    @RepeatedTest(2)
    void budgetAndWallClock_areThoseOfANewApplication() {
        assertThat(Instant.ofEpochSecond(0, ticker.epochNanos())).isEqualTo("2027-01-01T00:00:00Z");
        for (int i = 0; i < 3; i++) {
            assertThat(status("/any")).isEqualTo(200);
        }
        assertThat(status("/any")).isEqualTo(429);

        ticker.advance(Duration.ofDays(1).minusNanos(1));
        assertThat(status("/any")).isEqualTo(429);
        ticker.advance(Duration.ofNanos(1));
        assertThat(status("/any")).isEqualTo(200);
    }

    @RepeatedTest(2)
    void time_standsStill() {
        assertThat(ticker.nanos()).isEqualTo(ticker.nanos());

        ticker.advanceOnRead(Duration.ofMillis(1));
    }

    @RepeatedTest(2)
    void line_isEmpty() {
        assertThat(status("/orders/1")).isEqualTo(200);

        MvcTestResult waiting = mvc.get().uri("/orders/2").asyncExchange();

        assertThat(waiting.getRequest().isAsyncStarted()).isTrue();
        assertThat(status("/orders/3")).isEqualTo(429);
    }

    @Test
    void store_isInMemory_thoughTheApplicationsIsRedis(@Autowired RateLimitStore store) {
        assertThat(store).isInstanceOf(InMemoryStore.class);
    }

    @Nested
    class Inside {

        @Autowired
        private FakeTicker same;

        @Test
        void nestedClass_hasTheTicker() {
            assertThat(same).isSameAs(ticker);
        }
    }
}
