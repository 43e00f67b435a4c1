package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** The filters, where an application has registered them for more dispatches. */
class WidenedDispatchesTest {

    private static final AutoConfigurations AUTO = OnBoot.webMvc(RateLimitAutoConfiguration.class);

    private static Filter filter(ApplicationContext context, String name) {
        return Objects.requireNonNull(
                context.getBean(name, FilterRegistrationBean.class).getFilter());
    }

    private static int send(ApplicationContext context, MockHttpServletRequest request, FilterChain handler)
            throws Exception {
        Filter limits = filter(context, RateLimitFilterConfiguration.FILTER);
        MockHttpServletResponse response = new MockHttpServletResponse();
        filter(context, "dev.ratelimit.outermostFilter")
                .doFilter(request, response, (asked, answer) -> limits.doFilter(asked, answer, handler));
        return response.getStatus();
    }

    @ParameterizedTest
    @EnumSource(names = {"FORWARD", "INCLUDE"})
    void permit_ofARequestThatGoesOnAfterADispatch_isHeldUntilItsEnd(DispatcherType type) {
        new WebApplicationContextRunner()
                .withConfiguration(AUTO)
                .withPropertyValues("ratelimit.policies.slot.concurrency=1")
                .run(context -> {
                    MockHttpServletRequest request = new MockHttpServletRequest();
                    AtomicInteger meanwhile = new AtomicInteger();

                    send(context, request, (asked, answer) -> {
                        request.setDispatcherType(type);
                        filter(context, "dev.ratelimit.outermostFilter").doFilter(asked, answer, (page, part) -> {});
                        request.setDispatcherType(DispatcherType.REQUEST);
                        meanwhile.set(other(context));
                    });

                    assertThat(meanwhile).hasValue(429);
                    assertThat(other(context)).isEqualTo(200);
                });
    }

    /** The status of the answer to another request. */
    private static int other(ApplicationContext context) {
        try {
            return send(context, new MockHttpServletRequest(), (asked, answer) -> {});
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
