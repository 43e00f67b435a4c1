package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

class CredentialsTest {

    private static Credentials readBy(String... parts) {
        KeyParser parser = new KeyParser(new Resolvers(new DefaultListableBeanFactory()));
        return new Credentials(parser.parse(List.of(parts), MissingKey.IP).parts());
    }

    private static RecordedRequest get() {
        return new RecordedRequest("GET", "/alive");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Authorization", "Cookie", "X-Api-Key", "Sec-WebSocket-Protocol", "X-Anything"})
    void mayBeIn_headerThatIsNotKnown(String header) {
        assertThat(readBy("ip").mayBeIn(get().with(header, "x"))).isTrue();
        assertThat(readBy("ip").mayBeBesideUrlOf(get().with(header, "x"))).isTrue();
        assertThat(readBy("ip").mayBeInUrlOf(get().with(header, "x"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Accept", "USER-AGENT", "If-None-Match", "X-Forwarded-For", "traceparent", "Content-Type"})
    void mayBeIn_headerOfBrowsersProbesAndProxies_isFalse(String header) {
        RecordedRequest request = get().with(header, "x").with("Content-Length", "0");

        assertThat(readBy("ip").mayBeIn(request)).isFalse();
    }

    @Test
    void mayBeIn_headerThatAKeyReads_whateverItsName() {
        assertThat(readBy("header:User-Agent").mayBeIn(get().with("user-agent", "x")))
                .isTrue();
        assertThat(readBy("header:User-Agent").mayBeIn(get().with("Accept", "x")))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"/alive, key=x, true", "/alive, '', false", "/alive, , false", "/alive;key=x, , true"})
    void mayBeIn_queryOrParameterOfThePath(String path, String query, boolean may) {
        RecordedRequest request = new RecordedRequest("GET", path).withQuery(query);

        assertThat(readBy("ip").mayBeIn(request)).isEqualTo(may);
        assertThat(readBy("ip").mayBeInUrlOf(request)).isEqualTo(may);
        assertThat(readBy("ip").mayBeBesideUrlOf(request)).isFalse();
    }

    /** Since HTTP/2, a request with a body need not say so; the Servlet API then knows no length. */
    @ParameterizedTest
    @CsvSource({
        "GET, Content-Length: 1, true",
        "GET, Content-Length: 0, false",
        "GET, Transfer-Encoding: chunked, true",
        "GET, Content-Type: application/json, true",
        "GET, Accept: */*, false",
        "HEAD, Accept: */*, false",
        "OPTIONS, Accept: */*, false",
        "POST, Accept: */*, true",
        "POST, Content-Length: 0, false",
        "FOO, Accept: */*, true"
    })
    void mayBeIn_body(String method, String header, boolean may) {
        int colon = header.indexOf(": ");
        RecordedRequest request =
                new RecordedRequest(method, "/alive").with(header.substring(0, colon), header.substring(colon + 2));

        assertThat(readBy("ip").mayBeIn(request)).isEqualTo(may);
        assertThat(readBy("ip").mayBeInUrlOf(request)).isFalse();
    }

    @Test
    void mayBeIn_certificate_isFalse() {
        RecordedRequest request = get().withAttribute("jakarta.servlet.request.X509Certificate", new Object());

        assertThat(readBy("ip").mayBeIn(request)).isFalse();
    }
}
