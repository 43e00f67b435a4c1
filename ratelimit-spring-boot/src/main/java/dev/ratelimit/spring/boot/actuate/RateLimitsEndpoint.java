package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.RequestFacts;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import dev.ratelimit.spring.rules.history.ChangeHistory;
import dev.ratelimit.spring.rules.operation.Caller;
import dev.ratelimit.spring.rules.operation.RateLimitOperations;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.Quotation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.InputStreamResource;
import org.springframework.http.HttpStatus;
import org.springframework.lang.Nullable;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

/**
 * The actuator endpoint {@code ratelimits}: what is limited and how much of it was refused, the state of a key, what
 * all policies say of a caller, what would become of a request, and, if
 * {@code management.endpoint.ratelimits.access} is unrestricted, changes. Keys are hashed unless {@code show-keys} says
 * otherwise.
 */
@SuppressWarnings("deprecation") // the actuator of Spring Boot 3.5 knows no other annotation Nullable
@WebEndpoint(id = RateLimitsEndpoint.ID, defaultAccess = Access.READ_ONLY)
public final class RateLimitsEndpoint {

    public static final String ID = "ratelimits";

    /** In place of a policy's name. */
    static final String EXPLAIN = "explain";

    /** In place of a policy's name. */
    static final String CALLER = "caller";

    /** In place of a policy's name. */
    static final String HISTORY = "history";

    /** In place of a policy's name. */
    static final String YAML = "yaml";

    /** In place of a policy's name. */
    static final String RECORDING = "recording";

    /** In place of a policy's name. */
    static final String PAGE = "page";

    /** The rest of the path, which names a policy; a name may contain slashes. */
    static final String POLICY = "policy";

    private static final Set<String> EXPLAINED = Set.of("method", "path", "user", "address", "header");

    private static final Set<String> CALLING = Set.of("user", "address", "header", "key");

    private static final MimeType APPLICATION_YAML = new MimeType("application", "yaml", StandardCharsets.UTF_8);

    private static final MimeType NDJSON = new MimeType("application", "x-ndjson");

    private static final int ENTRIES = 100;

    private static final MimeType HTML = new MimeType("text", "html", StandardCharsets.UTF_8);

    private final RateLimitOperations operations;
    private final RequestExplainer explainer;
    private final TrialsEndpoint trials;
    private final EndpointSurroundings surroundings;
    private final RateLimitsEndpointProperties properties;

    public RateLimitsEndpoint(
            RateLimitOperations operations,
            RequestExplainer explainer,
            EndpointSurroundings surroundings,
            RateLimitsEndpointProperties properties) {
        this.operations = operations;
        this.trials = new TrialsEndpoint(operations.trials());
        this.explainer = explainer;
        this.surroundings = surroundings;
        this.properties = properties;
    }

    /** All policies. */
    @ReadOperation
    WebEndpointResponse<Object> list(SecurityContext security) {
        return answer(() -> list(showsKeys(security)));
    }

