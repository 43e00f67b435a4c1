package dev.ratelimit.spring.servlet.settlement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.SinceBoot4;
import dev.ratelimit.spring.servlet.settlement.WatchedResponse.Watcher;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletResponse;

class WatchedResponseTest {

    private final MockHttpServletResponse response = new MockHttpServletResponse();
    private final HttpServletResponse watched = WatchedResponse.watch(response, new Watcher() {
        @Override
        public boolean watchesWrites() {
            return true;
        }
    });

    @Test
    @SinceBoot4("the mock response of Spring Framework 6 keeps its writer")
    void reset_writerOfAnotherCharset_isForgotten() throws IOException {
        watched.setCharacterEncoding("ISO-8859-1");
        watched.getWriter().print("\u00e9");

        watched.reset();
        watched.setContentType("text/plain;charset=UTF-8");
        watched.getWriter().print("\u00e9\u20ac");
        watched.getWriter().flush();

        assertThat(response.getContentAsByteArray()).isEqualTo("\u00e9\u20ac".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void reset_stream_canBeAWriterThen() throws IOException {
        watched.getOutputStream().write('a');

        watched.reset();
        watched.getOutputStream().write('b');

        assertThat(response.getContentAsString()).isEqualTo("b");
    }
}
