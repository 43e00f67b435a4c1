package dev.ratelimit.spring.boot.openapi;

import dev.ratelimit.Policy;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.RequestFacts;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;

/**
 * Adds the refusal, with {@code Retry-After} and the limits, to each operation that a policy applies to. The policies are
 * those of an anonymous request without headers, so one whose condition needs a header is not listed. An operation that
 * describes the status itself remains as it is.
 */
public final class OpenApiLimits implements GlobalOpenApiCustomizer {

    /** An address for documentation (RFC 5737), which nobody exempts. */
    private static final String SOMEBODY = "192.0.2.1";

    private final RequestRules rules;
    private final RequestExplainer explainer;

    public OpenApiLimits(RequestRules rules, RequestExplainer explainer) {
        this.rules = rules;
        this.explainer = explainer;
    }

    @Override
    public void customise(OpenAPI api) {
        if (api.getPaths() != null) {
            api.getPaths()
                    .forEach((path, item) -> item.readOperationsMap()
                            .forEach((method, operation) -> describe(operation, limits(method.name(), path))));
        }
    }

    /** Adds each status of a refusal, and its limits. */
    private static void describe(Operation operation, Map<String, String> limits) {
        limits.forEach((status, text) -> describe(operation, status, text));
    }

    private static void describe(Operation operation, String status, String limits) {
        if (operation.getResponses() == null) {
            operation.setResponses(new ApiResponses());
        }
        operation
                .getResponses()
                .computeIfAbsent(
                        status,
                        missing -> new ApiResponse()
                                .description("Too many requests. Limits: " + limits)
                                .addHeaderObject(
                                        "Retry-After",
                                        new Header()
                                                .description("Seconds until the request would be admitted")
                                                .schema(new IntegerSchema())));
    }

    /** The limits of a path such as {@code /orders/{id}}, by status; a variable may have any value. */
    private Map<String, String> limits(String method, String path) {
        RequestFacts facts = new RequestFacts(method, path.replaceAll("\\{[^}]*}", "1"), SOMEBODY, List.of());
        RulesInForce now = rules.inForce();
        return policies(explainer.explain(facts, null, false))
                .filter(name -> now.mode(name) == Mode.ENFORCE)
                .map(now::rule)
                .collect(Collectors.groupingBy(
                        rule -> Integer.toString(rule.format().status()),
                        TreeMap::new,
                        Collectors.mapping(rule -> describe(rule.policy()), Collectors.joining("; "))));
    }

    private static Stream<String> policies(Map<String, Object> explanation) {
        return explanation.get("policies") instanceof List<?> steps
                ? steps.stream()
                        .map(Map.class::cast)
                        .filter(step -> !"exempt".equals(step.get("outcome")))
                        .map(step -> String.valueOf(step.get("policy")))
                : Stream.of();
    }

    private static String describe(Policy policy) {
        return policy.name() + " "
                + policy.limits().stream().map(Object::toString).collect(Collectors.joining(", "));
    }
}
