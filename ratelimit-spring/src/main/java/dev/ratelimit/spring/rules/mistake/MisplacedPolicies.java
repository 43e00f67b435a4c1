package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.Rate;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;

/** Finds policies in places where they would limit nothing, or not what they seem to. */
final class MisplacedPolicies {

    private static final Logger log = LoggerFactory.getLogger(MisplacedPolicies.class);

    private static final ConfigurationPropertyName ROOT = KnownProperties.ROOT;
    private static final ConfigurationPropertyName POLICIES = KnownProperties.POLICIES;

    /** Spring Boot's own; below others, somebody else may have policies. */
    private static final Set<String> PARENTS = Set.of("spring", "server", "management", "logging");

    private MisplacedPolicies() {}

    /**
     * Checks all properties that can be listed.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    static void check(Environment environment) {
        List<ConfigurationPropertyName> names =
                KnownProperties.listed(environment).toList();
        boolean policies = names.stream().anyMatch(POLICIES::isAncestorOf);
        for (ConfigurationPropertyName name : names) {
            checkBelowAnother(name);
            if (!policies) {
                checkMisspelt(name);
            }
        }
        if (!policies) {
            warnOfLost(environment);
        }
    }

    private static void checkBelowAnother(ConfigurationPropertyName name) {
        if (name.getNumberOfElements() > 1 && PARENTS.contains(name.getElement(0, Form.UNIFORM))) {
            ConfigurationPropertyName own = meant(name.subName(1));
            if (own != null && ROOT.isAncestorOf(name.subName(1))) {
                throw new RateLimitConfigurationException(
                        name.toString(),
                        null,
                        "this has no effect here; move ratelimit to the top level, out of '"
                                + name.getElement(0, Form.DASHED) + "'");
            }
        }
    }

    /**
     * Warns about limits below {@code policies} without {@code ratelimit}, or below another root as well. Somebody else
     * may read them, so they do not stop the start.
     */
    private static void warnOfLost(Environment environment) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource listed) {
                for (ConfigurationPropertyName name : listed) {
                    ConfigurationPropertyName own = lost(name);
                    ConfigurationProperty property = own == null ? null : source.getConfigurationProperty(name);
                    if (property != null && isLimit(String.valueOf(property.getValue()))) {
                        log.warn(
                                "{} looks like a rate limit, but no policy is read there, and there is none below"
                                        + " ratelimit.policies. Did you mean {}? ({})",
                                name,
                                own,
                                property.getOrigin());
                        return;
                    }
                }
            }
        }
    }

    /** The limit of a policy that this would be in its right place, or {@code null}. */
    private static @Nullable ConfigurationPropertyName lost(ConfigurationPropertyName name) {
        StringBuilder before = new StringBuilder();
        for (int i = 0; i < name.getNumberOfElements() - 1; i++) {
            if (name.getElement(i, Form.UNIFORM).equals("policies")) {
                ConfigurationPropertyName own = POLICIES.append(name.subName(i + 1));
                Class<?> type = KnownProperties.typeOf(own);
                boolean limit = type == PolicyProperties.class
                        || KnownProperties.whole(own)
                                .getLastElement(Form.UNIFORM)
                                .equals("limit");
                boolean place =
                        i == 0 || before.toString().endsWith("ratelimit") || PARENTS.contains(before.toString());
                return type != null && limit && place ? own : null;
            }
            before.append(name.getElement(i, Form.UNIFORM));
        }
        return null;
    }

    private static boolean isLimit(String value) {
        try {
            return !Rate.parseAll(value).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Only without a correct one: others may have policies below a similar name. */
    private static void checkMisspelt(ConfigurationPropertyName name) {
        ConfigurationPropertyName own = meant(name);
        if (own != null && Spelling.isNear(name.getElement(0, Form.UNIFORM), ROOT.toString())) {
            throw new RateLimitConfigurationException(name.toString(), null, "this has no effect; write " + own);
        }
    }

    /** The property of a policy that this would be below another root, or {@code null}. */
    private static @Nullable ConfigurationPropertyName meant(ConfigurationPropertyName name) {
        if (name.getNumberOfElements() <= POLICIES.getNumberOfElements()) {
            return null;
        }
        ConfigurationPropertyName own = ROOT.append(name.subName(1));
        return POLICIES.isAncestorOf(own) && KnownProperties.typeOf(own) != null ? own : null;
    }
}
