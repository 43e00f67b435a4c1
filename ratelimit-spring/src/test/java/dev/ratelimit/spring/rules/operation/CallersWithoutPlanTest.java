package dev.ratelimit.spring.rules.operation;

import static dev.ratelimit.spring.rules.operation.LiveRules.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Where callers without a plan are unlimited or blocked, nothing shows the limit of another plan instead. */
@ExtendWith(OutputCaptureExtension.class)
class CallersWithoutPlanTest {

    private static LiveRules live(String otherwise, String... more) {
        String[] properties = new String[more.length + 5];
        properties[0] = "p.key=header:X-Key";
        properties[1] = "p.missing-key=reject";
        properties[2] = "p.plans.free=10/minute";
        properties[3] = "p.plans.pro=100/minute";
        properties[4] = "p.plans.default=" + otherwise;
        System.arraycopy(more, 0, properties, 5, more.length);
        return new LiveRules(Map.of("plans", (PlanResolver) request -> request.header("X-Plan")), properties);
    }

    @SuppressWarnings("unchecked") // what the explanation is made of
    private static Map<String, Object> explained(LiveRules live, RecordedRequest request) {
        Object policies = live.explain(null, request, List.of(), true).get("policies");
        return ((List<Map<String, Object>>) Objects.requireNonNull(policies)).get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocked", "unlimited"})
    void startLine_saysWhatTheyHave(String otherwise, CapturedOutput output) {
        live(otherwise).rules.report(false, "", "");

        assertThat(output.getAll())
                .contains("Rate limit 'p': " + otherwise + " without a plan, by header:x-key,")
                .doesNotContain("10/minute");
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocked", "unlimited"})
    void report_saysWhatTheyHave(String otherwise) {
        LiveRules live = live(otherwise, "p.plans.free.burst=4");
        Map<String, Object> report = live.report("p", null, true);

        assertThat(report)
                .containsEntry("limit", otherwise)
                .containsEntry("limits", List.of(otherwise))
                .containsEntry("plans", Map.of("free", "10/minute", "pro", "100/minute", "default", otherwise))
                .doesNotContainKey("burst");
        assertThat(live.rules.inForce().version("p")).asString().startsWith(otherwise + ", mode enforce, plan free");
    }

    @Test
    void report_ofCallersWithALimit_hasItAmongThePlans() {
        assertThat(live("5/minute").report("p", null, true))
                .containsEntry("limit", "5/minute")
                .containsEntry("plans", Map.of("free", "10/minute", "pro", "100/minute", "default", "5/minute"));
    }

    @Test
    void explanation_namesKey_plan_andBlock() {
        assertThat(explained(live("blocked"), get("/").with("X-Key", "k1").with("X-Plan", "none")))
                .containsEntry("outcome", "refused")
                .containsEntry("key", List.of("k1"))
                .containsEntry("plan", "default")
                .containsEntry("override", "blocked");
    }

    @Test
    void explanation_ofAPlan_namesIt() {
        assertThat(explained(live("blocked"), get("/").with("X-Key", "k1").with("X-Plan", "pro")))
                .containsEntry("outcome", "admitted")
                .containsEntry("key", List.of("k1"))
                .containsEntry("plan", "pro")
                .doesNotContainKey("override");
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocked", "unlimited", "5/minute"})
    void explanation_namesTheMissingPart(String otherwise) {
        Map<String, Object> explained = explained(live(otherwise), get("/").with("X-Plan", "none"));

        assertThat(explained)
                .containsEntry("outcome", "refused")
                .containsEntry("missing", "header:x-key")
                .doesNotContainKeys("plan", "override", "key");
        assertThat(explained.get("remark")).asString().endsWith("is answered with 400");
    }

    @Test
    void explanation_ofAnOverrideByHand_namesNoPlan() {
        assertThat(explained(live("5/minute", "p.overrides.k1=blocked"), get("/").with("X-Key", "k1")))
                .containsEntry("outcome", "refused")
                .containsEntry("override", "blocked")
                .doesNotContainKey("plan");
    }

    @Test
    void change_toALimit_isNotComparedWithThatOfAnotherPlan() {
        LiveRules live = live("unlimited");

        Map<String, Object> preview = live.preview("p", RateLimitChange.toLimit("5/hour"), false, null, true);

        assertThat(preview.get("from")).asString().startsWith("unlimited, mode enforce");
        assertThat(preview).containsEntry("limit", "5/hour").doesNotContainKey("remark");
    }
}
