package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.test.FakeTicker;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** What waiting requests cost, beside the request and the asynchronous context of the server, which are mocks here. */
@Tag("slow")
class WaitingFootprintTest {

    private static final int REQUESTS = 10_000;
    private static final FilterChain NO_MORE = (request, response) -> {};

    private static long usedBytes() {
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 2; i++) {
            System.gc();
            used = Math.min(
                    used,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return used;
    }

    private static MockHttpServletRequest request(int i, String key) {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders");
        request.setAsyncSupported(true);
        request.addHeader("X-Key", key.equals("own") ? "key" + i : key);
        return request;
    }

    private static long bytesOf(List<Object> all, IntConsumer each) {
        long before = usedBytes();
        for (int i = 0; i < REQUESTS; i++) {
            each.accept(i);
        }
        long bytes = usedBytes() - before;
        assertThat(all).hasSizeGreaterThanOrEqualTo(REQUESTS);
        return bytes / REQUESTS;
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "own"})
    void requestsThatWait_holdNoThread_andLittleMemory(String key) {
        FakeTicker ticker = new FakeTicker();
        new WebApplicationContextRunner()
                .withBean(FakeTicker.class, () -> ticker)
                .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.policies.api.limit=10000/hour",
                        "ratelimit.policies.api.burst=1",
                        "ratelimit.policies.api.key=header:X-Key",
                        "ratelimit.policies.api.on-exceeded.action=wait",
                        "ratelimit.policies.api.on-exceeded.max-wait=1h",
                        "ratelimit.policies.api.on-exceeded.queue=10000")
                .run(context -> {
                    Filter filter = Objects.requireNonNull(
                            context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class)
                                    .getFilter());
                    for (int i = 0; i < REQUESTS; i++) {
                        filter.doFilter(request(i, key), new MockHttpServletResponse(), NO_MORE);
                        if (key.equals("one")) {
                            break;
                        }
                    }
                    List<Object> all = new ArrayList<>(4 * REQUESTS);
                    long ofServer = bytesOf(all, i -> {
                        MockHttpServletRequest request = request(i, key);
                        MockHttpServletResponse response = new MockHttpServletResponse();
                        request.startAsync(request, response);
                        all.add(request);
                    });
                    all.clear();
                    int threads = Thread.activeCount();

                    long ofAll = bytesOf(all, i -> {
                        try {
                            MockHttpServletRequest request = request(i, key);
                            filter.doFilter(request, new MockHttpServletResponse(), NO_MORE);
                            all.add(request);
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    });

                    assertThat(context.getBean(WaitingRequests.class).waiting("api"))
                            .isEqualTo(REQUESTS);
                    // those of tests before may end meanwhile
                    assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
                    System.out.println(REQUESTS + " waiting requests, key " + key + ": " + (ofAll - ofServer)
                            + " bytes each beside " + ofServer + " of the server's (mocks)");
                    assertThat(ofAll - ofServer).isLessThan(4096);
                });
    }
}
