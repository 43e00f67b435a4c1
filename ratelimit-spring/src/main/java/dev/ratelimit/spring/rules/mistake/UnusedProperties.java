package dev.ratelimit.spring.rules.mistake;

import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** Warns about groups of properties that have no effect because the property that selects them is missing. */
final class UnusedProperties {

    private static final Logger log = LoggerFactory.getLogger(UnusedProperties.class);

    private static final ConfigurationPropertyName STORE = KnownProperties.ROOT.append("store");
    private static final ConfigurationPropertyName REDIS = STORE.append("redis");

    /** Groups, and what selects each of them. Who writes the other choice has decided, such as for one profile. */
    private static final Map<ConfigurationPropertyName, Choice> CHOICES = Map.of(
            REDIS,
            new Choice(
                    STORE.append("type"),
                    "budgets are in the memory of each instance",
                    "redis, or memory if that is intended"),
            REDIS.append("lease"),
            new Choice(REDIS.append("mode"), "there are no leases", "leased, or exact if that is intended"));

    private record Choice(ConfigurationPropertyName property, String otherwise, String values) {}

    private UnusedProperties() {}

    /** Warns about some of these properties. */
    static void warnOf(Set<ConfigurationPropertyName> written) {
        CHOICES.forEach((group, choice) -> {
            if (written.stream().anyMatch(group::isAncestorOf) && !written.contains(choice.property())) {
                log.warn(
                        "{}.* has no effect without {}: {}. Write {}: {}",
                        group,
                        choice.property(),
                        choice.otherwise(),
                        choice.property(),
                        choice.values());
            }
        });
    }
}
