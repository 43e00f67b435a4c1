package dev.ratelimit.spring.web;

import dev.ratelimit.Policy;
import dev.ratelimit.spring.Rule;
import java.util.List;

/**
 * Where requests lead: methods and path pattern of a handler, whatever the paths that lead there.
 *
 * @param id {@code GET /orders/{id}}
 * @param rules those of its annotations
 */
record Endpoint(String id, List<Rule> rules) {

    /** All that leads nowhere, static files included. */
    static final Endpoint UNMAPPED = new Endpoint("unmapped", List.of());

    boolean names(Policy policy) {
        for (Rule rule : rules) {
            if (rule.policy().name().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }
}
