package dev.ratelimit.spring.rules.config;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.expression.RequestExpression;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.refusal.RetryJitter;
import dev.ratelimit.spring.rules.request.Cost;
import dev.ratelimit.spring.rules.request.Parameters;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.OnExceeded;
import dev.ratelimit.spring.rules.rule.RequestMatcher;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import dev.ratelimit.spring.rules.rule.WatchedResults;
import dev.ratelimit.spring.rules.text.MethodNames;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringValueResolver;

/** Creates rules from {@link RateLimited} on methods and their classes. Only {@link #of} is thread-safe. */
public final class AnnotatedRules {

    /** What {@link #anyOn} has found. References to the classes are soft, so that they can be unloaded. */
    private static final Map<Class<?>, Boolean> ANY_ON = new ConcurrentReferenceHashMap<>();

    private final RuleContext context;
    private final Map<String, Rule> policies;
    private final Set<String> known;
    private final StringValueResolver placeholders;
    private final MethodNames names = new MethodNames();
    private final Map<String, String> ownersOfNames = new HashMap<>();
    private final Set<String> named = new TreeSet<>();
    private final List<Rule> all = new ArrayList<>();
    private final List<Rule> off = new ArrayList<>();
    private final Map<String, Mode> modes = new HashMap<>();

    /**
     * Creates rules that may refer to these policies.
     *
     * @param policies the configured rules that are not off
     * @param known the names of all configured policies, including those that are off
     * @param placeholders resolves placeholders in attributes
     */
    AnnotatedRules(RuleContext context, List<Rule> policies, Set<String> known, StringValueResolver placeholders) {
        this.context = context;
        this.policies =
                policies.stream().collect(Collectors.toMap(rule -> rule.policy().name(), rule -> rule));
        this.known = new TreeSet<>(known);
        this.placeholders = placeholders;
    }

    /** All rules created so far. */
    public List<Rule> all() {
        return all;
    }

    /** The rules created so far that do not refer to a configured policy. */
    public List<Rule> inline() {
        return all.stream()
                .filter(rule -> !policies.containsKey(rule.policy().name()))
                .toList();
    }

    /** The rules created so far that are off, here or at their policy. */
    public List<Rule> off() {
        return off;
    }

    /** The rules created so far that are off and do not refer to a configured policy. */
    public Stream<Rule> inlineOff() {
        return off.stream().filter(rule -> !known.contains(rule.policy().name()));
    }

    /** Whether the policy of an annotation is applied; {@code null} if no annotation describes it. */
    public @Nullable Mode modeOf(String policy) {
        return modes.get(policy);
    }

    /** The policies that annotations have referred to so far. */
    public Set<String> named() {
        return named;
    }

    /**
     * Whether the type, a supertype or a method of one of these is limited, directly or by a meta-annotation: otherwise
     * nothing of it is. Applications have many beans and few annotations, so each class is read once.
     */
    public static boolean anyOn(Class<?> type) {
        Boolean known = ANY_ON.get(type);
        if (known == null) {
            known = AnnotationUtils.isCandidateClass(type, RateLimited.class)
                    && (isDeclaredOn(type)
                            || Stream.of(ReflectionUtils.getDeclaredMethods(type))
                                    .anyMatch(AnnotatedRules::isDeclaredOn)
                            || (type.getSuperclass() != null && anyOn(type.getSuperclass()))
                            || Stream.of(type.getInterfaces()).anyMatch(AnnotatedRules::anyOn));
            ANY_ON.put(type, known);
        }
        return known;
    }

    /** The same of a class without a bean, which may be incomplete: creating the bean fails, if anything does. */
    public static boolean anyOnIfReadable(Class<?> type) {
        try {
            return anyOn(type);
        } catch (IllegalStateException | LinkageError e) {
            return false;
        }
    }

    private static boolean isDeclaredOn(AnnotatedElement element) {
        return MergedAnnotations.from(element).isPresent(RateLimited.class);
    }

    /** Whether any annotation concerns a handler method, even one that is off. */
    public static boolean concern(Class<?> type, Method method) {
        return !on(type, method).isEmpty() || isExempt(type, method) || isOn(type);
    }

    /** Whether the type or method itself is limited. */
    public static boolean limit(AnnotatedElement element) {
        return !on(element).isEmpty();
    }

    /** Whether the type or method itself is limited or exempt, directly or by a meta-annotation. */
    public static boolean isOn(AnnotatedElement element) {
        return !on(element).isEmpty() || isExempt(element);
    }

