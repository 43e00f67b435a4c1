package dev.ratelimit.spring.web;

import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.ClientAddress;
import dev.ratelimit.spring.Exemptions;
import dev.ratelimit.spring.KeyEncoder;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.Stage;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.http.HttpHeaders;

/** Finds the rules that apply to a request: those of the configuration, and those of the endpoint it leads to. */
public final class RequestRules {

    private final List<Rule> rules;
    private final Endpoints endpoints;
    private final Exemptions exemptions;
    private final ClientAddress clientAddress;
    private final Supplier<KeyEncoder> keys;

    /**
     * Rules that apply everywhere they match, and the endpoints, which may have more.
     *
     * @param rules the most specific first
     * @param keys writes the keys of one request
     */
    public RequestRules(
            List<Rule> rules,
            Endpoints endpoints,
            Exemptions exemptions,
            ClientAddress clientAddress,
            Supplier<KeyEncoder> keys) {
        this.rules = List.copyOf(rules);
        this.endpoints = endpoints;
        this.exemptions = exemptions;
        this.clientAddress = clientAddress;
        this.keys = keys;
    }

    /** The request as the rules see it. */
    Call call(HttpServletRequest request) {
        return new Call(request, endpoints.pathOf(request), endpoints.readPathOf(request), clientAddress, keys);
    }

    /** The rules of this stage that apply; {@link Stage#AUTO} stands for all. */
    AppliedRules applyTo(Passage passage, Stage stage) {
        Call call = passage.call();
        List<Rule> matching = new ArrayList<>(4);
        boolean look = endpoints.mayHaveRules(call.path());
        for (Rule rule : rules) {
            if (isOf(rule, stage) && rule.match().matches(call)) {
                matching.add(rule);
                look |= rule.key().needsEndpoint();
            }
        }
        Endpoint endpoint = look ? passage.endpoint(endpoints) : Endpoint.UNMAPPED;

        boolean exempt = isExempt(endpoint, call, stage);
        AppliedRules applied = new AppliedRules(exempt);
        for (Rule rule : endpoint.rules()) {
            if (isOf(rule, stage) && rule.match().holds(call)) {
                apply(rule, exempt, call, applied);
            }
        }
        for (Rule rule : matching) {
            // the endpoint has its own price for a policy that it names
            if (!endpoint.names(rule.policy())) {
                apply(rule, exempt, call, applied);
            }
        }
        return applied;
    }

    /**
     * Whether no rule applies. Before security that is not believed of a place: passwords can be tried at any. Who is let in
     * there gets back what was charged.
     */
    private boolean isExempt(Endpoint endpoint, Call call, Stage stage) {
        boolean last = stage != Stage.BEFORE_SECURITY;
        boolean place = endpoint.exempt() || exemptions.includePath(call);
        return (place && (last || call.request().getHeader(HttpHeaders.AUTHORIZATION) == null))
                || exemptions.include(call, last);
    }

    private static void apply(Rule rule, boolean exempt, Call call, AppliedRules applied) {
        if (exempt) {
            applied.addExempt(rule);
        } else {
            applied.add(rule, call);
        }
    }

    private static boolean isOf(Rule rule, Stage stage) {
        return stage == Stage.AUTO || rule.stage() == stage;
    }
}
