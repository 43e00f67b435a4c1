package dev.ratelimit.spring.rules.text;

import java.util.Locale;

/** The names of constants as properties and responses show them: {@code SLIDING_LOG} is {@code sliding-log}. */
public final class PropertyName {

    private PropertyName() {}

    public static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
