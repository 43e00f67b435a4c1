package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.config.AnnotatedRules;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.stereotype.Controller;

/** Whether there is anything to enforce: a policy in the configuration, or an annotation on a controller. */
final class OnRateLimitsCondition extends SpringBootCondition implements ConfigurationCondition {

    private static final Bindable<Map<String, Object>> POLICIES = Bindable.mapOf(String.class, Object.class);

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConditionMessage.Builder message = ConditionMessage.forCondition("Rate limits");
        if (hasPolicies(context.getEnvironment())) {
            return ConditionOutcome.match(message.found("policies").items("ratelimit.policies"));
        }
        if (anyAnnotated(context.getBeanFactory())) {
            return ConditionOutcome.match(message.found("annotation").items(RateLimited.class.getName()));
        }
        return ConditionOutcome.noMatch(
                message.didNotFind("policy or annotation").atAll());
    }

    /** Whether there is a policy in the configuration. */
    static boolean hasPolicies(Environment environment) {
        return Binder.get(environment)
                .bind("ratelimit.policies", POLICIES)
                .map(map -> !map.isEmpty())
                .orElse(false);
    }

    private static boolean anyAnnotated(@Nullable ConfigurableListableBeanFactory beans) {
        if (beans == null) {
            return false;
        }
        for (String name : beans.getBeanNamesForAnnotation(Controller.class)) {
            Class<?> type = beans.getType(name, false);
            if (type != null && AnnotatedRules.anyOn(type)) {
                return true;
            }
        }
        return false;
    }
}
