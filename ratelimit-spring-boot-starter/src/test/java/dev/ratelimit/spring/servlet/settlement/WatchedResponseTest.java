package dev.ratelimit.spring.servlet.settlement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.SinceBoot4;
import dev.ratelimit.spring.servlet.settlement.WatchedResponse.Watcher;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UnsupportedEncodingException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletResponse;

class WatchedResponseTest {

    /** A response whose client may leave, which its writer then knows. */
    private static final class Abandoned extends MockHttpServletResponse {

        private boolean gone;

        @Override
        public PrintWriter getWriter() throws UnsupportedEncodingException {
            return new PrintWriter(super.getWriter()) {
                @Override
                public boolean checkError() {
                    return super.checkError() || gone;
                }
            };
        }
    }

    private final Abandoned response = new Abandoned();
    private boolean committed;
    private boolean lost;

    private final HttpServletResponse watched = WatchedResponse.watch(response, new Watcher() {
        @Override
        public boolean watchesWrites() {
            return true;
        }

        @Override
        public void written(boolean failed) {
            committed |= response.isCommitted();
            lost |= failed;
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

    @Test
    void writer_fillsTheBuffer_tellsThatTheResponseIsCommitted() throws IOException {
        PrintWriter writer = watched.getWriter();
        writer.print("a");
        assertThat(committed).isFalse();

        writer.write("a".repeat(response.getBufferSize()).toCharArray());

        assertThat(committed).isTrue();
        assertThat(response.getContentAsString()).hasSize(response.getBufferSize() + 1);
    }

    @Test
    void writer_closed_tellsThatTheResponseIsCommitted() throws IOException {
        watched.getWriter().append('a').close();

        assertThat(committed).isTrue();
    }

    @Test
    void writer_writesToAClientThatHasLeft_tellsAfterABuffer() throws IOException {
        PrintWriter writer = watched.getWriter();
        writer.write("a".repeat(response.getBufferSize()));
        response.gone = true;
        assertThat(lost).isFalse();

        writer.println("a".repeat(response.getBufferSize()));

        assertThat(lost).isTrue();
    }

    @Test
    void writer_resetBeforeTheCommit_isNotFlushed() throws IOException {
        PrintWriter writer = watched.getWriter();
        for (int i = 0; i < 10; i++) {
            writer.write("a".repeat(response.getBufferSize() / 2));
            watched.resetBuffer();
        }

        assertThat(response.isCommitted()).isFalse();
    }
}
