package dev.ratelimit.spring.web;

import dev.ratelimit.spring.Rule;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.ServletRequestPathUtils;

/** Finds the rules that apply to a request: those of the configuration, and those of the endpoint it leads to. */
public final class RequestRules {

    private final List<Rule> rules;
    private final Endpoints endpoints;

    /**
     * Rules that apply everywhere they match, and the endpoints, which may have more.
     *
     * @param rules the most specific first
     */
    public RequestRules(List<Rule> rules, Endpoints endpoints) {
        this.rules = rules;
        this.endpoints = endpoints;
    }

    AppliedRules applyTo(HttpServletRequest request) {
        PathContainer path = ServletRequestPathUtils.parse(request).pathWithinApplication();
        List<Rule> matching =
                rules.stream().filter(rule -> rule.matches(request, path)).toList();
        boolean look = endpoints.mayHaveRules(path)
                || matching.stream().anyMatch(rule -> rule.key().hasEndpoint());
        Endpoint endpoint = look ? endpoints.find(request) : Endpoint.UNMAPPED;

        AppliedRules applied = new AppliedRules();
        for (Rule rule : endpoint.rules()) {
            applied.add(rule, rule.charge(request, endpoint.id()));
        }
        for (Rule rule : matching) {
            // the endpoint has its own price for a policy that it names
            if (!endpoint.names(rule.policy())) {
                applied.add(rule, rule.charge(request, endpoint.id()));
            }
        }
        return applied;
    }
}
