package dev.ratelimit.spring.boot.actuate;

import jakarta.servlet.http.HttpServletResponse;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.http.HttpHeaders;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Refuses requests to the endpoint {@code ratelimits} with anything that it would ignore. Spring Boot makes one map of
 * the path, the body and the query of a request, in which the later ones replace the earlier. Here, only the path names
 * a policy and only the body says what to change, so that whoever controls access by paths sees what is changed.
 */
public final class EndpointArguments implements OperationInvokerAdvisor {

    private static final EndpointId ENDPOINT = EndpointId.of(RateLimitsEndpoint.ID);

    /** Spring Security adds it to the address to which it returns after a login. */
    private static final String AFTER_LOGIN = "continue";

    @Override
    public OperationInvoker apply(
            EndpointId endpoint, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
        if (!endpoint.equals(ENDPOINT)) {
            return invoker;
        }
        Set<String> declared = StreamSupport.stream(parameters.spliterator(), false)
                .map(OperationParameter::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        return context -> {
            keepPrivate();
            String mistake = mistake(type, declared, context.getArguments());
            return mistake == null ? invoker.invoke(context) : RateLimitsEndpoint.mistake(mistake);
        };
    }

    private static @Nullable String mistake(OperationType type, Set<String> declared, Map<String, Object> arguments) {
        Object path = arguments.get(RateLimitsEndpoint.POLICY);
        if (path != null && !(path instanceof String[])) {
            return "there is no field '" + RateLimitsEndpoint.POLICY + "': the path names the policy";
        }
        if (type == OperationType.WRITE && hasQuery()) {
            return "a change has no parameters in the query; write its fields as JSON in the body";
        }
        String name = RateLimitsEndpoint.nameOf(path);
        if (type == OperationType.READ && RateLimitsEndpoint.PAGE.equals(name)) {
            return null;
        }
        Set<String> known =
                new TreeSet<>(type == OperationType.READ ? RateLimitsEndpoint.parametersOf(name) : declared);
        known.remove(RateLimitsEndpoint.POLICY);
        Set<String> unknown = new TreeSet<>(arguments.keySet());
        unknown.removeAll(known);
        unknown.remove(RateLimitsEndpoint.POLICY);
        unknown.remove(type == OperationType.READ ? AFTER_LOGIN : "");
        return unknown.isEmpty()
                ? null
                : "there is no " + (type == OperationType.WRITE ? "field " : "parameter ") + quoted(unknown)
                        + (known.isEmpty() ? "" : "; write " + String.join(", ", known));
    }

    private static boolean hasQuery() {
        String query = RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current
                ? current.getRequest().getQueryString()
                : null;
        return query != null && !query.isEmpty();
    }

    /** Answers contain names and addresses of callers, and the page has buttons that change limits. */
    private static void keepPrivate() {
        HttpServletResponse response =
                RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current
                        ? current.getResponse()
                        : null;
        if (response != null) {
            response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
            response.addHeader("Content-Security-Policy", "frame-ancestors 'none'");
            response.setHeader("X-Frame-Options", "DENY");
            response.setHeader("X-Content-Type-Options", "nosniff");
        }
    }

    private static String quoted(Collection<String> names) {
        return names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "));
    }
}
