package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** A client that has left: some servers then never report the end of an asynchronous request. */
class LostWriteTest {

    private static final AutoConfigurations AUTO = OnBoot.webMvc(RateLimitAutoConfiguration.class);

    private static final class Lost extends MockHttpServletResponse {

        @Override
        public ServletOutputStream getOutputStream() {
            return new ServletOutputStream() {
                @Override
                public void write(int b) throws IOException {
                    throw new IOException("broken pipe");
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setWriteListener(WriteListener listener) {
                    throw new UnsupportedOperationException();
                }
            };
        }
    }

    @Test
    void permit_ofARequestThatGoesOnWithoutItsClient_comesBackWithItsThread() {
        new WebApplicationContextRunner()
                .withConfiguration(AUTO)
                .withPropertyValues("ratelimit.policies.slot.concurrency=1")
                .run(context -> {
                    Filter filter = Objects.requireNonNull(
                            context.getBean(RateLimitFilterConfiguration.FILTER, FilterRegistrationBean.class)
                                    .getFilter());
                    MockHttpServletRequest first = new MockHttpServletRequest("GET", "/");
                    first.setAsyncSupported(true);
                    FilterChain chain = (request, response) -> {
                        request.startAsync();
                        try {
                            response.getOutputStream().write(1);
                        } catch (IOException e) {
                            assertThat(status(filter)).isEqualTo(429);
                        }
                    };

                    filter.doFilter(first, new Lost(), chain);

                    assertThat(first.isAsyncStarted()).isTrue();
                    assertThat(status(filter)).isEqualTo(200);
                });
    }

    private static int status(Filter filter) {
        MockHttpServletResponse response = new MockHttpServletResponse();
        try {
            filter.doFilter(new MockHttpServletRequest("GET", "/"), response, new MockFilterChain());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        return response.getStatus();
    }
}
