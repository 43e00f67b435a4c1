package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.Parameters;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What calls of a method are charged. Immutable.
 *
 * @param rules the rules of its annotations; for a handler of requests, only those that are charged when it is called
 * @param byPolicy the same, by the names of their policies
 * @param parameters the parameters of the method
 * @param fallback the method that is called instead of a refused one; {@code null} if there is none
 * @param endpoint the method as the endpoint of its calls; {@code null} if it handles requests, which have their own
 */
public record CallRules(
        List<Rule> rules,
        Map<String, Rule> byPolicy,
        Parameters parameters,
        @Nullable Fallback fallback,
        @Nullable Endpoint endpoint) {

    /** For methods whose calls are not limited. */
    public static final CallRules NONE = new CallRules(List.of(), Parameters.NONE, null, null);

    public CallRules(
            List<Rule> rules, Parameters parameters, @Nullable Fallback fallback, @Nullable Endpoint endpoint) {
        this(
                List.copyOf(rules),
                rules.stream()
                        .collect(Collectors.toUnmodifiableMap(
                                rule -> rule.policy().name(), Function.identity(), (a, b) -> a)),
                parameters,
                fallback,
                endpoint);
    }

    public boolean areNone() {
        return rules.isEmpty();
    }
}
