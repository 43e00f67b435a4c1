package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.ReflectionUtils;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;

/** Writes policies as they are configured under {@code ratelimit.policies}; what has its default value is left out. */
final class PolicyYaml {

    private static final PolicyProperties DEFAULTS = new Binder().bindOrCreate("policy", PolicyProperties.class);

    /** A key of a map with other characters is kept by Spring Boot in brackets only. */
    private static final Pattern NAME = Pattern.compile("[a-z0-9-]+");

    private PolicyYaml() {}

    /**
     * Writes the policies, if there are any, after comments.
     *
     * @param showKeys whether to write overrides; without them, a comment says that they are missing
     */
    static String of(Map<String, PolicyProperties> policies, boolean showKeys, List<String> comments) {
        List<String> lines = new ArrayList<>(comments);
        Map<String, Object> written = new LinkedHashMap<>();
        policies.forEach((name, policy) -> {
            Map<String, Object> properties = properties(policy, DEFAULTS);
            if (!showKeys && properties.remove("overrides") != null) {
                lines.add(name
                        + ": overrides are hidden because of management.endpoint.ratelimits.show-keys; keep those of"
                        + " the configuration");
            }
            written.put(keyOf(name), properties);
        });
        return lines.stream().map(PolicyYaml::comment).collect(Collectors.joining())
                + (written.isEmpty() ? "" : dump(Map.of("ratelimit", Map.of("policies", written))));
    }

    private static String dump(Object yaml) {
        DumperOptions options = new DumperOptions();
        options.setDefaultFlowStyle(DumperOptions.FlowStyle.AUTO);
        options.setSplitLines(false);
        options.setNonPrintableStyle(DumperOptions.NonPrintableStyle.ESCAPE);
        return new Yaml(options).dump(yaml);
    }

    /** On one line, whatever is in it. */
    private static String comment(String text) {
        return "# " + text.replaceAll("\\R|\\p{C}", " ") + "\n";
    }

    private static Map<String, Object> properties(Record written, @Nullable Object defaults) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (RecordComponent component : written.getClass().getRecordComponents()) {
            Object value = ReflectionUtils.invokeMethod(component.getAccessor(), written);
            Object unwritten =
                    defaults == null ? null : ReflectionUtils.invokeMethod(component.getAccessor(), defaults);
            if (value != null && !value.equals(unwritten)) {
                properties.put(DataObjectPropertyName.toDashedForm(component.getName()), yaml(value, unwritten));
            }
        }
        return properties;
    }

    private static Object yaml(Object value, @Nullable Object defaults) {
        if (value instanceof Record group) {
            return properties(group, defaults);
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> entries = new LinkedHashMap<>();
            map.forEach((key, entry) -> entries.put(keyOf(String.valueOf(key)), yaml(entry, null)));
            return entries;
        }
        if (value instanceof List<?> list) {
            // a list of its own: YAML would refer to one that it has written before
            return new ArrayList<>(list);
        }
        if (value instanceof Enum<?> constant) {
            return PropertyName.of(constant);
        }
        return value instanceof Number || value instanceof Boolean ? value : value.toString();
    }

    private static String keyOf(String key) {
        return NAME.matcher(key).matches() ? key : "[" + key + "]";
    }
}
