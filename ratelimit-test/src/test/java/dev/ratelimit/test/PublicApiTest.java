package dev.ratelimit.test;

import dev.ratelimit.PublicApi;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PublicApiTest {

    @Test
    void api_isTheOneWrittenDown() throws IOException {
        PublicApi.check("ratelimit-test", FakeTicker.class, WithFakeTicker.class);
    }
}
