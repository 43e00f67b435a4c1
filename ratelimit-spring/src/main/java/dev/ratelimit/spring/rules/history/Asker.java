package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Whoever asks for a change at the moment: an operator, or the application itself. Thread-safe. */
public final class Asker {

    /** The application itself, where others have a name. */
    public static final String APPLICATION = "the application";

    private volatile Supplier<@Nullable String> who = () -> null;

    /**
     * From now on, asks this for the name.
     *
     * @param next the name of whoever asks at the moment; {@code null} for the application itself
     */
    public void identify(Supplier<@Nullable String> next) {
        who = next;
    }

    /** The name; {@code null} for the application itself. */
    public @Nullable String name() {
        String name = who.get();
        return name == null ? null : WellFormed.of(name);
    }

    /** The name as it is kept. */
    public String kept() {
        String name = name();
        return name == null ? APPLICATION : name;
    }

    /** The name as it is logged. */
    public String logged() {
        String name = name();
        return name == null ? APPLICATION : Quotation.of(name);
    }
}
