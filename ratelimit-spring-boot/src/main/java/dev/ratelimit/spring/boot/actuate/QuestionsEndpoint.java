package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.RequestFacts;
import dev.ratelimit.spring.rules.operation.Caller;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The part of the endpoint that answers what becomes of a request, and what all policies say of a caller. */
public record QuestionsEndpoint(RequestExplainer explainer, Callers callers) {

    /** What all policies say of a caller. */
    @FunctionalInterface
    public interface Callers {

        Map<String, Object> report(Caller caller, boolean showKeys);
    }

    /** In place of a policy's name. */
    static final String EXPLAIN = "explain";

    /** In place of a policy's name. */
    static final String CALLER = "caller";

    static final Set<String> EXPLAINED = Set.of("method", "path", "user", "address", "header");

    static final Set<String> CALLING = Set.of("user", "address", "header", "key");

    /** What would become of the request that the parameters describe. */
    Map<String, Object> explain(SentArguments parameters, boolean showKeys) {
        String path = parameters.first("path");
        if (path == null) {
            throw new IllegalArgumentException("explain needs the path of a request; write explain?path=/orders/1");
        }
        RequestFacts facts = new RequestFacts(
                Objects.requireNonNullElse(parameters.first("method"), "GET"),
                path,
                Objects.requireNonNullElse(parameters.first("address"), "127.0.0.1"),
                parameters.all("header"));
        return explainer.explain(facts, parameters.first("user"), showKeys);
    }

    /** What all policies say of the caller that the parameters describe. */
    Map<String, Object> caller(SentArguments parameters, boolean showKeys) {
        return callers.report(
                new Caller(
                        parameters.only("user"),
                        parameters.only("address"),
                        parameters.all("header"),
                        parameters.only("key")),
                showKeys);
    }
}
