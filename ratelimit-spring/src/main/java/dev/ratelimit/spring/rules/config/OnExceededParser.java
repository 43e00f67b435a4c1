package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.rule.OnExceeded;
import dev.ratelimit.spring.rules.rule.OnExceeded.Action;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads what happens to requests that a policy refuses; a mistake is reported with its property. */
final class OnExceededParser {

    private static final Duration MAX_TIME = Duration.ofHours(1);
    private static final int MAX_REQUESTS = 1_000_000;

    private final Section section;
    private final PolicyProperties.OnExceeded written;
    private final boolean penalty;

    /**
     * Creates a parser.
     *
     * @param penalty whether the policy has one
     */
    OnExceededParser(Section section, PolicyProperties.OnExceeded written, boolean penalty) {
        this.section = section;
        this.written = written;
        this.penalty = penalty;
    }

    /**
     * Reads the properties.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    OnExceeded parse() {
        belongsTo(Action.WAIT, "max-wait", written.maxWait());
        belongsTo(Action.WAIT, "queue", written.queue());
        belongsTo(Action.WAIT, "order", written.order());
        belongsTo(Action.DELAY, "delay", written.delay());
        belongsTo(Action.DELAY, "delayed", written.delayed());
        if (written.action() == Action.WAIT && penalty) {
            throw section.mistake(
                    "action",
                    "wait",
                    "requests cannot wait for a policy with a penalty, which begins with the first refusal;"
                            + " leave penalty out, or write action: delay");
        }
        OnExceeded defaults = OnExceeded.REJECT;
        if (written.action() == Action.REJECT) {
            return defaults;
        }
        return new OnExceeded(
                written.action(),
                time("max-wait", written.maxWait(), defaults.maxWait()),
                requests("queue", written.queue(), defaults.queue()),
                Objects.requireNonNullElse(written.order(), defaults.order()),
                time("delay", written.delay(), defaults.delay()),
                requests("delayed", written.delayed(), defaults.delayed()));
    }

    private void belongsTo(Action action, String property, @Nullable Object value) {
        if (value != null && written.action() != action) {
            String needed = PropertyName.of(action);
            String other = PropertyName.of(written.action());
            throw section.mistake(
                    property,
                    value instanceof Enum<?> choice ? PropertyName.of(choice) : value,
                    property + " belongs to action: " + needed + ", but the action is " + other
                            + "; write on-exceeded.action: " + needed + ", or leave " + property + " out");
        }
    }

    private Duration time(String property, @Nullable Duration value, Duration otherwise) {
        if (value != null && (value.isNegative() || value.isZero() || value.compareTo(MAX_TIME) > 0)) {
            throw section.mistake(property, value, property + " must be above 0 and at most 1h; write 1s");
        }
        return value == null ? otherwise : value;
    }

    private int requests(String property, @Nullable Integer value, int otherwise) {
        if (value != null && (value < 1 || value > MAX_REQUESTS)) {
            throw section.mistake(
                    property, value, property + " must be from 1 to 1000000 requests but was " + value + "; write 100");
        }
        return value == null ? otherwise : value;
    }
}
