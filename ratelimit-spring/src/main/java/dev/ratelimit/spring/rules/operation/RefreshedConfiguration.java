package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChangedEvent;
import dev.ratelimit.spring.RateLimitChangedEvent.Cause;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.mistake.MistakeReport;
import dev.ratelimit.spring.rules.mistake.WrittenProperties;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.core.env.Environment;

/** Reads the policies of the configuration again, while the application runs. Thread-safe. */
public final class RefreshedConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RefreshedConfiguration.class);

    private final RequestRules rules;
    private final LiveChanges live;
    private final OperatorActions actions;
    private volatile @Nullable Map<String, Object> refused;

    /**
     * Nothing is read again yet.
     *
     * @param live puts policies in force
     * @param actions who is told
     */
    public RefreshedConfiguration(RequestRules rules, LiveChanges live, OperatorActions actions) {
        this.rules = rules;
        this.live = live;
        this.actions = actions;
    }

    /** The configuration that is not applied: since when, and why; {@code null} if the last one is in force. */
    public @Nullable Map<String, Object> refused() {
        return refused;
    }

    /**
     * Puts the policies of the configuration in force if they have changed: all or, with a mistake, none. A mistake is logged
     * as at the start.
     */
    public boolean refresh(Environment environment) {
        try {
            WrittenProperties.check(environment);
            RateLimitProperties next = Binder.get(environment)
                    .bindOrCreate(
                            "ratelimit",
                            Bindable.of(RateLimitProperties.class),
                            new NoUnboundElementsBindHandler(new IgnoreTopLevelConverterNotFoundBindHandler()));
            RulesInForce before = rules.inForce();
            List<String> fixed = rules.fixedThatDiffer(next);
            boolean changed = live.configure(next.policies());
            if (changed) {
                log.warn("Rate limits have the policies of the changed configuration: {}", rules.allNames());
                tellDifferences(before, rules.inForce());
                actions.tellReplaced(rules.allNames());
            }
            if (!fixed.isEmpty()) {
                log.warn("A changed configuration of {} needs a restart of the application", String.join(", ", fixed));
            }
            refused = null;
            return changed;
        } catch (RateLimitConfigurationException | BindException e) {
            String mistake = MistakeReport.textOf(e, environment);
            refused = Map.of("since", Instant.now().toString(), "reason", mistake.strip());
            log.error(
                    "The changed configuration of rate limits is not applied, and all policies stay as they are.\n\n{}",
                    mistake);
            return false;
        }
    }

    private void tellDifferences(RulesInForce before, RulesInForce now) {
        Set<String> all = new TreeSet<>(before.byPolicy().keySet());
        all.addAll(now.byPolicy().keySet());
        for (String policy : all) {
            String earlier = describe(before, policy);
            String later = describe(now, policy);
            if (!earlier.equals(later)) {
                log.warn("Rate limit {} was {}, and is {}", Quotation.of(policy), earlier, later);
                actions.publish(new RateLimitChangedEvent(policy, Cause.CONFIGURATION, null, earlier, later));
            }
        }
    }

    private static String describe(RulesInForce rules, String policy) {
        Rule rule = rules.byPolicy().get(policy);
        return rule == null ? "absent" : rules.mode(policy) == Mode.OFF ? "off" : rule.describe();
    }
}
