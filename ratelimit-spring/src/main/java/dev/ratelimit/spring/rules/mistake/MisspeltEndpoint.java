package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Warns about misspelt properties of the actuator endpoint, which Spring Boot ignores. */
final class MisspeltEndpoint {

    private static final Logger log = LoggerFactory.getLogger(MisspeltEndpoint.class);

    private static final String ID = "ratelimits";
    private static final List<String> PROPERTIES = List.of("access", "show-keys", "roles", "enabled", "cache");

    /** Endpoints and indicators of other libraries. */
    private static final Set<String> OTHERS = Set.of("ratelimiters", "ratelimiterevents");

    private static final ConfigurationPropertyName ENDPOINT = ConfigurationPropertyName.of("management.endpoint");
    private static final ConfigurationPropertyName EXPOSURE =
            ConfigurationPropertyName.of("management.endpoints.web.exposure");

    private MisspeltEndpoint() {}

    /** Checks all properties that can be listed. */
    static void warnOf(Environment environment) {
        WrittenProperties.names(environment).distinct().forEach(name -> {
            if (ENDPOINT.isAncestorOf(name) && name.getNumberOfElements() > 3) {
                warnOfProperty(name);
            } else if (EXPOSURE.isAncestorOf(name)) {
                warnOfExposure(name, environment.getProperty(name.toString(), ""));
            }
        });
    }

    private static void warnOfProperty(ConfigurationPropertyName name) {
        String id = name.getElement(2, Form.UNIFORM);
        String property = name.getElement(3, Form.UNIFORM);
        if (isMisspelt(id)) {
            log.warn("{} is ignored: the endpoint of rate limits is called {}", name, ID);
        } else if (id.equals(ID)
                && PROPERTIES.stream().noneMatch(known -> uniform(known).equals(property))) {
            log.warn(
                    "{} is ignored: the endpoint has no such property{}",
                    name,
                    Spelling.hint(name.getElement(3, Form.DASHED), PROPERTIES));
        }
    }

    private static void warnOfExposure(ConfigurationPropertyName name, String value) {
        for (String id : StringUtils.tokenizeToStringArray(value, ",")) {
            if (isMisspelt(uniform(id))) {
                log.warn("{}: there is no endpoint {}; that of rate limits is called {}", name, Quotation.of(id), ID);
            }
        }
    }

    private static boolean isMisspelt(String id) {
        return !id.equals(ID) && !OTHERS.contains(id) && Spelling.isNear(id, ID);
    }

    private static String uniform(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }
}
