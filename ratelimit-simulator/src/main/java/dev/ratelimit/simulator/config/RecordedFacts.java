package dev.ratelimit.simulator.config;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.traffic.Field;
import dev.ratelimit.simulator.traffic.Field.Kind;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What of requests a log has recorded, compared with what limits read. Immutable. */
final class RecordedFacts {

    /** How the facts that a log may have are named by the user. */
    private static final Map<Fact, String> OPTIONS = Map.of(
            Fact.HEADER, "--header NAME=FIELD",
            Fact.COOKIE, "--cookie NAME=FIELD",
            Fact.CLAIM, "--claim NAME=FIELD",
            Fact.BEAN, "--bean NAME=FIELD",
            Fact.USER, "--user-from FIELD",
            Fact.PRINCIPAL, "--user-from FIELD and --roles-from FIELD",
            Fact.SESSION, "--session-from FIELD",
            Fact.ADDRESS, "--field address=FIELD",
            Fact.ENDPOINT, "--endpoints FILE",
            Fact.PATH_VARIABLE, "--endpoints FILE");

    private final Set<Field> fields;
    private final boolean users;
    private final boolean endpoints;
    private final @Nullable Recording recording;
    private final RecordedPaths paths;

    /**
     * Knows what a log has.
     *
     * @param log what was found in it
     * @param users whether the user has said where the names of callers are, which may be missing in all lines
     * @param endpoints whether the user has said which endpoints there are
     */
    RecordedFacts(LogSummary log, boolean users, boolean endpoints) {
        this.fields = Set.copyOf(log.fields());
        this.users = users || log.hasUsers();
        this.endpoints = endpoints;
        this.recording = log.recording();
        this.paths = new RecordedPaths(Set.copyOf(log.endpoints()));
    }

    /** What the application has recorded of its policies; {@code null} if the log is no recording. */
    @Nullable
    Recording recording() {
        return recording;
    }

    /** What it has of paths, if it is a recording. */
    RecordedPaths paths() {
        return paths;
    }

    /** What of this the log lacks, for readers; empty if nothing. */
    List<String> lackOf(Reads reads) {
        List<String> lack = new ArrayList<>();
        for (Fact fact : Fact.values()) {
            if (reads.includeAll(fact) && !hasAll(fact)) {
                lack.add(text(fact, ""));
            }
            for (String name : new TreeSet<>(reads.names(fact))) {
                if (!has(fact, name)) {
                    lack.add(text(fact, name));
                }
            }
        }
        return lack;
    }

    private String text(Fact fact, String name) {
        String what = switch (fact) {
            case HEADER -> name.isEmpty() ? "headers" : "the header " + name;
            case COOKIE -> name.isEmpty() ? "cookies" : "the cookie " + name;
            case CLAIM -> name.isEmpty() ? "claims" : "the claim " + name;
            case BEAN -> "what the bean " + name + " says";
            case USER -> "the caller's name";
            case PRINCIPAL -> "the caller's roles";
            case SESSION -> "the session";
            case ADDRESS -> "the address";
            case URL -> "the scheme and the host";
            case ROUTE -> "the route";
            case PARAMETER -> "the body, which may have the parameter" + (name.isEmpty() ? "" : " " + name);
            case PATH_VARIABLE -> "the variables of paths";
            case ATTRIBUTE -> "the attribute" + (name.isEmpty() ? "s" : " " + name);
            default -> "the " + fact.name().toLowerCase(Locale.ROOT);
        };
        String option = recording == null ? OPTIONS.get(fact) : null;
        return what + (option == null ? "" : " (" + option.replace("NAME", name.isEmpty() ? "NAME" : name) + ")");
    }

    private boolean hasAll(Fact fact) {
        return switch (fact) {
            case METHOD -> true;
            case ENDPOINT -> recording != null || endpoints;
            case PATH_VARIABLE -> recording == null && endpoints;
            case QUERY -> recording == null;
            case ADDRESS -> has(Kind.ADDRESS);
            case USER -> users;
            case PRINCIPAL -> users && has(Kind.ROLES);
            case SESSION -> has(Kind.SESSION);
            default -> false;
        };
    }

    private boolean has(Fact fact, String name) {
        return switch (fact) {
            case HEADER -> fields.contains(new Field(Kind.HEADER, name));
            case COOKIE -> fields.contains(new Field(Kind.COOKIE, name));
            case CLAIM -> fields.contains(new Field(Kind.CLAIM, name));
            case BEAN -> name.startsWith(RecordedCharge.RECORDED) || fields.contains(new Field(Kind.BEAN, name));
            case ATTRIBUTE -> name.startsWith(RecordedCharge.RECORDED);
            default -> hasAll(fact);
        };
    }

    boolean hasHeader(String name) {
        return has(Fact.HEADER, name.toLowerCase(Locale.ROOT));
    }

    boolean has(Kind kind) {
        return fields.stream().anyMatch(field -> field.kind() == kind);
    }
}
