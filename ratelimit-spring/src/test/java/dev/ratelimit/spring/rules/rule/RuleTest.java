package dev.ratelimit.spring.rules.rule;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names that policies must not have. */
class RuleTest {

    @ParameterizedTest
    @ValueSource(strings = {"page", "explain", "caller", "a/overrides", "a/trial", "/trial", "a//b", "a/", "."})
    void name_thatTheActuatorHasForSomethingElse_isRefused(String name) {
        assertThatThrownBy(() -> Rule.checkName(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("actuator")
                .hasMessageContaining("rename");
    }

    @ParameterizedTest
    @ValueSource(strings = {"pages", "caller/a", "a/caller", "overrides", "trial", "trial/a", "a/trials"})
    void name_thatOnlyLooksLikeThat_isPossible(String name) {
        assertThatCode(() -> Rule.checkName(name)).doesNotThrowAnyException();
    }
}