    /**
     * The rules of a handler method: those of the method, or else those of its class.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    synchronized List<Rule> of(Class<?> type, Method method) {
        List<RateLimited> own = on(type, method);
        List<Rule> rules = new ArrayList<>();
        Map<String, Long> costs = new HashMap<>();
        int place = 1;
        for (RateLimited annotation : own.isEmpty() ? on(type) : own) {
            Parser parser = new Parser(annotation, type, method, own.isEmpty());
            Rule rule = parser.rule(place++);
            if (rule == null) {
                continue;
            }
            if (parser.mode(rule) == Mode.OFF) {
                off.add(rule);
            } else {
                // checked each time, so it cannot overflow
                parser.checkSum(costs.merge(rule.policy().name(), annotation.permits(), Long::sum), rule);
                rules.add(rule);
                addConcurrency(rule, annotation.mode(), rules);
            }
        }
        all.addAll(rules);
        return List.copyOf(rules);
    }

    /** Whether calls of a bean's method may be limited: those of public methods, if the annotation is on the class. */
    public static boolean mayLimitCallsOf(Class<?> type, Method method) {
        int modifiers = method.getModifiers();
        return !Modifier.isStatic(modifiers)
                && method.getDeclaringClass() != Object.class
                && (!on(type, method).isEmpty()
                        || (Modifier.isPublic(modifiers)
                                && !ReflectionUtils.isObjectMethod(method)
                                && !on(type).isEmpty()));
    }

    /** The annotations of a method, or else of its class. */
    public static List<RateLimited> annotations(Class<?> type, Method method) {
        List<RateLimited> own = on(type, method);
        return own.isEmpty() ? on(type) : own;
    }

    /** The text with its placeholders resolved; empty if nothing is written. */
    String resolved(String text) {
        return Objects.requireNonNullElse(placeholders.resolveStringValue(text), "");
    }

    /** For messages: that there is no policy of this name. */
    static String noPolicy(String named, Set<String> known) {
        return "names policy " + Quotation.of(named) + Spelling.hint(named, known) + ", which does not exist; "
                + (known.isEmpty() ? "write it under ratelimit.policies" : "write one of " + new TreeSet<>(known));
    }

    /** A mistake in the annotations of a method. */
    public static RateLimitConfigurationException mistake(Class<?> type, Method method, String reason) {
        return new RateLimitConfigurationException("@RateLimited on " + MethodNames.shown(type, method), null, reason);
    }

    /** Which results of methods tell when their work ends. */
    WatchedResults results() {
        return context.results();
    }

    /** A policy may also limit how many requests there are at once. */
    private void addConcurrency(Rule rule, Mode mode, List<Rule> rules) {
        Rule beside = policies.get(Rule.concurrencyOf(rule.policy().name()));
        if (beside != null && rules.stream().noneMatch(other -> other.policy().equals(beside.policy()))) {
            named.add(beside.policy().name());
            Rule own = beside.withCost(Cost.of(1));
            rules.add(mode == Mode.SHADOW ? own.inShadow() : own);
        }
    }

    /**
     * Whether a handler method, or else its class, is exempt from all rules.
     *
     * @throws RateLimitConfigurationException if the same element is also limited
     */
    static boolean exempt(Class<?> type, Method method) {
        boolean own = isExempt(type, method);
        checkExempt(type);
        if (own && !on(type, method).isEmpty()) {
            throw exemptAndLimited(MethodNames.shown(type, method));
        }
        return own || (isExempt(type) && on(type, method).isEmpty());
    }

    /**
     * Checks a class that may be exempt.
     *
     * @throws RateLimitConfigurationException if it is also limited
     */
    public static void checkExempt(Class<?> type) {
        if (isExempt(type) && !on(type).isEmpty()) {
            throw exemptAndLimited(type.getSimpleName());
        }
    }

    private static RateLimitConfigurationException exemptAndLimited(String place) {
        return new RateLimitConfigurationException(
                "@RateLimitExempt on " + place, null, "@RateLimited is there as well; remove one of them");
    }

    private static boolean isExempt(Class<?> type, Method method) {
        return isExempt(method) || implemented(type, method).anyMatch(AnnotatedRules::isExempt);
    }

