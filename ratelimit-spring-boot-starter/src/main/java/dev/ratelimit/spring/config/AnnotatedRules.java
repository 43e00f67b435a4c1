package dev.ratelimit.spring.config;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.Allowance;
import dev.ratelimit.spring.MissingKey;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RetryJitter;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleKey;
import dev.ratelimit.spring.RuleMatch;
import dev.ratelimit.spring.Stage;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/** Makes rules of {@link RateLimited} on handler methods and their classes. Not thread-safe. */
public final class AnnotatedRules {

    private static final int MOST_LETTERS = 100;

    private final RuleContext context;
    private final Map<String, Rule> policies;
    private final Set<String> known;
    private final Map<String, Class<?>> holders = new HashMap<>();
    private final Map<String, Method> methods = new HashMap<>();
    private final Set<String> named = new TreeSet<>();

    /**
     * Rules that may name these policies.
     *
     * @param policies the rules of the configuration that are not off
     * @param known the names of all policies of the configuration, also of those that are off
     */
    AnnotatedRules(RuleContext context, List<Rule> policies, Set<String> known) {
        this.context = context;
        this.policies =
                policies.stream().collect(Collectors.toMap(rule -> rule.policy().name(), rule -> rule));
        this.known = new TreeSet<>(known);
    }

    /** The policies that an annotation has named so far. */
    public Set<String> named() {
        return named;
    }

    /** Whether the type or one of its methods is limited, directly or by a meta-annotation. */
    public static boolean anyOn(Class<?> type) {
        MethodFilter annotated = method -> !on(method).isEmpty();
        return !on(type).isEmpty()
                || !MethodIntrospector.selectMethods(type, annotated).isEmpty();
    }

    /** Whether the type or method itself is limited or exempt, directly or by a meta-annotation. */
    public static boolean isOn(AnnotatedElement element) {
        return !on(element).isEmpty() || isExempt(element);
    }

    /**
     * The rules of a handler method: its own, or else those of its class.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public List<Rule> of(Class<?> type, Method method) {
        Set<RateLimited> own = on(method);
        List<Rule> rules = new ArrayList<>();
        int place = 1;
        for (RateLimited annotation : own.isEmpty() ? on(type) : own) {
            Rule rule = new Parser(annotation, type, method).rule(place++);
            if (rule != null && annotation.mode() != Mode.OFF) {
                rules.add(rule);
            }
        }
        return List.copyOf(rules);
    }

    /**
     * Whether a handler method, or else its class, is exempt from all rules.
     *
     * @throws RateLimitConfigurationException when it is limited in the same place, too
     */
    public static boolean exempt(Class<?> type, Method method) {
        boolean own = isExempt(method);
        if ((own && !on(method).isEmpty()) || (isExempt(type) && !on(type).isEmpty())) {
            String where = "@RateLimitExempt on " + type.getSimpleName() + (own ? "." + method.getName() + "()" : "");
            throw new RateLimitConfigurationException(where, null, "there is @RateLimited, too; take one of them away");
        }
        return own || (isExempt(type) && on(method).isEmpty());
    }

