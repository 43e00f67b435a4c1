package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.decision.StaleVersionException;
import dev.ratelimit.spring.rules.decision.UnknownPolicyException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
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
 *
 * <p>Spring Boot calls these methods for what has the parameters that they declare; {@link EndpointArguments} hands all else to
 * {@link #read(SecurityContext, String, SentArguments)} and {@link #write(SecurityContext, String, SentArguments)}.
 */
@SuppressWarnings("deprecation") // the actuator of Spring Boot 3.5 knows no other annotation Nullable
@WebEndpoint(id = RateLimitsEndpoint.ID, defaultAccess = Access.READ_ONLY)
public final class RateLimitsEndpoint {

    public static final String ID = "ratelimits";

    /** In place of a policy's name. */
    static final String YAML = "yaml";

    /** In place of a policy's name. */
    static final String PAGE = "page";

    /** The rest of the path, which names a policy; a name may contain slashes. */
    static final String POLICY = "policy";

    /** The key of the only budget of a policy that all callers share, {@code ?key=}. */
    private static final List<String> SHARED = List.of("");

    private static final MimeType APPLICATION_YAML = new MimeType("application", "yaml", StandardCharsets.UTF_8);

    private static final MimeType NDJSON = new MimeType("application", "x-ndjson");

    private static final MimeType HTML = new MimeType("text", "html", StandardCharsets.UTF_8);

    private final PoliciesEndpoint policies;
    private final OverridesEndpoint overrides;
    private final TrialsEndpoint trials;
    private final HistoryEndpoint history;
    private final QuestionsEndpoint questions;
    private final RecordingEndpoint recording;
    private final RateLimitsEndpointProperties properties;

    public RateLimitsEndpoint(
            PoliciesEndpoint policies,
            OverridesEndpoint overrides,
            TrialsEndpoint trials,
            HistoryEndpoint history,
            QuestionsEndpoint questions,
            RecordingEndpoint recording,
            RateLimitsEndpointProperties properties) {
        this.policies = policies;
        this.overrides = overrides;
        this.trials = trials;
        this.history = history;
        this.questions = questions;
        this.recording = recording;
        this.properties = properties;
    }

    /** All policies. */
    @ReadOperation
    WebEndpointResponse<Object> list(SecurityContext security) {
        return answer(() -> policies.list(showsKeys(security)));
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
        if (name == null || OverridesEndpoint.policyOf(name) != null || TrialsEndpoint.policyOf(name) != null) {
            return Set.of();
        }
        if (HistoryEndpoint.isAt(name)) {
            return Set.of("limit");
        }
        return switch (name) {
            case YAML -> Set.of("all");
            case RecordingEndpoint.NAME -> Set.of();
            case QuestionsEndpoint.EXPLAIN -> QuestionsEndpoint.EXPLAINED;
            case QuestionsEndpoint.CALLER -> QuestionsEndpoint.CALLING;
            default -> Set.of("key");
        };
    }

    /** The fields of a change of this. */
    static Set<String> fieldsOf(@Nullable String name) {
        if (TrialsEndpoint.policyOf(name) != null) {
            return TrialsEndpoint.FIELDS;
        }
        return OverridesEndpoint.policyOf(name) == null ? WrittenChange.FIELDS : WrittenOverride.FIELDS;
    }

    /**
     * Tells the actuator what can be read under a name, and in which formats.
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
        return read(security, String.join("/", policy), new SentArguments(key == null ? Map.of() : Map.of("key", key)));
    }

    /** Whatever the rest of the path names: a policy, or something in place of one. */
    WebEndpointResponse<Object> read(SecurityContext security, String name, SentArguments parameters) {
        boolean showKeys = showsKeys(security);
        String ofOverrides = OverridesEndpoint.policyOf(name);
        String ofTrial = TrialsEndpoint.policyOf(name);
        if (ofOverrides != null) {
            return answer(() -> overrides.list(ofOverrides, showKeys));
        } else if (ofTrial != null) {
            return answer(() -> trials.report(ofTrial, showKeys));
        } else if (HistoryEndpoint.isAt(name)) {
            return answer(() -> history.read(name, parameters, showKeys));
        }
        return switch (name) {
            case QuestionsEndpoint.EXPLAIN -> answer(() -> questions.explain(parameters, showKeys));
            case QuestionsEndpoint.CALLER -> answer(() -> questions.caller(parameters, showKeys));
            case YAML -> answer(APPLICATION_YAML, () -> history.yaml(parameters, showKeys));
            case RecordingEndpoint.NAME -> answer(NDJSON, () -> new InputStreamResource(recording.lines()));
            case PAGE -> answer(HTML, RateLimitsEndpoint::page);
            default -> answer(() -> policies.read(name, keyOf(parameters), showKeys));
        };
    }

    /** Changes a policy, or the override of a key or the trial of one. */
    WebEndpointResponse<Object> write(SecurityContext security, String name, SentArguments fields) {
        boolean showKeys = showsKeys(security);
        String ofOverrides = OverridesEndpoint.policyOf(name);
        String ofTrial = TrialsEndpoint.policyOf(name);
        return answer(() -> {
            if (ofOverrides != null) {
                return overrides.set(ofOverrides, fields, showKeys);
            }
            return ofTrial != null ? trials.start(ofTrial, fields, showKeys) : policies.change(name, fields, showKeys);
        });
    }

    /**
     * Tells the actuator that there are changes, which have more fields than a method should have parameters.
     *
     * @param policy its name
     */
    @WriteOperation
    WebEndpointResponse<Object> write(@Selector(match = Selector.Match.ALL_REMAINING) String[] policy) {
        return mistake("nothing to change under " + String.join("/", policy));
    }

    /**
     * Resets a key to a full budget; under the overrides of a policy, removes that of the key; ends a trial.
     *
     * @param policy its name
     * @param key the plain value of the key, one for each part
     * @param version of the override that is to be removed, as it was reported
     */
    @DeleteOperation
    WebEndpointResponse<Object> delete(
            SecurityContext security,
            @Selector(match = Selector.Match.ALL_REMAINING) String[] policy,
            @Nullable Object key,
            @Nullable String version) {
        String name = String.join("/", policy);
        String ofOverrides = OverridesEndpoint.policyOf(name);
        String ofTrial = TrialsEndpoint.policyOf(name);
        List<String> keys = SentArguments.texts(key);
        return answer(() -> {
            if (ofOverrides != null) {
                return overrides.remove(ofOverrides, keys, version);
            }
            return ofTrial != null
                    ? trials.end(ofTrial, showsKeys(security))
                    : policies.reset(name, keys.equals(SHARED) ? List.of() : keys);
        });
    }

    /** One value for each part; {@code null} without a key. */
    private static @Nullable List<String> keyOf(SentArguments parameters) {
        List<String> values = parameters.all("key");
        return values.isEmpty() ? null : values.equals(SHARED) ? List.of() : values;
    }

    private static WebEndpointResponse<Object> answer(Supplier<Object> work) {
        return answer(MimeTypeUtils.APPLICATION_JSON, work);
    }

    private static WebEndpointResponse<Object> answer(MimeType type, Supplier<Object> work) {
        try {
            return new WebEndpointResponse<>(work.get(), type);
        } catch (UnknownPolicyException | NoSuchElementException e) {
            return error(e, WebEndpointResponse.STATUS_NOT_FOUND);
        } catch (IllegalArgumentException | RateLimitConfigurationException e) {
            return error(e, WebEndpointResponse.STATUS_BAD_REQUEST);
        } catch (StaleVersionException e) {
            Map<String, String> body = Map.of("error", String.valueOf(e.getMessage()), "version", e.version());
            return new WebEndpointResponse<>(body, HttpStatus.CONFLICT.value(), MimeTypeUtils.APPLICATION_JSON);
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

    private static String page() {
        try {
            return new ClassPathResource("ratelimits.html", RateLimitsEndpoint.class)
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
