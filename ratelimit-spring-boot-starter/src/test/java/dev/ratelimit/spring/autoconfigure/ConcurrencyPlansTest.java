package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Plans of a policy that limits the concurrency, alone and beside a rate. */
@ExtendWith(OutputCaptureExtension.class)
class ConcurrencyPlansTest {

    static class SameName {
        @RateLimited(value = "5/hour", name = "api/concurrency")
        public void run() {}
    }

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
            .withBean("plans", PlanResolver.class, () -> request -> "pro")
            .withPropertyValues("ratelimit.policies.api.concurrency=2", "ratelimit.policies.api.key=user");

    @Test
    void plans_withoutARate_areNumbersOfRequestsAtOnce(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.api.plans.pro=10", "ratelimit.policies.api.plans.partner=unlimited")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("'api': 2 at once").contains("plans partner, pro");
    }

    @Test
    void plans_thatAreRates_limitTheRateBeside(CapturedOutput output) {
        runner.withPropertyValues(
                        "ratelimit.policies.api.plans.pro=10/minute",
                        "ratelimit.policies.api.plans.default=5 per minute")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("'api': 5/minute").contains("'api/concurrency': 2 at once");
    }

    @Test
    void annotation_withTheNameOfAPolicysConcurrency_stopsTheStart() {
        runner.withUserConfiguration(SameName.class)
                .withPropertyValues("ratelimit.policies.api.limit=5/hour")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("a policy of the configuration is also called 'api/concurrency'"));
    }
}