    private static boolean isExempt(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RateLimitExempt.class);
    }

    private static Set<RateLimited> on(AnnotatedElement element) {
        return AnnotatedElementUtils.findMergedRepeatableAnnotations(element, RateLimited.class, RateLimited.All.class);
    }

    /** A name that no other method's policy has: the class and the method, with as much more as it takes. */
    private String nameFor(Class<?> type, Method method, int place) {
        Class<?> holder = holders.putIfAbsent(type.getSimpleName(), type);
        String name =
                (holder == null || holder == type ? type.getSimpleName() : type.getName()) + "." + method.getName();
        boolean overloaded = MethodIntrospector.selectMethods(
                                type, (MethodFilter) other -> other.getName().equals(method.getName()))
                        .size()
                > 1;
        if (overloaded) {
            name += Stream.of(method.getParameterTypes())
                    .map(Class::getSimpleName)
                    .collect(Collectors.joining(",", "(", ")"));
        }
        if (!method.equals(Objects.requireNonNullElse(methods.putIfAbsent(name, method), method))) {
            name = name.substring(0, name.indexOf('('))
                    + Stream.of(method.getParameterTypes())
                            .map(Class::getName)
                            .collect(Collectors.joining(",", "(", ")"));
        }
        return shortened(place == 1 ? name : name + "-" + place);
    }

    /** What a policy may be called; what does not fit is told apart by its hash. */
    private static String shortened(String name) {
        String printable = name.replaceAll("[^ -~]", "_");
        if (printable.equals(name) && name.length() <= MOST_LETTERS) {
            return name;
        }
        String hash = "~" + Integer.toHexString(name.hashCode());
        return printable.substring(0, Math.min(printable.length(), MOST_LETTERS - hash.length())) + hash;
    }

    private final class Parser {

        private final RateLimited annotation;
        private final Class<?> type;
        private final Method method;

        Parser(RateLimited annotation, Class<?> type, Method method) {
            this.annotation = annotation;
            this.type = type;
            this.method = method;
        }

        /** The rule, or {@code null} when it names a policy that is off. */
        @Nullable
        Rule rule(int place) {
            if (annotation.value().isEmpty() == annotation.policy().isEmpty()) {
                throw mistake("give either a limit, such as \"5/minute\", or the name of a policy");
            }
            Rule rule = annotation.policy().isEmpty() ? inline(place) : ofPolicy();
            if (rule != null) {
                checkPermits(rule.policy());
            }
            return rule;
        }

        private Rule inline(int place) {
            try {
                Long burst = annotation.burst() == 0 ? null : annotation.burst();
                LimitParser limits = new LimitParser(
                        Algorithm.named(annotation.algorithm()),
                        new LimitOptions(burst, null, null, null, null),
                        context.store());
                RuleKey key = context.keys().parse(List.of(annotation.key()), MissingKey.IP);
                Policy policy = new Policy(nameFor(type, method, place), limits.parse(annotation.value()));
                if (known.contains(policy.name())) {
                    throw mistake("a policy of the configuration is called '" + policy.name() + "', too; rename that");
                }
                return new Rule(
                        policy,
                        RuleMatch.ANNOTATED,
                        key,
                        context.allowances(key, new Allowance.Limited(policy)),
                        Rule.Price.of(annotation.permits()),
                        key.needsSecurity() ? Stage.AFTER_SECURITY : Stage.BEFORE_SECURITY,
                        null,
                        RetryJitter.DEFAULT);
            } catch (IllegalArgumentException e) {
                throw mistake(String.valueOf(e.getMessage()));
            }
        }

        private @Nullable Rule ofPolicy() {
            String name = annotation.policy();
            if (!known.contains(name)) {
                throw mistake("names policy '" + name + "'; there is " + (known.isEmpty() ? "none" : known));
            }
            if (annotation.burst() != 0
                    || !annotation.algorithm().equals(RateLimited.DEFAULT_ALGORITHM)
                    || !annotation.key().equals(RateLimited.DEFAULT_KEY)) {
                throw mistake("policy '" + name + "' has its own burst, algorithm and key; leave them out here");
            }
            named.add(name);
            Rule rule = policies.get(name);
            return rule == null ? null : rule.at(annotation.permits());
        }

        private void checkPermits(Policy policy) {
            try {
                LimitParser.checkPermits(annotation.permits(), policy);
            } catch (IllegalArgumentException e) {
                throw mistake(String.valueOf(e.getMessage()));
            }
        }

        private RateLimitConfigurationException mistake(String reason) {
            String where = "@RateLimited on " + type.getSimpleName() + "." + method.getName() + "()";
            return new RateLimitConfigurationException(where, null, reason);
        }
    }
}
