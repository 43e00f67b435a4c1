package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.config.AnnotatedRules;
import dev.ratelimit.spring.config.PolicyRules;
import dev.ratelimit.spring.config.RateLimitProperties;
import dev.ratelimit.spring.web.Endpoints;
import dev.ratelimit.spring.web.RequestRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.servlet.HandlerMapping;

/**
 * The rules in force. Those of the configuration are made with the bean, so that a mistake stops the start early; those of
 * annotations when all handlers are known, which is before the server accepts a request.
 */
final class ActiveRules implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(ActiveRules.class);

    private final ApplicationContext context;
    private final List<Rule> configured;
    private final Set<String> policies;

    private volatile RequestRules requestRules =
            new RequestRules(List.of(), new Endpoints(List.of(), handler -> List.of()));

    ActiveRules(ApplicationContext context, RateLimitProperties properties) {
        this.context = context;
        this.configured = PolicyRules.of(properties.policies());
        this.policies = properties.policies().keySet();
    }

    @Override
    public void afterSingletonsInstantiated() {
        AnnotatedRules annotated = new AnnotatedRules(configured, policies);
        List<Rule> inline = new ArrayList<>();
        Endpoints endpoints = new Endpoints(handlerMappings(), handler -> {
            List<Rule> rules = annotated.of(handler.getBeanType(), handler.getMethod());
            rules.stream()
                    .filter(rule -> !policies.contains(rule.policy().name()))
                    .forEach(inline::add);
            return rules;
        });
        requestRules = new RequestRules(configured, endpoints);
        configured.forEach(rule -> report(rule, annotated.named()));
        inline.forEach(rule -> log.info("Rate limit {}", rule.describe()));
    }

    private List<HandlerMapping> handlerMappings() {
        List<HandlerMapping> mappings = new ArrayList<>(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
                        .values());
        AnnotationAwareOrderComparator.sort(mappings);
        return mappings;
    }

    private static void report(Rule rule, Set<String> named) {
        if (rule.match().annotated() && !named.contains(rule.policy().name())) {
            log.warn("Rate limit {}, but no @RateLimited names it: it limits nothing", rule.describe());
        } else {
            log.info("Rate limit {}", rule.describe());
        }
    }

    RequestRules requestRules() {
        return requestRules;
    }
}
