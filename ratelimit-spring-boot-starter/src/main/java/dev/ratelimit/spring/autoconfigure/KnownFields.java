package dev.ratelimit.spring.autoconfigure;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;

/** Refuses changes with fields that the endpoint {@code ratelimits} does not have, and that would be ignored. */
final class KnownFields implements OperationInvokerAdvisor {

    private static final EndpointId ENDPOINT = EndpointId.of(RateLimitsEndpoint.ID);

    @Override
    public OperationInvoker apply(
            EndpointId endpoint, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
        if (!endpoint.equals(ENDPOINT) || type == OperationType.READ) {
            return invoker;
        }
        List<String> known = StreamSupport.stream(parameters.spliterator(), false)
                .map(OperationParameter::getName)
                .toList();
        return context -> {
            Set<String> unknown = new TreeSet<>(context.getArguments().keySet());
            unknown.removeAll(known);
            return unknown.isEmpty()
                    ? invoker.invoke(context)
                    : RateLimitsEndpoint.mistake("there is no field " + quoted(unknown) + "; write "
                            + known.stream()
                                    .filter(name -> !name.equals(RateLimitsEndpoint.POLICY))
                                    .collect(Collectors.joining(", ")));
        };
    }

    private static String quoted(Collection<String> names) {
        return names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "));
    }
}
