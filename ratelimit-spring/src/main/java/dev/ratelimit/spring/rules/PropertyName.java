package dev.ratelimit.spring.rules;

import java.util.Locale;

/** The names of constants as properties and responses show them: {@code SLIDING_LOG} is {@code sliding-log}. */
final class PropertyName {

    private PropertyName() {}

    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
