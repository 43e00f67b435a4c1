package dev.ratelimit.spring.rules.request;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A condition on requests.
 *
 * @param written the text of the condition
 * @param test whether it holds for a request
 * @param reads what it depends on
 * @param constant its value for every request; {@code null} if it depends on the request
 */
public record Condition(
        String written,
        Predicate<RequestContext> test,
        Reads reads,
        @Nullable Boolean constant) {

    /** Whether it has this value for every request. */
    public boolean isAlways(boolean value) {
        return constant != null && constant == value;
    }

    /** Whether it is unknown before Spring Security has run. */
    public boolean needsPrincipal() {
        return reads.includeCaller();
    }

    /** Whether it reads nothing but what clients choose. */
    public boolean chosenByClients() {
        return constant == null && reads.areChosenByClients();
    }
}
