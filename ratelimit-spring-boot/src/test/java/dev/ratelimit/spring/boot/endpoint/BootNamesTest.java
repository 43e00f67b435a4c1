package dev.ratelimit.spring.boot.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.boot.version.Boot;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Names of Spring Boot's classes, of which a wrong one would be noticed by nobody. */
class BootNamesTest {

    static Stream<String> names() throws IllegalAccessException {
        List<String> names = new ArrayList<>(ManagementRoutes.MAPPINGS);
        for (Field field : Boot.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers())
                    && field.get(null) instanceof String name
                    && name.startsWith("org.springframework.")
                    && !name.endsWith(".")) {
                names.add(name);
            }
        }
        return names.stream();
    }

    @ParameterizedTest
    @MethodSource("names")
    void name_isThatOfAClass(String name) {
        assertThat(getClass().getClassLoader().getResource(name.replace('.', '/') + ".class"))
                .isNotNull();
    }
}
