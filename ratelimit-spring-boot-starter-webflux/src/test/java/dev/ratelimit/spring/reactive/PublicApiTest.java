package dev.ratelimit.spring.reactive;

import dev.ratelimit.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** One of the types is for those who have the gateway. */
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
class PublicApiTest {

    @Test
    void api_isTheOneWrittenDown() throws IOException {
        PublicApi.check("ratelimit-spring-boot-starter-webflux", RouteLimits.class);
    }
}
