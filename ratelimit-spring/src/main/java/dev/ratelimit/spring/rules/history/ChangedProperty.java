package dev.ratelimit.spring.rules.history;

import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.Instant;

/**
 * A property of a policy whose value in force is that of an operator.
 *
 * @param policy the name of the policy
 * @param name the property; that of a plan has the name of the plan after a dot
 */
public record ChangedProperty(String policy, String name, ChangedValue value) {

    /** The value for people. */
    String shown() {
        return switch (name) {
            case "penalty", "max-wait" -> {
                Duration time = Duration.parse(value.to());
                yield time.isZero() ? "none" : Rate.notation(time);
            }
            default -> value.to();
        };
    }

    Instant since() {
        return ChangedValue.instant(value.since());
    }
}
