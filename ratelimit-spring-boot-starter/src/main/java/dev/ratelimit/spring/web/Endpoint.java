package dev.ratelimit.spring.web;

import dev.ratelimit.Policy;
import dev.ratelimit.spring.Rule;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Where requests lead: methods and path pattern of a handler, whatever the paths that lead there.
 *
 * @param id {@code GET /orders/{id}}
 * @param pattern of the path; {@code null} where there is none
 * @param rules those of its annotations
 * @param exempt whether no rule applies to it
 */
record Endpoint(String id, @Nullable PathPattern pattern, List<Rule> rules, boolean exempt) {

    /** All that leads nowhere, static files included. */
    static final Endpoint UNMAPPED = new Endpoint("unmapped", null, List.of(), false);

    boolean names(Policy policy) {
        for (Rule rule : rules) {
            if (rule.policy().name().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }

    /** Whether it is for requests of this method. */
    boolean isFor(String method) {
        return List.of(id.substring(0, id.indexOf(' ')).split(",", -1)).contains(method);
    }

    /** The pattern, for comparison. */
    PathPattern specificity() {
        return Objects.requireNonNull(pattern);
    }

    /** The values of the variables in the path. */
    Map<String, String> variables(PathContainer path) {
        PathPattern.PathMatchInfo match = pattern == null ? null : pattern.matchAndExtract(path);
        return match == null ? Map.of() : match.getUriVariables();
    }
}
