package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.core.io.ByteArrayResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every configuration on the pages starts an application, exactly as written. What it does is tested by the tests of the
 * page.
 */
@Tag("servers")
class YamlSnippetsTest {

    private static final Pattern BLOCK = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    /** What is migrated from. */
    private static final Pattern OTHER_LIBRARIES =
            Pattern.compile("^(bucket4j|resilience4j[.\\w]*|spring\\.cloud)\\..*", Pattern.DOTALL);

    private static final Pattern KEY_BEAN = Pattern.compile("\\bbean:([A-Za-z]\\w*)");

    private static final Pattern PLAN_BEAN = Pattern.compile("\\bplan-resolver: *(\\w+)");

    /** After the name of a property that is a map. */
    private static final String ENTRIES = ".*";

    private static final Set<String> KNOWN = known();

    static Stream<Arguments> blocks() throws IOException {
        return SnippetsTest.pages()
                .flatMap(page -> BLOCK.matcher(read(page)).results().map(block -> Arguments.of(page, block.group(1))));
    }

    private static String read(String page) {
        try {
            return Files.readString(Path.of(page));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Properties properties(String yaml) {
        YamlPropertiesFactoryBean reader = new YamlPropertiesFactoryBean();
        reader.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        return Objects.requireNonNull(reader.getObject());
    }

    /** A part of a policy becomes a policy. */
    private static Properties whole(Properties written) {
        if (!written.containsKey("key")) {
            return written;
        }
        Properties policy = new Properties();
        policy.put("ratelimit.policies.example.limit", "1000/minute");
        written.forEach((name, value) -> policy.put("ratelimit.policies.example." + name, value));
        return policy;
    }

    private static boolean isMap(JsonNode property) {
        return property.path("type").asString("").startsWith("java.util.Map<");
    }

    /** The properties of all libraries here; maps with an ending. */
    private static Set<String> known() {
        Set<String> names = new TreeSet<>();
        try {
            for (URL metadata : Collections.list(YamlSnippetsTest.class
                    .getClassLoader()
                    .getResources("META-INF/spring-configuration-metadata.json"))) {
                try (InputStream in = metadata.openStream()) {
                    JsonNode properties = JsonMapper.shared().readTree(in).get("properties");
                    properties.forEach(
                            property -> names.add(property.get("name").asString() + (isMap(property) ? ENTRIES : "")));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return names;
    }

    @ParameterizedTest
    @MethodSource("blocks")
    void configuration_startsAnApplication(String page, String yaml) {
        Properties properties = whole(properties(yaml));
        if (properties.stringPropertyNames().stream()
                .anyMatch(name -> OTHER_LIBRARIES.matcher(name).matches())) {
            return;
        }

        for (String name : properties.stringPropertyNames()) {
            String plain = name.replaceAll("\\[.*", "");
            assertThat(KNOWN)
                    .as("%s: %s", page, name)
                    .anyMatch(known -> known.endsWith(ENTRIES)
                            ? plain.startsWith(known.replace(ENTRIES, "."))
                            : plain.equals(known));
        }
        start(yaml, properties);
    }

    /** No database, without which a store starts, too. */
    private static DataSource nowhere() {
        JdbcDataSource connections = new JdbcDataSource();
        connections.setUrl("jdbc:h2:tcp://127.0.0.1:1/nowhere");
        return connections;
    }

    private static void start(String yaml, Properties properties) {
        WebApplicationContextRunner runner = new WebApplicationContextRunner()
                .withInitializer(
                        context -> context.getEnvironment().setConversionService(new ApplicationConversionService()))
                .withConfiguration(OnBoot.webMvc(OnBoot.REDIS, RateLimitAutoConfiguration.class))
                .withPropertyValues(properties.entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .toArray(String[]::new))
                .withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=1")
                .withBean(DataSource.class, YamlSnippetsTest::nowhere);
        for (String key : names(KEY_BEAN, yaml)) {
            runner = runner.withBean(key, KeyResolver.class, () -> request -> "key");
        }
        List<String> plans = names(PLAN_BEAN, yaml);
        runner = runner.withBean(plans.isEmpty() ? "plans" : plans.get(0), PlanResolver.class, () -> request -> "free");

        runner.run(context -> assertThat(context).hasNotFailed());
    }

    private static List<String> names(Pattern pattern, String yaml) {
        return pattern.matcher(yaml)
                .results()
                .map(found -> found.group(1))
                .distinct()
                .toList();
    }

    @Test
    void pages_haveConfigurations() throws IOException {
        assertThat(blocks()).hasSizeGreaterThan(35);
    }
}
