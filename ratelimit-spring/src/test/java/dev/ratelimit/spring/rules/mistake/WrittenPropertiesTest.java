package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** Properties of several sources; the first one has the highest precedence. */
class WrittenPropertiesTest {

    private final StandardEnvironment environment = new StandardEnvironment();

    @BeforeEach
    void noSources() {
        environment
                .getPropertySources()
                .forEach(source -> environment.getPropertySources().remove(source.getName()));
    }

    private void variable(String name, String value) {
        environment
                .getPropertySources()
                .addLast(new SystemEnvironmentPropertySource(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, Map.of(name, value)));
    }

    private void file(String yaml) throws IOException {
        int place = environment.getPropertySources().size();
        new YamlPropertySourceLoader()
                .load(
                        "file " + place,
                        new ByteArrayResource(yaml.replace("; ", "\n").getBytes(StandardCharsets.UTF_8)))
                .forEach(environment.getPropertySources()::addLast);
    }

    private void check() {
        ConfigurationPropertySources.attach(environment);
        WrittenProperties.check(environment);
    }

    @ParameterizedTest
    @CsvSource({"RATELIMIT_IMAGE_TAG, ''", "RATELIMIT_API_TOKEN, s3cr${et}", "RATELIMIT_STORE_PASSWORD, ${x}"})
    void check_variableThatIsNoProperty_isLeftAlone(String name, String value) {
        variable(name, value);

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"RATELIMIT_POLICIES_LOGIN_KEY, ''", "RATELIMIT_POLICIES_LOGIN_MAXKEYS, ${x}", "RATELIMIT_ENABLED, ''"})
    void check_variableThatIsAProperty_isChecked(String name, String value) {
        variable(name, value);

        assertThatThrownBy(this::check).isInstanceOf(RateLimitConfigurationException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"limit: 3/minute", "limit: [3/minute]"})
    void check_listThatAnotherSourceHides_isNotChecked(String holds) throws IOException {
        file("ratelimit.policies.login." + holds);
        file("ratelimit.policies.login.limit: ['${LOGIN_LIMIT}', '${OTHER_LIMIT}']");

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @Test
    void check_listThatAnotherSourceHasAScalarBelow_isChecked() throws IOException {
        file("ratelimit.policies.login.limit: ['${LOGIN_LIMIT}']");
        file("ratelimit.policies.login.limit: 3/minute");

        assertThatThrownBy(this::check).hasMessageContaining("placeholder");
    }

    @Test
    void check_escapedPlaceholder_isNone() throws IOException {
        file("ratelimit.response.detail: 'see \\${x}'");

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"policies: {}", "policies.login.overrides: {}"})
    void check_emptyMap_isNone(String written) throws IOException {
        file("ratelimit." + written);

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    private RateLimitProperties bound() {
        return Binder.get(environment)
                .bind("ratelimit", RateLimitProperties.class)
                .get();
    }

    @Test
    void check_emptyMapBelowWhatAnotherSourceHas_isNone() throws IOException {
        file("ratelimit.policies.login: 5/minute");
        file("ratelimit.policies: {}");

        assertThatCode(this::check).doesNotThrowAnyException();
        assertThat(bound().policies()).containsOnlyKeys("login");
    }

    @ParameterizedTest
    @ValueSource(strings = {"trusted-proxies: [10.0.0.1]", "trusted-proxies: 10.0.0.1"})
    void check_emptyListAboveWhatAnotherSourceHas_clearsIt(String below) throws IOException {
        file("ratelimit.trusted-proxies: []");
        file("ratelimit." + below);

        assertThatCode(this::check).doesNotThrowAnyException();
        assertThat(bound().trustedProxies()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"${TENANT_KEY:}", "' '"})
    void check_blankTextAboveAList_isAMistake(String above) throws IOException {
        file("ratelimit.policies.login.key: " + above);
        file("ratelimit.policies.login.key: [tenant]");

        assertThatThrownBy(this::check).hasMessageContaining("has no value");
    }

    @Test
    void check_emptyVariableAboveAList_isAMistake() throws IOException {
        variable("RATELIMIT_TRUSTEDPROXIES", "");
        file("ratelimit.trusted-proxies: [10.0.0.1]");

        assertThatThrownBy(this::check).hasMessageContaining("has no value");
    }

    @ParameterizedTest
    @ValueSource(strings = {"trusted-proxies: []", "policies.login.key: ''", "policies:", "policies.login: []"})
    void check_emptyValue_isAMistake(String written) throws IOException {
        file("ratelimit." + written);

        assertThatThrownBy(this::check).hasMessageContaining("has no value");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RATELIMIT_POLICIES_LOGIN_LIMIT", "RATELIMIT_POLICIES_LOGIN_MODE"})
    void check_variableForAPolicyOfItsLimitOnly_isAMistake(String variable) throws IOException {
        variable(variable, "2/minute");
        file("ratelimit.policies.login: 5/minute");

        assertThatThrownBy(this::check)
                .hasMessageContaining("\"" + variable + "\" from property source \"systemEnvironment\"")
                .hasMessageContaining("write 'ratelimit.policies.login.limit' instead");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.api v1: 5/minute",
                "ratelimit.policies.größe.limit: 5/minute",
                "rateLimit.policies.a.plans.gold plan: 5/minute",
                "rate-limit.policies.a.overrides.bob@x: 5/minute",
                "ratelimit.policies[a b].Overrides.bob@x: 5/minute"
            })
    void check_nameThatLosesCharacters_isAMistake(String written) throws IOException {
        file(written.replaceAll("^(.*): ", "\"$1\": "));

        assertThatThrownBy(this::check).hasMessageContaining("drops characters");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.my_api: 5/minute",
                "ratelimit.policies[api v1]: 5/minute",
                "ratelimit.policies.a.plans.free_plan.limit: 5/minute",
                "ratelimit.policies.a.overrides.bob_smith: 5/minute",
                "ratelimit.policies.a.overrides.127.0.0.1: 5/minute"
            })
    void check_nameThatIsKept_isRight(String written) throws IOException {
        file(written.replaceAll("^(.*): ", "\"$1\": "));

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.a.overrides: {alice: 5/minute, Alice: blocked}",
                "ratelimit.policies.a.overrides: {bob-smith: 5/minute, bob_smith: blocked}",
                "ratelimit.policies.a.plans: {free: 5/minute, Free: blocked}",
                "ratelimit.policies.a.plans: {free: {limit: 5/minute}, Free: {limit: 6/minute, burst: 7}}"
            })
    void check_twoNamesThatAreOneToSpringBoot_areAMistake(String written) throws IOException {
        file(written);

        assertThatThrownBy(this::check)
                .hasMessageContaining("are the same name to Spring Boot; write them in brackets");
    }

    @Test
    void check_spellingsInTwoFiles_areAMistake() throws IOException {
        file("ratelimit.policies.a.overrides.Alice: blocked");
        file("ratelimit.policies.a.overrides.alice: 5/minute");

        assertThatThrownBy(this::check).hasMessageContaining("'alice' and 'Alice' are the same name");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit.policies.a.overrides: {'[alice]': 5/minute, '[Alice]': blocked}",
                "ratelimit.policies.a.overrides: {alice: 5/minute, '[Alice]': blocked}"
            })
    void check_namesInBrackets_areKeptApart(String written) throws IOException {
        file(written);

        assertThatCode(this::check).doesNotThrowAnyException();
        assertThat(bound().policies().values())
                .singleElement()
                .extracting(PolicyProperties::overrides)
                .isEqualTo(Map.of("alice", "5/minute", "Alice", "blocked"));
    }

    @Test
    void check_policiesInBrackets_areKeptApart() throws IOException {
        file("ratelimit.policies: {'[v1.1]': 5/minute, '[v11]': 6/minute, v-11: 7/minute, '[V11]': 8/minute}");

        assertThatCode(this::check).doesNotThrowAnyException();
        assertThat(bound().policies()).containsOnlyKeys("v1.1", "v11", "v-11", "V11");
    }

    @Test
    void check_variableOfAPolicyInBrackets_isRight() throws IOException {
        file("ratelimit.policies: {'[v11]': {limit: 5/minute}}");
        variable("RATELIMIT_POLICIES_V11_LIMIT", "6/minute");

        assertThatCode(this::check).doesNotThrowAnyException();
        assertThat(bound().policies()).hasSize(1);
    }

    @Test
    void check_twoSpellingsOfAPolicy_areAMistake() throws IOException {
        file("ratelimit.policies.per-user.limit: 5/minute");
        variable("RATELIMIT_POLICIES_PERUSER_LIMIT", "6/minute");

        assertThatThrownBy(this::check)
                .hasMessageContaining("'peruser' and 'per-user' are the same name to Spring Boot; rename one of them");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit: 5/minute",
                "ratelimit: false",
                "ratelimit.policies: x",
                "ratelimit.policies.login.overrides: x",
                "ratelimit.policies.login.match: /x",
                "ratelimit.store: redis"
            })
    void check_valueOfAGroup_isAMistake(String written) throws IOException {
        file(written);

        assertThatThrownBy(this::check).hasMessageContaining("takes no value of its own; write properties below it");
    }

    @Test
    void check_valueOfAGroupInAVariable_isAMistake() {
        variable("RATELIMIT_POLICIES", "5/minute");

        assertThatThrownBy(this::check)
                .hasMessageContaining("takes no value of its own")
                .hasMessageContaining("such as ratelimit.policies.login: 5/minute");
    }

    @Test
    void check_variableCalledRatelimit_isLeftAlone() {
        variable("RATELIMIT", "100");

        assertThatCode(this::check).doesNotThrowAnyException();
    }
}
