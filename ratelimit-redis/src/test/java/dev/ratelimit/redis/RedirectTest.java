package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedirectTest {

    private static final String FROM = "node-1:7001";

    @ParameterizedTest
    @CsvSource({
        "MOVED 3999 127.0.0.1:6381, 127.0.0.1:6381, false",
        "ASK 3999 node-2.example:6381, node-2.example:6381, true",
        "MOVED 1 2001:db8::1:6381, 2001:db8::1:6381, false",
        "MOVED 1 :6381, node-1:6381, false",
        "MOVED 1 ?:6381, node-1:6381, false"
    })
    void of_redirect_namesTheServer(String reply, String server, boolean asking) {
        assertThat(Redirect.of(new RedisCommandExecutionException(reply), FROM))
                .isEqualTo(new Redirect(server, asking));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "MOVED",
                "MOVED 1",
                "MOVED x 127.0.0.1:1",
                "MOVED 1 127.0.0.1",
                "MOVED 1 127.0.0.1:",
                "ERR MOVED 1 a:1",
                "ASK 1 a:b"
            })
    void of_anythingElse_isNone(String reply) {
        assertThat(Redirect.of(new RedisCommandExecutionException(reply), FROM)).isNull();
    }

    @Test
    void of_anotherException_isNone() {
        assertThat(Redirect.of(new IllegalStateException("MOVED 1 a:1"), FROM)).isNull();
    }
}
