package dev.ratelimit.spring.servlet.request;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;

class KeptBodyTest {

    private final MockHttpServletRequest server = new MockHttpServletRequest("POST", "/");

    KeptBodyTest() {
        server.setContent("body \u00fc".getBytes(StandardCharsets.UTF_8));
        server.setCharacterEncoding("UTF-8");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Test
    void of_nothingRead_isTheSame() throws IOException {
        assertThat(KeptBody.of(server)).isSameAs(server);
        assertThat(text(server.getInputStream().readAllBytes())).isEqualTo("body \u00fc");
    }

    @Test
    void body_partlyReadInLookUps_isReadFromItsBeginning() throws IOException {
        assertThat(text(new AttributeKeepingRequest(server).getInputStream().readNBytes(3)))
                .isEqualTo("bod");
        assertThat(new AttributeKeepingRequest(server).getReader().readLine()).isEqualTo("body \u00fc");

        HttpServletRequest later = KeptBody.of(server);

        assertThat(KeptBody.of(later)).isSameAs(later);
        assertThat(later.getInputStream().isFinished()).isFalse();
        assertThat(later.getInputStream().read()).isEqualTo('b');
        assertThat(text(later.getInputStream().readAllBytes())).isEqualTo("ody \u00fc");
        assertThat(later.getInputStream().isFinished()).isTrue();
        assertThat(later.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void body_ofALaterReader_isText() throws IOException {
        assertThat(new AttributeKeepingRequest(server).getInputStream().read()).isEqualTo('b');

        assertThat(KeptBody.of(server).getReader().readLine()).isEqualTo("body \u00fc");
    }

    @Test
    void body_ofAListener_isAll() throws IOException {
        assertThat(new AttributeKeepingRequest(server).getInputStream().readNBytes(2))
                .hasSize(2);
        ServletInputStream stream = KeptBody.of(server).getInputStream();
        StringBuilder read = new StringBuilder();

        stream.setReadListener(new ReadListener() {
            @Override
            public void onDataAvailable() throws IOException {
                while (stream.isReady()) {
                    int next = stream.read();
                    if (next < 0) {
                        return;
                    }
                    read.append((char) next);
                }
            }

            @Override
            public void onAllDataRead() {
                read.append(" end");
            }

            @Override
            public void onError(Throwable failure) {
                read.append(failure);
            }
        });

        assertThat(read).hasToString("body \u00c3\u00bc end");
    }
}
