package dev.ratelimit.jdbc;

import dev.ratelimit.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PublicApiTest {

    @Test
    void api_isTheOneWrittenDown() throws IOException {
        PublicApi.check("ratelimit-jdbc", JdbcStore.class);
    }
}
