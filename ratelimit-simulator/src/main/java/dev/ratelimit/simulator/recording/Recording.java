package dev.ratelimit.simulator.recording;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

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

    private static final JsonFactory JSON = new JsonFactory();

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
     * @throws tools.jackson.core.JacksonException if it is no JSON object
     * @throws NumberFormatException if one of its numbers is none
     * @throws IllegalArgumentException if it has a later form than those that are known
     */
    public static Recording read(byte[] line, int from, int to) {
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), line, from, to - from)) {
            Map<String, Object> all = new HashMap<>();
            Map<String, Policy> policies = new LinkedHashMap<>();
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                if (name.equals("policies")) {
                    parser.nextToken();
                    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                        String policy = parser.currentName();
                        parser.nextToken();
                        policies.put(policy, policy(object(parser)));
                    }
                } else {
                    put(all, name, parser);
                }
            }
            String version = text(all, "recording", "");
            if (Long.parseLong(version) > VERSION) {
                throw new IllegalArgumentException(
                        "the recording has version " + version + ", and this simulator knows version " + VERSION
                                + "; use the simulator of the application's version");
            }
            return new Recording(
                    Long.parseLong(text(all, "requests", "0")),
                    Long.parseLong(text(all, "forgotten", "0")),
                    Double.parseDouble(text(all, "share", "1")),
                    Boolean.parseBoolean(text(all, "users", "false")),
                    Boolean.parseBoolean(text(all, "stages", "false")),
                    policies);
        }
    }

    private static Policy policy(Map<String, Object> all) {
        Object burst = all.get("burst");
        return new Policy(
                text(all, "limit", ""),
                text(all, "algorithm", ""),
                burst == null ? null : Long.valueOf(burst.toString()),
                list(all, "key"),
                text(all, "missingKey", "ip"),
                text(all, "applies", ""),
                text(all, "permits", "1"),
                Boolean.parseBoolean(text(all, "annotated", "false")),
                list(all, "overrides"));
    }

    /** The values of an object: texts, and lists of texts. */
    private static Map<String, Object> object(JsonParser parser) {
        Map<String, Object> all = new HashMap<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            put(all, parser.currentName(), parser);
        }
        return all;
    }

    private static void put(Map<String, Object> all, String name, JsonParser parser) {
        JsonToken value = parser.nextToken();
        if (value == JsonToken.START_ARRAY) {
            List<String> texts = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                texts.add(parser.getString());
            }
            all.put(name, texts);
        } else if (value == JsonToken.START_OBJECT) {
            parser.skipChildren();
        } else {
            all.put(name, parser.getString());
        }
    }

    private static String text(Map<String, Object> all, String name, String otherwise) {
        return all.get(name) instanceof String text ? text : otherwise;
    }

    private static List<String> list(Map<String, Object> all, String name) {
        return all.get(name) instanceof List<?> texts
                ? texts.stream().map(String::valueOf).toList()
                : List.of();
    }
}
