package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.rule.CallRules;
import dev.ratelimit.spring.rules.rule.EndpointRules;
import dev.ratelimit.spring.rules.rule.Fallback;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.MethodNames;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodClassKey;

/** What calls of methods are charged. Annotations are read at the start, or else at the first call. Thread-safe. */
public final class MethodRules {

    private final AnnotatedRules annotated;
    private final Map<MethodClassKey, CallRules> byMethod = new ConcurrentHashMap<>();

    public MethodRules(AnnotatedRules annotated) {
        this.annotated = annotated;
    }

    /** The rules for calls of a method. */
    public CallRules of(Class<?> type, Method method) {
        return byMethod.computeIfAbsent(new MethodClassKey(method, type), key -> ofBean(type, method));
    }

    /** What calls of methods that handle no requests are charged, as far as it has been read. */
    public List<CallRules> ofBeans() {
        return byMethod.values().stream()
                .filter(called -> called.endpoint() != null)
                .toList();
    }

    /** What calls of all methods are charged, as far as it has been read. */
    public Collection<CallRules> all() {
        return byMethod.values();
    }

    private CallRules ofBean(Class<?> type, Method method) {
        if (AnnotatedRules.exempt(type, method) || !AnnotatedRules.mayLimitCallsOf(type, method)) {
            return CallRules.NONE;
        }
        List<Rule> rules = annotated.of(type, method);
        Parameters parameters = Parameters.of(type, method);
        new CallCheck(type, method)
                .check(AnnotatedRules.annotations(type, method), rules, parameters, annotated.results());
        String id = type.getName() + "." + method.getName() + MethodNames.parameters(method, Class::getName);
        return new CallRules(rules, parameters, fallback(type, method), Endpoint.ofMethod(id));
    }

    /**
     * Reads the annotations of a method that handles requests. Rules that depend on its arguments are charged when it is
     * called; with a fallback, which is called with the arguments, all of them are.
     */
    public EndpointRules addHandler(Class<?> type, Method method) {
        List<Rule> rules = annotated.of(type, method);
        Fallback fallback = fallback(type, method);
        Map<Boolean, List<Rule>> atCall =
                rules.stream().collect(Collectors.partitioningBy(rule -> fallback != null || rule.needsArguments()));
        List<Rule> before = Objects.requireNonNull(atCall.get(false));
        List<Rule> call = Objects.requireNonNull(atCall.get(true));
        new CallCheck(type, method).checkAtCall(call);
        CallRules called =
                call.isEmpty() ? CallRules.NONE : new CallRules(call, Parameters.of(type, method), fallback, null);
        byMethod.put(new MethodClassKey(method, type), called);
        return new EndpointRules(before, call, AnnotatedRules.exempt(type, method));
    }

    /** The only fallback of the annotations, which are charged together. */
    private @Nullable Fallback fallback(Class<?> type, Method method) {
        List<String> names = AnnotatedRules.annotations(type, method).stream()
                .filter(annotation -> annotation.mode() != Mode.OFF)
                .map(annotation -> annotated.resolved(annotation.fallback()))
                .filter(name -> !name.isBlank())
                .distinct()
                .toList();
        try {
            if (names.size() > 1) {
                throw new IllegalArgumentException("the fallbacks " + names
                        + " differ, but the limits of a method are charged together; write the same one");
            }
            return names.isEmpty() ? null : Fallback.of(type, method, names.get(0));
        } catch (IllegalArgumentException e) {
            throw AnnotatedRules.mistake(type, method, String.valueOf(e.getMessage()));
        }
    }
}
