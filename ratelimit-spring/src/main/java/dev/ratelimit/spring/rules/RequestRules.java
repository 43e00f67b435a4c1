package dev.ratelimit.spring.rules;

import dev.ratelimit.Limit;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.WebRequest;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpHeaders;
import org.springframework.util.StringValueResolver;

/**
 * The rules that apply to requests: the configured ones and those of the request's endpoint. First they are read, then
 * they get the endpoints, and from {@link #enforce} on, they apply and are thread-safe.
 */
public final class RequestRules {

    /** Finds no endpoints; used until they are known. */
    private static final EndpointResolver NOWHERE = new EndpointResolver() {
        @Override
        public Endpoint resolve(WebRequest request) {
            return Endpoint.NOWHERE;
        }

        @Override
        public boolean mayLeadToAnnotated(WebRequest request) {
            return false;
        }
    };

    private final RateLimitProperties properties;
    private final PolicyRules configured;
    private final AnnotatedRules annotated;

    /** The annotations, by endpoint. */
    private final Map<Endpoint, EndpointRules> byEndpoint = new HashMap<>();

    private volatile InForce inForce;

    /**
     * The rules in force.
     *
     * @param rules the configured rules, the most specific first
     * @param byPolicy these and those of annotations, by the names of their policies
     * @param parts the parts of the keys of all rules
     */
    private record InForce(
            List<Rule> rules,
            Map<String, Rule> byPolicy,
            Exemptions exemptions,
            List<KeyPart> parts,
            RequestContext.Sources sources) {

        boolean mayCarryKey(WebRequest request) {
            return parts.stream().anyMatch(part -> part.mayBeSentWith(request));
        }

        boolean mayTryCredentials(WebRequest request) {
            return Credentials.mayBeIn(request) || mayCarryKey(request);
        }
    }

    /**
     * Reads the configuration.
     *
     * @param beans the beans that keys and plans may refer to
     * @param placeholders resolves placeholders in the attributes of annotations
     * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
     * @throws RateLimitConfigurationException at the first mistake
     */
    public RequestRules(
            RateLimitProperties properties,
            ListableBeanFactory beans,
            StringValueResolver placeholders,
            Consumer<Limit> store) {
        this.properties = properties;
        this.configured = new PolicyRules(properties, beans, store);
        this.annotated = configured.annotated(placeholders);
        this.inForce = new InForce(List.of(), Map.of(), Exemptions.NONE, List.of(), configured.sources(NOWHERE));
    }

    /**
     * Checks the properties as written, for mistakes that are no longer visible after binding.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static void checkWritten(Environment environment) {
        WrittenProperties.check(environment);
    }

    /**
     * Checks for environment variables and system properties that nothing reads, after all properties are bound.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static void checkUnread(ApplicationContext context) {
        UnreadVariables.check(context);
    }

    /** Whether the type or one of its methods is limited, directly or by a meta-annotation. */
    public static boolean areOnAnyOf(Class<?> type) {
        return AnnotatedRules.anyOn(type);
    }

    /** Whether the type or method itself is limited or exempt, directly or by a meta-annotation. */
    public static boolean areOn(AnnotatedElement element) {
        return AnnotatedRules.isOn(element);
    }

    /**
     * Reads the annotations of an endpoint's handler.
     *
     * @return whether there are any
     * @throws RateLimitConfigurationException at the first mistake
     */
    public boolean add(Endpoint endpoint, Class<?> type, Method handler) {
        EndpointRules rules = new EndpointRules(annotated.of(type, handler), AnnotatedRules.exempt(type, handler));
        if (rules.areNone()) {
            return false;
        }
        byEndpoint.put(endpoint, rules);
        return true;
    }

