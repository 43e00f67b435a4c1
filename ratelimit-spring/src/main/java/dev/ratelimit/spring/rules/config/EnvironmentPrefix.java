package dev.ratelimit.spring.rules.config;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertySource;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The prefix of environment variables that an application has set, in each version of Spring Boot. */
public final class EnvironmentPrefix {

    /** The types of sources that know it: in Spring Boot 4 and, with the same method, before. */
    static final List<String> TYPES =
            List.of("org.springframework.boot.env.PropertySourceInfo", "org.springframework.boot.origin.OriginLookup");

    private static final List<Method> GETTERS =
            TYPES.stream().flatMap(type -> Stream.ofNullable(getter(type))).toList();

    private EnvironmentPrefix() {}

    private static @Nullable Method getter(String type) {
        ClassLoader loader = EnvironmentPrefix.class.getClassLoader();
        return ClassUtils.isPresent(type, loader)
                ? ClassUtils.getMethodIfAvailable(ClassUtils.resolveClassName(type, loader), "getPrefix")
                : null;
    }

    /** What the names of the variables in this source begin with; {@code null} if no prefix is set. */
    public static @Nullable String of(PropertySource<?> source) {
        return GETTERS.stream()
                .filter(getter -> getter.getDeclaringClass().isInstance(source))
                .map(getter -> (String) ReflectionUtils.invokeMethod(getter, source))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
