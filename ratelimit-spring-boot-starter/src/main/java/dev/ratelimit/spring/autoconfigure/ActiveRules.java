package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.Exemptions;
import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.config.AnnotatedRules;
import dev.ratelimit.spring.config.LimitCheck;
import dev.ratelimit.spring.config.PolicyRules;
import dev.ratelimit.spring.config.RateLimitProperties;
import dev.ratelimit.spring.web.Endpoints;
import dev.ratelimit.spring.web.RequestRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.HandlerMapping;

/**
 * The rules in force. Those of the configuration are made with the bean, so that a mistake stops the start early; those of
 * annotations when all handlers are known, which is before the server accepts a request.
 */
final class ActiveRules implements SmartInitializingSingleton {

    private final ApplicationContext context;
    private final RateLimitProperties properties;
    private final PolicyRules policyRules;

    private volatile Endpoints endpoints = new Endpoints(List.of(), handler -> List.of(), handler -> false);
    private volatile RequestRules requestRules;

    /**
     * Rules of the configuration.
     *
     * @param store whether the store can keep a limit
     */
    ActiveRules(ApplicationContext context, RateLimitProperties properties, LimitCheck store) {
        this.context = context;
        this.properties = properties;
        WrittenKeys.check(context.getEnvironment());
        this.policyRules = new PolicyRules(properties, context, store);
        this.requestRules = new RequestRules(
                List.of(), endpoints, Exemptions.NONE, policyRules.clientAddress(), policyRules.keys());
    }

    @Override
    public void afterSingletonsInstantiated() {
        StartupReport report = new StartupReport(
                context.getEnvironment(),
                properties,
                context.containsBean(RateLimitFilterConfiguration.BEFORE_SECURITY));
        if (!properties.enabled()) {
            // conditions are decided at build time under AOT, so it may be said only now
            report.disabled();
            return;
        }
        AnnotatedRules annotated = policyRules.annotated();
        Set<String> policies = properties.policies().keySet();
        List<Rule> inline = new ArrayList<>();
        endpoints = new Endpoints(
                handlerMappings(),
                handler -> {
                    List<Rule> rules = annotated.of(handler.getBeanType(), handler.getMethod());
                    rules.stream()
                            .filter(rule -> !policies.contains(rule.policy().name()))
                            .forEach(inline::add);
                    return rules;
                },
                handler -> AnnotatedRules.exempt(handler.getBeanType(), handler.getMethod()));
        requestRules = new RequestRules(
                policyRules.rules(),
                endpoints,
                policyRules.exemptions(),
                policyRules.clientAddress(),
                policyRules.keys());
        report.policies(policyRules, annotated.named());
        report.warnOfRewriting(rewritesPathsLater());
        inline.forEach(report::active);
        inline.addAll(policyRules.rules());
        tellOfStore(report, inline);
    }

    private void tellOfStore(StartupReport report, List<Rule> rules) {
        if (context.containsBean(RedisStoreConfiguration.CLIENT)) {
            report.warnOfWholeShare(rules);
        }
        context.getBeanProvider(InMemoryStore.class).ifUnique(store -> report.memory(store, rules));
        List<String> names =
                rules.stream().map(rule -> rule.policy().name()).distinct().toList();
        context.getBeanProvider(PolicyObserver.class).forEach(observer -> observer.watch(names));
    }

    private boolean rewritesPathsLater() {
        return context.getBeanNamesForType(UrlHandlerFilter.class).length > 0
                || context.getBeansOfType(FilterRegistrationBean.class, true, false).values().stream()
                        .anyMatch(filter -> filter.getFilter() instanceof UrlHandlerFilter
                                && filter.getOrder() >= StartupReport.FIRST_STAGE);
    }

    private List<HandlerMapping> handlerMappings() {
        List<HandlerMapping> mappings = new ArrayList<>(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
                        .values());
        AnnotationAwareOrderComparator.sort(mappings);
        return mappings;
    }

    RequestRules requestRules() {
        return requestRules;
    }

    Endpoints endpoints() {
        return endpoints;
    }
}
