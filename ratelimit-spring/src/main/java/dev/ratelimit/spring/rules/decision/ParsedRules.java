package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.MethodRules;
import dev.ratelimit.spring.rules.config.PolicyRules;
import dev.ratelimit.spring.rules.key.Credentials;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.EndpointRules;
import dev.ratelimit.spring.rules.rule.Rule;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The configuration and the annotations as rules.
 *
 * @param byEndpoint the annotations, by endpoint
 * @param byMethod the annotations, by method
 */
record ParsedRules(
        PolicyRules configured,
        AnnotatedRules annotated,
        Map<Endpoint, EndpointRules> byEndpoint,
        MethodRules byMethod) {

    /**
     * A handler whose annotations concern its endpoint.
     *
     * @param endpoint where requests to it lead
     * @param type the class of the handler
     * @param method the method that handles requests
     */
    record Handler(Endpoint endpoint, Class<?> type, Method method) {}

    ParsedRules(PolicyRules configured, AnnotatedRules annotated) {
        this(configured, annotated, new HashMap<>(), new MethodRules(annotated));
    }

    void add(Handler handler) {
        EndpointRules rules = byMethod.addHandler(handler.type(), handler.method());
        if (!rules.areNone()) {
            byEndpoint.put(handler.endpoint(), rules);
        }
    }

    RulesInForce inForce(EndpointResolver endpoints) {
        RequestContext.Sources sources = configured.sources(endpoints);
        Map<String, Rule> byPolicy = Stream.of(configured.all(), annotated.off(), annotated.all())
                .flatMap(List::stream)
                // an endpoint's own cost is all that differs between rules of the same policy
                .collect(Collectors.toUnmodifiableMap(rule -> rule.policy().name(), rule -> rule, (a, b) -> a));
        // a preflight must not be charged by some rules only, so a change of the mode changes nothing here
        List<KeyPart> parts = byPolicy.values().stream()
                .flatMap(rule -> rule.key().parts().stream())
                .toList();
        Map<Endpoint, EndpointRules> withConfigured = new HashMap<>(byEndpoint);
        withConfigured.replaceAll((endpoint, own) -> own.with(configured.rules()));
        EndpointRules anywhere = EndpointRules.NONE.with(configured.rules());
        return new RulesInForce(
                anywhere,
                byPolicy,
                byPolicy.keySet().stream().collect(Collectors.toUnmodifiableMap(name -> name, this::modeOf)),
                configured.changes(),
                Map.copyOf(withConfigured),
                RulesInForce.stages(anywhere, withConfigured.values(), configured.exemptions(), sources),
                RulesInForce.NamedRules.of(configured.named()),
                byMethod,
                configured.exemptions(),
                new Credentials(parts),
                sources,
                Map.of());
    }

    private Mode modeOf(String policy) {
        Mode inline = annotated.modeOf(policy);
        return inline == null ? Objects.requireNonNullElse(configured.modeOf(policy), Mode.ENFORCE) : inline;
    }

    /** The policies that only calls of methods charge, which handle no requests. */
    Set<String> chargedAtCallsOnly() {
        Set<String> names = byMethod.ofBeans().stream()
                .flatMap(called -> called.rules().stream())
                .map(rule -> rule.policy().name())
                .collect(Collectors.toSet());
        byEndpoint.values().stream()
                .flatMap(own -> Stream.concat(own.rules().stream(), own.call().stream()))
                .forEach(rule -> names.remove(rule.policy().name()));
        return names;
    }

    /** The rules that are off everywhere. */
    Stream<Rule> off() {
        return Stream.concat(configured.off(), annotated.inlineOff());
    }

    /** The rules that are not off. */
    List<Rule> active() {
        List<Rule> active = new ArrayList<>(annotated.inline());
        active.addAll(configured.rules());
        return active;
    }
}