    private static boolean isExempt(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RateLimitExempt.class);
    }

    /** The annotations of a method, or else of an interface of the type that the method implements without knowing it. */
    private static List<RateLimited> on(Class<?> type, Method method) {
        List<RateLimited> own = on(method);
        return own.isEmpty()
                ? implemented(type, method)
                        .map(AnnotatedRules::on)
                        .filter(found -> !found.isEmpty())
                        .findFirst()
                        .orElse(own)
                : own;
    }

    /** What a method implements only in this type: its own class, a superclass, does not have the interface. */
    private static Stream<Method> implemented(Class<?> type, Method method) {
        Class<?> declaring = method.getDeclaringClass();
        return declaring == type || declaring.isInterface() || !Modifier.isPublic(method.getModifiers())
                ? Stream.empty()
                : ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                        .filter(each -> !each.isAssignableFrom(declaring))
                        .flatMap(each -> Stream.of(each.getMethods()))
                        .filter(each -> each.getName().equals(method.getName())
                                && !Modifier.isStatic(each.getModifiers())
                                && BridgeMethodResolver.getMostSpecificMethod(each, type)
                                        .equals(method));
    }

    /** Equal annotations count as often as an element has them, but those of an overridden method only once. */
    private static List<RateLimited> on(AnnotatedElement element) {
        Map<Integer, List<RateLimited>> byElement =
                MergedAnnotations.search(SearchStrategy.TYPE_HIERARCHY).from(element).stream(RateLimited.class)
                        .collect(Collectors.groupingBy(
                                found -> found.getAggregateIndex(),
                                () -> new TreeMap<>(Comparator.<Integer>reverseOrder()),
                                Collectors.mapping(found -> found.synthesize(), Collectors.toList())));
        List<RateLimited> all = new ArrayList<>();
        byElement.values().forEach(same -> {
            List<RateLimited> others = List.copyOf(all);
            same.stream().filter(annotation -> !others.contains(annotation)).forEach(all::add);
        });
        return all;
    }

    private final class Parser {

        private final RateLimited annotation;
        private final Class<?> type;
        private final Method method;

        /** Whether the annotation is on the class. */
        private final boolean shared;

        private final Parameters parameters;

        Parser(RateLimited annotation, Class<?> type, Method method, boolean shared) {
            this.annotation = annotation;
            this.type = type;
            this.method = method;
            this.shared = shared;
            this.parameters = Parameters.of(type, method);
        }

        /** The rule, or {@code null} if it refers to a policy that is off. */
        @Nullable
        Rule rule(int place) {
            try {
                String limits = resolved(annotation.value());
                String policy = resolved(annotation.policy());
                if (limits.isBlank() == policy.isBlank()) {
                    throw mistake(
                            limits.isBlank()
                                    ? "it needs a limit or the name of a policy; write \"5/minute\" or policy = \"...\""
                                    : "it has both a limit and the name of a policy, which has its own; remove one of them");
                }
                Rule rule = policy.isBlank() ? inline(limits, place) : of(policy);
                if (rule != null) {
                    checkPermits(annotation.permits(), rule, "");
                }
                return rule;
            } catch (IllegalArgumentException e) {
                throw mistake(String.valueOf(e.getMessage()));
            }
        }

        /** Whether the rule is applied here. */
        Mode mode(Rule rule) {
            return modes.getOrDefault(rule.policy().name(), annotation.mode());
        }

        private Rule inline(String limits, int place) {
            String name = name(place);
            Rule.checkName(name);
            RateLimitChange change = context.changeOfLimit(
                    name,
                    "a policy that an annotation writes out has no penalty, no waiting and no plans; write it under"
                            + " ratelimit.policies, and name it in the annotation");
            if (annotation.permits() == 0 && annotation.mode() != Mode.OFF) {
                throw mistake("permits = 0 limits nothing; write mode = Mode.OFF, or @RateLimitExempt instead");
            }
            Long burst = WrittenLimit.changed(annotation.burst() == 0 ? null : annotation.burst(), change);
            LimitParser parser = new LimitParser(
                    LimitParser.algorithm(context.algorithmOf(name, resolved(annotation.algorithm()))),
                    LimitOptions.NONE.with("burst", burst),
                    Concurrency.DEFAULT_MAX_HOLD,
                    context.store());
            BudgetKey key = context.keys().parse(List.of(resolved(annotation.key())), MissingKey.IP, parameters);
            Cost cost = cost();
            Policy policy = new Policy(name, parser.parse(Objects.requireNonNullElse(change.limit(), limits)));
            claimName(name, place);
            Mode mode = context.modeOf(name, annotation.mode());
            modes.put(name, mode);
            return new Rule(
                    policy,
                    RequestMatcher.ANNOTATED,
                    key,
                    context.overrides(key, new LimitOverride.Limited(policy))
                            .readBy(text -> parser.with("burst", null).override(name, text)),
                    cost,
                    key.needsSecurity() || cost.needsPrincipal() ? Stage.AFTER_SECURITY : Stage.BEFORE_SECURITY,
                    null,
                    RetryJitter.DEFAULT,
                    context.format(),
                    OnExceeded.REJECT,
                    mode == Mode.SHADOW);
        }

        private String name(int place) {
            String own = resolved(annotation.name());
            if (own.isEmpty()) {
                return names.of(type, method, place);
            }
            return shared ? MethodNames.within(own, type, method) : own;
        }

        private void claimName(String name, int place) {
            if (known.contains(name) || policies.containsKey(name)) {
                throw mistake("a policy of the configuration is also called " + Quotation.of(name)
                        + "; rename one of the two");
            }
            if (ExtraPolicies.contain(name)) {
                throw mistake(
                        "operators put a policy in force that is called " + Quotation.of(name) + "; rename this one");
            }
            String owner = type.getName() + "." + method + " " + place;
            if (!owner.equals(Objects.requireNonNullElse(ownersOfNames.putIfAbsent(name, owner), owner))) {
                throw mistake(
                        "another @RateLimited is also called " + Quotation.of(name) + "; give each a name of its own");
            }
        }

        private @Nullable Rule of(String policy) {
            if (!known.contains(policy)) {
                throw mistake(noPolicy(policy, known));
            }
            if (annotation.burst() != 0
                    || !annotation.name().isEmpty()
                    || !annotation.algorithm().equals(RateLimited.DEFAULT_ALGORITHM)
                    || !annotation.key().equals(RateLimited.DEFAULT_KEY)) {
                throw mistake("policy " + Quotation.of(policy)
                        + " has its own name, burst, algorithm and key; leave them out here");
            }
            named.add(policy);
            Rule rule = policies.get(policy);
            if (rule == null) {
                return null;
            }
            checkArguments(rule);
            Rule own = rule.withCost(cost());
            return annotation.mode() == Mode.SHADOW ? own.inShadow() : own;
        }

        private Cost cost() {
            String written = resolved(annotation.cost()).strip();
            if (written.isEmpty()) {
                return Cost.of(annotation.permits());
            }
            if (annotation.permits() != 1) {
                throw mistake("it has both permits and cost; write one of the two");
            }
            if (!written.startsWith("#")) {
                throw mistake("cost " + Quotation.of(written)
                        + " is not an expression that starts with #; write permits for a number");
            }
            return RequestExpression.cost(written, parameters);
        }

        private void checkArguments(Rule rule) {
            for (String name : rule.key().arguments()) {
                if (!parameters.include(name)) {
                    throw mistake("policy " + Quotation.of(rule.policy().name()) + " has the key " + rule.key()
                            + ", but this method has no parameter #" + name
                            + (parameters.toString().isEmpty() ? "" : ", only " + parameters)
                            + "; rename the parameter, or compile with -parameters");
                }
            }
        }

        /** The annotations of one endpoint charge a policy together. */
        void checkSum(long permits, Rule rule) {
            if (permits != annotation.permits()) {
                checkPermits(
                        permits,
                        rule,
                        "the annotations here charge policy "
                                + Quotation.of(rule.policy().name()) + " together, and ");
            }
        }

        /** Not only the policy's own limit, but also each plan and override must admit the cost. */
        private void checkPermits(long permits, Rule rule, String together) {
            rule.overrides().all().forEach(override -> {
                if (override instanceof LimitOverride.Limited limited) {
                    checkPermits(permits, limited.policy(), rule.policy(), together);
                }
            });
        }

        private void checkPermits(long permits, Policy limited, Policy policy, String together) {
            try {
                LimitParser.checkPermits(permits, limited);
            } catch (IllegalArgumentException e) {
                String where = limited.limits().equals(policy.limits())
                        ? ""
                        : "under " + limited.limits() + ", a plan or an override, ";
                throw mistake(together + where + e.getMessage());
            }
        }

        private RateLimitConfigurationException mistake(String reason) {
            return AnnotatedRules.mistake(type, method, reason);
        }
    }
}
