package dev.ratelimit.spring.rules.config;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/** The descriptions of the components of records, from their sources, and their defaults. */
final class RecordJavadoc {

    private static final Path SOURCES = Path.of("src/main/java/dev/ratelimit/spring/rules/config");
    private static final Pattern RECORD =
            Pattern.compile("/\\*\\*((?:(?!\\*/).)*)\\*/(?:\\s*@[^\n]*)*\\s*(?:public )?record (\\w+)", Pattern.DOTALL);
    private static final Pattern PARAM = Pattern.compile("@param (\\w+) ([^@]*)");

    private RecordJavadoc() {}

    /** The descriptions in a file, such as {@code PolicyProperties.java}, by record and component: {@code Plan.limit}. */
    static Map<String, String> of(String file) throws IOException {
        Map<String, String> described = new TreeMap<>();
        RECORD.matcher(Files.readString(SOURCES.resolve(file)))
                .results()
                .forEach(type -> PARAM.matcher(type.group(1).replaceAll("\\s*\\n\\s*\\*\\s*", " "))
                        .results()
                        .forEach(param -> described.put(
                                type.group(2) + "." + param.group(1),
                                param.group(2).strip())));
        return described;
    }

    /** The default of a component; {@code null} if it has none, or an empty one. */
    static @Nullable String defaultOf(RecordComponent component) {
        RecordComponent[] components = component.getDeclaringRecord().getRecordComponents();
        for (Constructor<?> constructor : component.getDeclaringRecord().getDeclaredConstructors()) {
            for (int i = 0; i < components.length && constructor.getParameterCount() == components.length; i++) {
                DefaultValue value = constructor.getParameters()[i].getAnnotation(DefaultValue.class);
                if (components[i].getName().equals(component.getName())) {
                    return value != null && value.value().length == 1 ? value.value()[0] : null;
                }
            }
        }
        throw new IllegalArgumentException(component.toString());
    }
}
