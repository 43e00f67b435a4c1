package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.boot.spi.Operator;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.http.HttpHeaders;

/**
 * Refuses requests to the endpoint {@code ratelimits} with anything that it would ignore. Spring Boot makes one map of
 * the path, the body and the query of a request, in which the later ones replace the earlier. Here, only the path names
 * a policy and only the body says what to change, so that whoever controls access by paths sees what is changed.
 */
public final class EndpointArguments implements OperationInvokerAdvisor {

    /** How many unknown names an answer lists. */
    private static final int MAX_NAMED = 10;

    private static final EndpointId ENDPOINT = EndpointId.of(RateLimitsEndpoint.ID);

    /** Spring Security adds it to the address to which it returns after a login. */
    private static final String AFTER_LOGIN = "continue";

    /** Of the answers, which contain names and addresses of callers. */
    public static final Map<String, String> HEADERS = Map.of(
            HttpHeaders.CACHE_CONTROL, "no-store", "X-Frame-Options", "DENY", "X-Content-Type-Options", "nosniff");

    /** The name of a header that other filters may send, too. */
    public static final String CSP = "Content-Security-Policy";

    /** Its value: the page has buttons that change limits. */
    public static final String FRAMES = "frame-ancestors 'none'";

    /** What is wrong with a change that has a query. */
    public static final String QUERY = "a change has no parameters in the query; write its fields as JSON in the body";

    private final Operator operator;
    private final Supplier<RateLimitsEndpoint> endpoint;

    /**
     * Creates the guard.
     *
     * @param endpoint what it guards, obtained at the first request
     */
    public EndpointArguments(Operator operator, Supplier<RateLimitsEndpoint> endpoint) {
        this.operator = operator;
        this.endpoint = endpoint;
    }

    @Override
    public OperationInvoker apply(
            EndpointId id, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
        if (!id.equals(ENDPOINT)) {
            return invoker;
        }
        return context -> operator.run(securityOf(context).getPrincipal(), () -> invoke(type, invoker, context));
    }

    private @Nullable Object invoke(OperationType type, OperationInvoker invoker, InvocationContext context) {
        keepPrivate();
        Map<String, Object> arguments = context.getArguments();
        String mistake = mistake(type, arguments);
        if (mistake != null) {
            return RateLimitsEndpoint.mistake(mistake);
        }
        String name = RateLimitsEndpoint.nameOf(arguments.get(RateLimitsEndpoint.POLICY));
        if (name == null || type == OperationType.DELETE) {
            return invoker.invoke(context);
        }
        SentArguments sent = new SentArguments(arguments);
        return type == OperationType.READ
                ? endpoint.get().read(securityOf(context), name, sent)
                : endpoint.get().write(securityOf(context), name, sent);
    }

    private static SecurityContext securityOf(InvocationContext context) {
        return Objects.requireNonNullElse(context.resolveArgument(SecurityContext.class), SecurityContext.NONE);
    }

    private @Nullable String mistake(OperationType type, Map<String, Object> arguments) {
        Object path = arguments.get(RateLimitsEndpoint.POLICY);
        if (path != null && !(path instanceof String[])) {
            return "there is no field '" + RateLimitsEndpoint.POLICY + "': the path names the policy";
        }
        if (type == OperationType.WRITE && operator.sentQuery()) {
            return QUERY;
        }
        String name = RateLimitsEndpoint.nameOf(path);
        if (type == OperationType.READ && RateLimitsEndpoint.PAGE.equals(name)) {
            return null;
        }
        Set<String> known = new TreeSet<>(
                switch (type) {
                    case READ -> RateLimitsEndpoint.parametersOf(name);
                    case WRITE -> RateLimitsEndpoint.fieldsOf(name);
                    case DELETE -> deletable(name);
                });
        known.remove(RateLimitsEndpoint.POLICY);
        Set<String> unknown = new TreeSet<>(arguments.keySet());
        unknown.removeAll(known);
        unknown.remove(RateLimitsEndpoint.POLICY);
        unknown.remove(type == OperationType.READ ? AFTER_LOGIN : "");
        String fixed = type == OperationType.WRITE && known.containsAll(WrittenChange.FIELDS)
                ? unknown.stream()
                        .map(WrittenChange::whyFixed)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null)
                : null;
        if (unknown.isEmpty()) {
            return type == OperationType.WRITE ? nullField(arguments) : null;
        }
        return fixed != null
                ? fixed
                : "there is no " + (type == OperationType.WRITE ? "field " : "parameter ") + quoted(unknown)
                        + (known.isEmpty() ? "" : "; write " + String.join(", ", known));
    }

    /** Only overrides have a version of their own. */
    private static Set<String> deletable(@Nullable String name) {
        if (TrialsEndpoint.policyOf(name) != null) {
            return Set.of();
        }
        return OverridesEndpoint.policyOf(name) == null ? Set.of("key") : Set.of("key", "version");
    }

    /** A script whose variable is empty must not make a change without an end of one that was to have one. */
    private static @Nullable String nullField(Map<String, Object> arguments) {
        return arguments.entrySet().stream()
                .filter(argument -> argument.getValue() == null)
                .map(argument -> argument.getKey() + " must not be null; write a value, or leave it out")
                .findFirst()
                .orElse(null);
    }

    /** Answers contain names and addresses of callers, and the page has buttons that change limits. */
    private void keepPrivate() {
        HEADERS.forEach(operator::setHeader);
        operator.addHeader(CSP, FRAMES);
    }

    private static String quoted(Collection<String> names) {
        return names.stream().limit(MAX_NAMED).map(Quotation::of).collect(Collectors.joining(", "));
    }
}
