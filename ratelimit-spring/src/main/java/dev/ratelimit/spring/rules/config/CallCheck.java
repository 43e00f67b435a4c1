package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.expression.ExpressionVariables;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.WatchedResults;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.StringValueResolver;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;

/**
 * Finds what has no effect, or another one than it seems, on a method that handles no requests.
 *
 * @param type the class of the bean
 * @param method its method
 */
public record CallCheck(Class<?> type, Method method) {

    /** A variable of an expression that is none of a request's. */
    private static final Pattern ARGUMENT = Pattern.compile("#(?!(request|principal|ip|this|root)\\b)\\w");

    /** Results whose work goes on, or has not begun, when a method returns them. */
    private static final List<Class<?>> RESULTS_TO_COME = List.of(
            Future.class,
            Callable.class,
            BaseStream.class,
            Flow.Publisher.class,
            DeferredResult.class,
            WebAsyncTask.class);

    /**
     * Whether a handler may have limits that can only be charged when it is called. In doubt, it does.
     *
     * @param placeholders resolves placeholders in the attributes of annotations
     */
    public static boolean mayNeedCall(
            Class<?> type, Method handler, StringValueResolver placeholders, RateLimitProperties properties) {
        return AnnotatedRules.annotations(type, handler).stream().anyMatch(annotation -> {
            PolicyProperties policy = properties.policies().get(placeholders.resolveStringValue(annotation.policy()));
            return !annotation.fallback().isEmpty()
                    || Stream.concat(
                                    Stream.of(annotation.key(), annotation.cost()),
                                    policy == null ? Stream.empty() : policy.key().stream())
                            .map(placeholders::resolveStringValue)
                            .anyMatch(text ->
                                    text != null && ARGUMENT.matcher(text).find());
        });
    }

    /**
     * Checks the annotations of the method.
     *
     * @param results those that tell when their work ends
     * @throws RateLimitConfigurationException at the first mistake
     */
    void check(List<RateLimited> annotations, List<Rule> rules, Parameters parameters, WatchedResults results) {
        if (KotlinDetector.isSuspendingFunction(method)) {
            throw mistake(
                    "calls of a function that suspends cannot be limited, as it goes on elsewhere after it has returned;"
                            + " limit the handler that calls it, or let it return a Mono");
        }
        for (Rule rule : rules) {
            if (rule.free() != null) {
                throw mistake("policy " + Quotation.of(rule.policy().name())
                        + " has count or free, but a call of this method has no status; use a policy without them");
            }
            if (!rule.onExceeded().rejects()) {
                throw cannotWait(rule, "a call of this method cannot wait without its thread");
            }
            if (rule.holds() && goesOnUnseen(results)) {
                throw mistake("policy " + Quotation.of(rule.policy().name())
                        + " limits concurrency, but the method's work goes on after it has returned, and its result says"
                        + " nothing about when it ends; return a CompletionStage, or use a rate");
            }
            if (rule.key().parts().stream().anyMatch(part -> part.toString().startsWith("path:"))) {
                throw mistake("the key " + rule.key()
                        + " has a path variable, but this method handles no requests; use a parameter of the method");
            }
        }
        ExpressionVariables.TYPES.keySet().stream()
                .filter(parameters::include)
                .filter(name -> annotations.stream()
                        .anyMatch(annotation -> uses(annotation.key(), name) || uses(annotation.cost(), name)))
                .findFirst()
                .ifPresent(name -> {
                    throw mistake("#" + name + " is that of the current request, and this method has a parameter of the"
                            + " same name; write #a0 for the first parameter, or rename it");
                });
    }

    /** Checks the rules that are charged when the method, a handler, is called. */
    void checkAtCall(List<Rule> rules) {
        for (Rule rule : rules) {
            if (!rule.onExceeded().rejects()) {
                throw cannotWait(
                        rule,
                        "it is charged when this method is called, because of its arguments or its fallback, and a"
                                + " request cannot wait any more then");
            }
        }
    }

    private RateLimitConfigurationException cannotWait(Rule rule, String why) {
        return mistake("policy " + Quotation.of(rule.policy().name()) + " has on-exceeded.action: "
                + PropertyName.of(rule.onExceeded().action()) + ", but " + why
                + "; use a policy without on-exceeded");
    }

    /**
     * Whether the work ends after the method has returned, and nothing tells when: that of a Mono begins only when
     * somebody subscribes, and that of an asynchronous method when its thread comes to it.
     */
    private boolean goesOnUnseen(WatchedResults results) {
        Class<?> result = method.getReturnType();
        if (CompletionStage.class.isAssignableFrom(result) || results.include(result)) {
            return false;
        }
        return AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(type, Async.class)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(result) != null
                || RESULTS_TO_COME.stream().anyMatch(later -> later.isAssignableFrom(result));
    }

    private static boolean uses(String expression, String variable) {
        return Pattern.compile("#" + variable + "\\b").matcher(expression).find();
    }

    private RateLimitConfigurationException mistake(String reason) {
        return AnnotatedRules.mistake(type, method, reason);
    }
}
