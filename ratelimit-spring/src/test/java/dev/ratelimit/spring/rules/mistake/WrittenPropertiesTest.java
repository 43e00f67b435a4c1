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

    @Test
    void check_emptyMapAboveWhatAnotherSourceHas_isAMistake() throws IOException {
        file("ratelimit.policies: {}");
        file("ratelimit.policies.login: 5/minute");

        assertThatThrownBy(this::check).hasMessageContaining("{} does not remove entries");
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
    @ValueSource(strings = {"trusted-proxies:", "trusted-proxies: ''"})
    void check_emptyValueAboveAList_isAMistake(String above) throws IOException {
        file("ratelimit." + above);
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

    @ParameterizedTest
    @CsvSource({"Login, LOGIN", "v1.1, V11", "per-user, PERUSER", "my policy, MYPOLICY"})
    void check_variableThatLooksLikeAPolicyInBrackets_isAMistake(String bracketed, String variable) throws IOException {
        file("ratelimit.policies: {'[" + bracketed + "]': 5/minute}");
        variable("RATELIMIT_POLICIES_" + variable + "_LIMIT", "6/minute");

        assertThatThrownBy(this::check)
                .hasMessageContaining("this does not set the policy '" + bracketed + "', whose name is in brackets");
    }

    @Test
    void check_fileWhosePolicyLooksLikeOneInBrackets_isAMistake() throws IOException {
        file("ratelimit.policies.perUser.limit: 5/minute");
        file("ratelimit.policies: {'[per-user]': {limit: 5/minute}}");

        assertThatThrownBy(this::check)
                .hasMessageContaining("this does not set the policy 'per-user'")
                .hasMessageContaining("write ratelimit.policies[per-user], which environment variables cannot");
    }

    @Test
    void check_variableOfAPolicyBesideOneInBrackets_isRight() throws IOException {
        file("ratelimit.policies: {'[log.in]': 5/minute, login: {limit: 5/minute}, '[v11]': {limit: 5/minute}}");
        variable("RATELIMIT_POLICIES_LOGIN_LIMIT", "6/minute");

        assertThatCode(this::check).doesNotThrowAnyException();
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

    @ParameterizedTest
    @CsvSource({
        "010, an octal number; write 10",
        "+010, an octal number; write 10",
        "010_0, an octal number; write 100",
        "0_401, an octal number; write 401",
        "1:40, a number in base 60; write 100",
        "&n 010, an octal number; write 10",
        "!!int 010, an octal number; write 10"
    })
    void check_numberThatYamlReadsAsAnother_isAMistake(String written, String reading) throws IOException {
        String[] parts = reading.split("; ", -1);
        for (String yaml : new String[] {
            "ratelimit.policies.a.burst: " + written,
            "ratelimit.policies.a.burst: ${b}; b: " + written,
            "ratelimit.policies.a.burst: ${a:${b}}; b: " + written
        }) {
            noSources();
            file(yaml);

            assertThatThrownBy(this::check)
                    .as(yaml)
                    .hasMessageStartingWith("ratelimit.policies.a.burst: YAML reads ")
                    .hasMessageContaining(" as " + parts[0])
                    .hasMessageContaining(parts[1] + ", or quote it");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1_000", "0x10", "0", "'010'", "\"1:40\"", "${b:010}"})
    void check_numberThatYamlReadsAsMeant_isRight(String written) throws IOException {
        file("ratelimit.policies.a.burst: " + written);

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"0123, 83", "1_0, 10", "no, false", "On, true", "1:40, 100", "0x1F, 31", "1.10, 1.1", "-07, -7"})
    void check_nameThatYamlReadsAsAnother_isAMistake(String written, String read) throws IOException {
        for (String yaml : new String[] {
            "ratelimit.policies: {7: 1/s, " + written + ": 5/minute}",
            "ratelimit:;   policies:;     " + written + ":;       key: user;       limit: 5/minute",
            "ratelimit.policies.a.plans: {" + written + ": {burst: 7, limit: 5/minute}}",
            "ratelimit.policies.a.overrides: {alice: blocked, " + written + " : blocked}"
        }) {
            noSources();
            file(yaml);

            assertThatThrownBy(this::check)
                    .as(yaml)
                    .hasMessageContaining("YAML reads the name " + written + " as " + read
                            + "; put quotes around it: \"" + written + "\"");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"'0123'", "\"no\"", "12", "'[83]'", "true", "1.5", "0"})
    void check_nameThatYamlReadsAsWritten_isRight(String written) throws IOException {
        file("x: {0123: 1, no: 2, 0xC: 3, on: 4}; ratelimit.policies.a.overrides: {" + written + ": blocked}");

        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @Test
    void check_variableCalledRatelimit_isLeftAlone() {
        variable("RATELIMIT", "100");

        assertThatCode(this::check).doesNotThrowAnyException();
    }
}
