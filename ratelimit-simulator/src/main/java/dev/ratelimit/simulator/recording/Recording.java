package dev.ratelimit.simulator.recording;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the first line of a recording says. Immutable.
 *
 * @param requests how many lines follow
 * @param forgotten how many requests came before, and are no longer known
 * @param share of the callers whose requests were recorded
 * @param users whether any request has the name of its caller
 * @param stages whether the application charged policies before and after Spring Security
 * @param policies by name
 */
public record Recording(
        long requests, long forgotten, double share, boolean users, boolean stages, Map<String, Policy> policies) {

    /** The latest form that is known. */
    private static final int VERSION = 1;

    /** What the first line begins with. */
    public static final String BEGINNING = "{\"recording\":";

    private static final JsonMapper JSON = JsonMapper.shared();

    /**
     * A policy of the application.
     *
     * @param limit as in the configuration
     * @param algorithm its name
     * @param burst of a token bucket; {@code null} for the permits of one period
     * @param key its parts
     * @param missingKey what became of requests without a part of the key
     * @param applies to which requests
     * @param permits what a request cost, a number or an expression
     * @param annotated whether it applied only where it was named
     * @param overrides other limits than those of the policy and its plans
     */
    public record Policy(
            String limit,
            String algorithm,
            @Nullable Long burst,
            List<String> key,
            String missingKey,
            String applies,
            String permits,
            boolean annotated,
            List<String> overrides) {

        /** The plan that stands for an override. */
        public static String planOf(String override) {
            return "override " + override;
        }
    }

    /**
     * Reads the first line.
     *
     * @throws tools.jackson.core.JacksonException if it is no JSON object, or lacks numbers
     * @throws IllegalArgumentException if it has a later form than those that are known
     */
    public static Recording read(String line) {
        JsonNode all = JSON.readTree(line);
        int version = all.get("recording").asInt();
        if (version > VERSION) {
            throw new IllegalArgumentException(
                    "the recording has version " + version + ", and this simulator knows version " + VERSION
                            + "; use the simulator of the application's version");
        }
        return JSON.treeToValue(all, Recording.class);
    }
}