    private Map<String, Object> list(boolean showKeys) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("instance", surroundings.instance());
        all.put("writable", surroundings.writable());
        all.put("changesLast", operations.changesLast());
        Map<String, Object> recorded = operations.observations().times();
        if (recorded != null) {
            all.put("recorded", recorded);
        }
        Map<String, Object> refused = operations.refusedConfiguration();
        if (refused != null) {
            all.put("refusedConfiguration", refused);
        }
        all.put("store", surroundings.store().get());
        all.put("policies", operations.report(showKeys));
        all.put("extra", operations.extra());
        return all;
    }

    private boolean showsKeys(SecurityContext security) {
        return properties.showKeys().isShown(security, properties.roles());
    }

    /** What the rest of the path names; {@code null} without one. */
    static @Nullable String nameOf(@Nullable Object policy) {
        return policy instanceof String[] segments ? String.join("/", segments) : null;
    }

    /** The parameters of a question about this; {@code null} for all policies. */
    static Set<String> parametersOf(@Nullable String name) {
        if (name == null || policyOfOverrides(name) != null || TrialsEndpoint.policyOf(name) != null) {
            return Set.of();
        }
        if (isHistory(name)) {
            return Set.of("limit");
        }
        return switch (name) {
            case YAML -> Set.of("all");
            case RECORDING -> Set.of();
            case EXPLAIN -> EXPLAINED;
            case CALLER -> CALLING;
            default -> Set.of("key");
        };
    }

    /** The fields of a change of this. */
    static Set<String> fieldsOf(@Nullable String name) {
        if (TrialsEndpoint.policyOf(name) != null) {
            return TrialsEndpoint.FIELDS;
        }
        return policyOfOverrides(name) == null ? WrittenChange.FIELDS : WrittenOverride.FIELDS;
    }

    /** Whether the rest of the path names the history of a policy, or of all. */
    static boolean isHistory(@Nullable String name) {
        return name != null && (name.equals(HISTORY) || name.endsWith(Rule.HISTORY));
    }

    /** The policy whose overrides the rest of the path names; {@code null} if it names something else. */
    static @Nullable String policyOfOverrides(@Nullable String name) {
        return name != null && name.endsWith(Rule.OVERRIDES)
                ? name.substring(0, name.length() - Rule.OVERRIDES.length())
                : null;
    }

    /**
     * A policy, or the state of a key under it; under the name {@code page}, a page for people. What the names
     * {@code explain} and {@code caller} ask, {@link EndpointArguments} hands to {@link #explain} and {@link #caller}: they
     * have other parameters than this method.
     *
     * @param policy its name
     * @param key the plain value of the key, one for each part
     */
    @ReadOperation(
            produces = {
                MimeTypeUtils.APPLICATION_JSON_VALUE,
                MimeTypeUtils.TEXT_HTML_VALUE,
                "application/yaml",
                "application/x-ndjson"
            })
    WebEndpointResponse<Object> read(
            SecurityContext security,
            @Selector(match = Selector.Match.ALL_REMAINING) String[] policy,
            @Nullable Object key) {
        String name = String.join("/", policy);
        String ofOverrides = policyOfOverrides(name);
        if (ofOverrides != null) {
            return answer(() -> operations.overrides().report(ofOverrides, showsKeys(security)));
        }
        String ofTrial = TrialsEndpoint.policyOf(name);
        if (ofTrial != null) {
            return answer(() -> trials.report(ofTrial, showsKeys(security)));
        }
        return name.equals(PAGE)
                ? new WebEndpointResponse<>(page(), HTML)
                : answer(() -> operations.report(name, key == null ? null : values(key), showsKeys(security)));
    }

    /** Explains what would become of the request that the arguments describe. */
    WebEndpointResponse<Object> explain(SecurityContext security, Map<String, Object> arguments) {
        return answer(() -> {
            String path = first(arguments, "path");
            if (path == null) {
                throw new IllegalArgumentException("explain needs the path of a request; write explain?path=/orders/1");
            }
            RequestFacts facts = new RequestFacts(
                    Objects.requireNonNullElse(first(arguments, "method"), "GET"),
                    path,
                    Objects.requireNonNullElse(first(arguments, "address"), "127.0.0.1"),
                    texts(arguments.get("header")));
            return explainer.explain(facts, first(arguments, "user"), showsKeys(security));
        });
    }

    /** What all policies say of the caller that the arguments describe. */
    WebEndpointResponse<Object> caller(SecurityContext security, Map<String, Object> arguments) {
        return answer(() -> operations.caller(
                new Caller(
                        only(arguments, "user"),
                        only(arguments, "address"),
                        texts(arguments.get("header")),
                        only(arguments, "key")),
                showsKeys(security)));
    }

    /** The history of a policy, or of all. */
    WebEndpointResponse<Object> history(SecurityContext security, String name, Map<String, Object> arguments) {
        String policy = name.equals(HISTORY) ? null : name.substring(0, name.length() - Rule.HISTORY.length());
        return answer(() -> {
            String limit = only(arguments, "limit");
            return operations
                    .history()
                    .report(
                            policy,
                            limit == null ? ENTRIES : numberOf(limit),
                            operations.shownKeys(showsKeys(security)));
        });
    }

    private static int numberOf(String limit) {
        try {
            return Integer.parseInt(limit.strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "limit must be a number of entries, such as 100, but was " + Quotation.of(limit), e);
        }
    }

    /** The policies in force as YAML: those that differ from their configuration, or all. */
    WebEndpointResponse<Object> yaml(SecurityContext security, Map<String, Object> arguments) {
        WebEndpointResponse<Object> answer = answer(() -> {
            boolean all = new WrittenChange(field -> only(arguments, field)).isTrue("all");
            return yaml(operations.history(), all, showsKeys(security));
        });
        return answer.getStatus() == WebEndpointResponse.STATUS_OK
                ? new WebEndpointResponse<>(answer.getBody(), APPLICATION_YAML)
                : answer;
    }

    private static String yaml(ChangeHistory history, boolean all, boolean showKeys) {
        List<String> comments = new ArrayList<>();
        new TreeMap<>(history.inForce())
                .forEach((policy, changes) -> changes.forEach(change -> comments.add(policy + ": " + change)));
        comments.add(
                0,
                comments.isEmpty()
                        ? "All policies are as configured."
                        : "After a deployment of this, remove the changes by {\"restore\": true}.");
        return PolicyYaml.of(history.policies(all), showKeys, comments);
    }

    /** The requests that were recorded, for the simulator. */
    WebEndpointResponse<Object> recording() {
        WebEndpointResponse<Object> answer = answer(() ->
                new InputStreamResource(LineStream.of(operations.observations().recording())));
        return answer.getStatus() == WebEndpointResponse.STATUS_OK
                ? new WebEndpointResponse<>(answer.getBody(), NDJSON)
                : answer;
    }

    private static @Nullable String only(Map<String, Object> arguments, String name) {
        List<String> all = texts(arguments.get(name));
        if (all.size() > 1) {
            throw new IllegalArgumentException("there are " + all.size() + " values of " + name + "; write one");
        }
        return all.isEmpty() ? null : all.get(0);
    }

    static @Nullable String first(Map<String, Object> arguments, String name) {
        List<String> all = texts(arguments.get(name));
        return all.isEmpty() ? null : all.get(0);
    }

    /**
     * Changes a policy.
     *
     * @param policy its name
     * @param fields of {@link WrittenChange}
     */
    WebEndpointResponse<Object> change(SecurityContext security, String policy, Map<String, Object> fields) {
        return answer(() -> {
            WrittenChange written = new WrittenChange(field -> only(fields, field));
            RateLimitChange change = written.change();
            boolean restore = written.isTrue("restore");
            boolean plain = showsKeys(security);
            return written.isTrue("dryRun")
                    ? operations.preview(policy, change, restore, written.version(), plain)
                    : operations.edit(policy, change, restore, written.version(), plain);
        });
    }

    /**
     * Sets the override of a key.
     *
     * @param policy its name
     * @param fields of {@link WrittenOverride}
     */
    WebEndpointResponse<Object> override(SecurityContext security, String policy, Map<String, Object> fields) {
        return answer(() -> {
            WrittenOverride written = new WrittenOverride(field -> only(fields, field));
            return operations
                    .overrides()
                    .set(policy, written.key(), written.override(), written.version(), showsKeys(security));
        });
    }

    /** Starts the trial of another limit, likewise. */
    WebEndpointResponse<Object> startTrial(SecurityContext security, String policy, Map<String, Object> fields) {
        return answer(() -> trials.start(policy, fields, showsKeys(security)));
    }

    /** Ends the trial of another limit. */
    WebEndpointResponse<Object> endTrial(SecurityContext security, String policy) {
        return answer(() -> trials.end(policy, showsKeys(security)));
    }

    /**
     * Tells the actuator that there are changes; {@link EndpointArguments} hands them to {@link #change} and
     * {@link #override}, which have more fields than a method should have parameters.
     *
     * @param policy its name
     */
    @WriteOperation
    WebEndpointResponse<Object> write(@Selector(match = Selector.Match.ALL_REMAINING) String[] policy) {
        return mistake("nothing to change under " + String.join("/", policy));
    }

    /**
     * Resets a key to a full budget; under the overrides of a policy, removes that of the key.
     *
     * @param policy its name
     * @param key the plain value of the key, one for each part
     * @param version of the override that is to be removed, as it was reported
     */
    @DeleteOperation
    WebEndpointResponse<Object> reset(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] policy,
            @Nullable Object key,
            @Nullable String version) {
        String ofOverrides = policyOfOverrides(String.join("/", policy));
        if (ofOverrides != null) {
            return removeOverride(ofOverrides, texts(key), version);
        }
        return answer(() -> {
            if (!operations.reset(String.join("/", policy), values(key).toArray(String[]::new))) {
                throw new IllegalStateException(
                        "the store does not answer; the key is not reset, unless the store has received that. Look at the"
                                + " key before you try again");
            }
            return Map.of();
        });
    }

    private WebEndpointResponse<Object> removeOverride(String policy, List<String> keys, @Nullable String version) {
        if (keys.size() != 1) {
            return mistake("the overrides of a policy have one key each; write ?key=alice");
        }
        return answer(() -> {
            Map<String, Object> removed = operations.overrides().remove(policy, keys.get(0), version);
            if (removed == null) {
                throw new NoSuchElementException("this key has no override; GET shows those of the policy");
            }
            return removed;
        });
    }

    private WebEndpointResponse<Object> answer(Supplier<Object> work) {
        try {
            return new WebEndpointResponse<>(work.get(), MimeTypeUtils.APPLICATION_JSON);
        } catch (UnknownPolicyException | NoSuchElementException e) {
            return error(e, WebEndpointResponse.STATUS_NOT_FOUND);
        } catch (IllegalArgumentException | RateLimitConfigurationException e) {
            return error(e, WebEndpointResponse.STATUS_BAD_REQUEST);
        } catch (StaleVersionException e) {
            return error(e, HttpStatus.CONFLICT.value());
        } catch (IllegalStateException | StoreUnavailableException e) {
            return error(e, WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
        }
    }

    /** The answer to a question or a change that is wrong. */
    static WebEndpointResponse<Object> mistake(String message) {
        return error(message, WebEndpointResponse.STATUS_BAD_REQUEST);
    }

    private static WebEndpointResponse<Object> error(RuntimeException cause, int status) {
        return error(String.valueOf(cause.getMessage()), status);
    }

    private static WebEndpointResponse<Object> error(String message, int status) {
        return new WebEndpointResponse<>(Map.of("error", message), status, MimeTypeUtils.APPLICATION_JSON);
    }

    private static List<String> values(@Nullable Object sent) {
        // "?key=" asks for the only budget of a policy that all callers share
        return sent == null || sent.equals("") ? List.of() : texts(sent);
    }

    /** As sent, one or several times: the type String would be split at its commas, if it were a list. */
    private static List<String> texts(@Nullable Object sent) {
        if (sent == null) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        (sent instanceof Collection<?> several ? several : List.of(sent))
                .forEach(text -> texts.add(String.valueOf(text)));
        return texts;
    }

    private static String page() {
        try {
            return new ClassPathResource("ratelimits.html", RateLimitsEndpoint.class)
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