    /** Puts all rules in force. */
    public void enforce(EndpointResolver endpoints) {
        Map<String, Rule> byPolicy = Stream.concat(configured.rules().stream(), annotated.all().stream())
                // an endpoint's own cost is all that differs between rules of the same policy
                .collect(Collectors.toUnmodifiableMap(rule -> rule.policy().name(), rule -> rule, (a, b) -> a));
        List<KeyPart> parts = byPolicy.values().stream()
                .flatMap(rule -> rule.key().parts().stream())
                .distinct()
                .toList();
        inForce = new InForce(
                configured.rules(), byPolicy, configured.exemptions(), parts, configured.sources(endpoints));
    }

    /**
     * Logs the rules in force, and warns about settings that are probably unintended.
     *
     * @param stages whether Spring Security runs between the stages
     * @param contextPath the context path of the application; the paths of rules are relative to it
     * @param servletPath the path of Spring MVC's servlet below it; the paths of rules are relative to this, too
     */
    public void report(boolean stages, String contextPath, String servletPath) {
        UnintendedPatterns unintended = new UnintendedPatterns(contextPath, servletPath);
        StartupReport report = new StartupReport(properties, stages, unintended);
        report.policies(configured, annotated.named());
        annotated.inline().forEach(report::active);
        if (all().isEmpty()) {
            report.nothing();
        }
    }

    /** Logs how much memory the keys of all rules may use. */
    public void reportMemory(InMemoryStore store) {
        StartupReport.memory(store, all());
    }

    /** Warns about policies whose full limit each instance applies while a store on another machine does not answer. */
    public void warnOfWholeShare() {
        StartupReport.warnOfWholeShare(properties, names());
    }

    /** The names of all policies in force. */
    public List<String> names() {
        return all().stream().map(rule -> rule.policy().name()).distinct().toList();
    }

    private List<Rule> all() {
        List<Rule> all = new ArrayList<>(annotated.inline());
        all.addAll(configured.rules());
        return all;
    }

    boolean isFreePreflight(WebRequest request) {
        return request.method().equals("OPTIONS")
                && request.header(HttpHeaders.ORIGIN) != null
                && request.header(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD) != null
                && !Credentials.mayBeInPreflight(request)
                && !inForce.mayCarryKey(request);
    }

    /** The request as the rules see it. */
    RequestContext context(WebRequest request) {
        return new RequestContext(request, inForce.sources());
    }

    /** The rules of this stage, or of all stages, that apply to the request. */
    StageCharges applyTo(RequestContext context, @Nullable Stage stage, RateLimitStore store) {
        InForce now = inForce;
        EndpointRules own = context.mayLeadToAnnotated()
                ? byEndpoint.getOrDefault(context.endpoint(), EndpointRules.NONE)
                : EndpointRules.NONE;
        StageCharges charges = new StageCharges(store, now.byPolicy(), isExempt(own, context, stage, now));
        for (int i = 0; i < own.rules().size(); i++) {
            Rule rule = own.rules().get(i);
            if (isOf(rule, stage) && rule.match().conditionHolds(context)) {
                charges.add(rule, context);
            }
        }
        for (int i = 0; i < now.rules().size(); i++) {
            Rule rule = now.rules().get(i);
            // the endpoint has its own cost for a policy that its annotation names
            if (isOf(rule, stage) && !own.names(rule.policy()) && rule.match().matches(context)) {
                charges.add(rule, context);
            }
        }
        return charges;
    }

    /**
     * Whether the request is exempt. Before Spring Security, an exempt path does not count if the request may carry a
     * credential, because passwords can be guessed on any path. A request that Spring Security lets pass gets a refund.
     */
    private static boolean isExempt(EndpointRules own, RequestContext context, @Nullable Stage stage, InForce now) {
        boolean authenticated = stage != Stage.BEFORE_SECURITY;
        boolean place = own.exempt() || now.exemptions().includePath(context);
        return (place && (authenticated || !now.mayTryCredentials(context.request())))
                || now.exemptions().matches(context, authenticated);
    }

    private static boolean isOf(Rule rule, @Nullable Stage stage) {
        return stage == null || rule.stage() == stage;
    }
}
