package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether there are rate limits: a configured policy, or an annotation on a bean. */
public final class OnRateLimitsCondition extends SpringBootCondition implements ConfigurationCondition {

    private static final Bindable<Map<String, Object>> POLICIES = Bindable.mapOf(String.class, Object.class);

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConditionMessage.Builder message = ConditionMessage.forCondition("Rate limits");
        if (Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)) {
            return ConditionOutcome.match(message.because("policies may be written at run time"));
        }
        if (hasPolicies(context.getEnvironment())) {
            return ConditionOutcome.match(message.found("policies").items("ratelimit.policies"));
        }
        if (anyAnnotated(context.getBeanFactory())) {
            return ConditionOutcome.match(message.found("annotation").items(RateLimited.class.getName()));
        }
        return ConditionOutcome.noMatch(
                message.didNotFind("policy or annotation").atAll());
    }

    /** Whether there is a configured policy. */
    public static boolean hasPolicies(Environment environment) {
        try {
            return Binder.get(environment)
                    .bind("ratelimit.policies", POLICIES)
                    .map(map -> !map.isEmpty())
                    .orElse(false);
        } catch (BindException e) {
            // there is something, and binding all properties reports what is wrong
            return true;
        }
    }

    /** Whether an annotation is on a bean. */
    public static boolean anyAnnotated(@Nullable ConfigurableListableBeanFactory beans) {
        if (beans == null) {
            return false;
        }
        for (Iterator<String> names = beans.getBeanNamesIterator(); names.hasNext(); ) {
            Class<?> type = beans.getType(names.next(), false);
            if (type != null && AnnotatedRules.anyOnIfReadable(type)) {
                return true;
            }
        }
        return false;
    }
}
