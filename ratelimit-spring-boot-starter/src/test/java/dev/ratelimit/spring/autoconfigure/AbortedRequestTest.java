package dev.ratelimit.spring.autoconfigure;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/** A request whose client disconnects is still charged. */
@Tag("servers")
class AbortedRequestTest {

    /** A store whose first decision takes as long as the test wants. */
    static final class SlowStore extends ForwardingStore {

        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch mayDecide = new CountDownLatch(1);

        SlowStore() {
            super(InMemoryStore.create());
        }

        @Override
        public Decision decide(List<Charge> charges) {
            asked.countDown();
            try {
                mayDecide.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return super.decide(charges);
        }
    }

    /** Reports when the thread of a request is free again. */
    static final class Done extends CountDownLatch {
        Done() {
            super(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SlowDecision {
        @Bean
        SlowStore slowStore() {
            return new SlowStore();
        }

        @Bean
        Done done() {
            return new Done();
        }

        @Bean
        FilterRegistrationBean<Filter> outermost(Done done) {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                try {
                    chain.doFilter(request, response);
                } finally {
                    done.countDown();
                }
            });
            filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return filter;
        }
    }

    @ParameterizedTest
    @MethodSource("dev.ratelimit.spring.RunningApp#servers")
    @DisplayName("H5 a client that resets the connection while the store decides is charged once, and holds no thread")
    void client_resetsDuringTheDecision_paysOnce(Server server) throws IOException, InterruptedException {
        try (RunningApp app = RunningApp.start(
                server, List.of(SlowDecision.class, TestApi.class), "ratelimit.policies.all.limit=10/hour")) {
            SlowStore store = app.bean(SlowStore.class);
            Socket client = app.client().begin("GET /orders/1 HTTP/1.1");
            store.asked.await();

            client.setSoLinger(true, 0);
            client.close();
            store.mayDecide.countDown();
            app.bean(Done.class).await();

            app.awaitCounted("all", "admitted", 1);
            Policy all = Policy.of("all", TokenBucket.of(Rate.parse("10/hour")));
            assertThat(store.peek(List.of(all.charge()))).hasRemaining(9);
            assertThat(app.get("/orders/1").status()).isEqualTo(200);
            app.awaitCounted("all", "admitted", 2);
        }
    }
}
