package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** Servers of Redis that are named without their master, for which Spring Boot 4 has added properties. */
class MasterReplicaTest {

    @Test
    void masterThatIsNotNamed_isReported() {
        new WebApplicationContextRunner()
                .withConfiguration(OnBoot.webMvc(OnBoot.REDIS, RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.type=redis",
                        "ratelimit.policies.api.limit=100/minute",
                        "spring.data.redis.masterreplica.nodes=a:1,b:2")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("write spring.data.redis.host or spring.data.redis.sentinel"));
    }
}
