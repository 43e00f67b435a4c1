package dev.ratelimit.spring.boot.spi;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Explains what would become of a request that nobody has sent. */
@FunctionalInterface
public interface RequestExplainer {

    /**
     * Describes what the policies would do with a request, as the actuator endpoint shows it.
     *
     * @param user who sends it; {@code null} for an anonymous request
     * @param showKeys whether the description contains keys
     */
    Map<String, Object> explain(RequestFacts facts, @Nullable String user, boolean showKeys);
}
