package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** A filter in front of the limits that calls the rest of the chain twice, which some servers let run again. */
class RepeatedChainTest {

    private static final AutoConfigurations AUTO = OnBoot.webMvc(RateLimitAutoConfiguration.class);

    private static Filter filter(ApplicationContext context, String name) {
        return Objects.requireNonNull(
                context.getBean(name, FilterRegistrationBean.class).getFilter());
    }

    /** Returns the answers to requests that are sent one after another. */
    private static List<MockHttpServletResponse> send(ApplicationContext context, int requests, FilterChain handler)
            throws Exception {
        Filter outermost = filter(context, "dev.ratelimit.outermostFilter");
        Filter limits = filter(context, RateLimitFilterConfiguration.FILTER);
        List<MockHttpServletResponse> answers = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            MockHttpServletResponse response = new MockHttpServletResponse();
            outermost.doFilter(new MockHttpServletRequest("GET", "/"), response, (asked, answer) -> {
                limits.doFilter(asked, answer, handler);
                answer.resetBuffer();
                limits.doFilter(asked, answer, handler);
            });
            answers.add(response);
        }
        return answers;
    }

    @Test
    void request_isChargedOnce_andARefusedOneIsRefusedAgain() {
        new WebApplicationContextRunner()
                .withConfiguration(AUTO)
                .withPropertyValues("ratelimit.policies.few.limit=2/hour", "ratelimit.expose-shared=true")
                .run(context -> {
                    AtomicInteger handled = new AtomicInteger();

                    List<MockHttpServletResponse> answers =
                            send(context, 4, (asked, answer) -> handled.incrementAndGet());

                    assertThat(answers)
                            .extracting(MockHttpServletResponse::getStatus)
                            .containsExactly(200, 200, 429, 429);
                    assertThat(handled).hasValue(4);
                    assertThat(answers.get(0).getHeader("RateLimit")).startsWith("\"few\";r=1");
                    assertThat(answers.get(3).getContentAsString()).contains("'few' of 2 per hour is exceeded");
                });
    }
}
