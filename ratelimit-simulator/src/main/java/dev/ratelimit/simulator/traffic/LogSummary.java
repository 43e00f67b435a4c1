package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.text.PrintableText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What was found in a log. Not thread-safe. */
public final class LogSummary {

    private static final int SHOWN = 5;

    private final List<String> formats = new ArrayList<>();
    private final Set<Field> fields = new HashSet<>();
    private @Nullable Recording recording;
    private final Set<String> endpoints = new HashSet<>();
    private boolean users;
    private boolean durations;
    private boolean statuses;
    private final List<String> mistakes = new ArrayList<>();
    private final List<String> damages = new ArrayList<>();
    private long lines;
    private long requests;
    private long malformed;
    private long late;
    private long limited;
    private long preflights;
    private boolean wholeSeconds = true;

    /** What of the log was not read as it is, a line each, for people; empty if all of it was. */
    public List<String> unread() {
        List<String> all = new ArrayList<>();
        if (malformed > 0) {
            all.add(String.format(Locale.ROOT, "%,d of %,d lines could not be read:", malformed, lines));
            mistakes.forEach(mistake -> all.add("    " + mistake));
        }
        damages.forEach(damage -> all.add(damage + "."));
        if (late > 0) {
            all.add(String.format(
                    Locale.ROOT,
                    "%,d requests were out of order by more than the window, and count as later than they were"
                            + " (--sort-window).",
                    late));
        }
        return all;
    }

    void format(String format) {
        if (!formats.contains(format)) {
            formats.add(format);
        }
    }

    void fields(Set<Field> more) {
        fields.addAll(more);
    }

    void recording(@Nullable Recording heading) {
        recording = recording == null ? heading : recording;
    }

    /** What the first line of the first recording says; {@code null} if there is none among the logs. */
    public @Nullable Recording recording() {
        return recording;
    }

    void line() {
        lines++;
    }

    void malformed(String where, String reason) {
        malformed++;
        if (mistakes.size() < SHOWN) {
            mistakes.add(PrintableText.of(where + ": " + reason));
        }
    }

    void damaged(String file, String damage) {
        damages.add(PrintableText.of(file + ": " + damage + "; what comes before that was read"));
    }

    void addLate() {
        late++;
    }

    /** Takes over what the requests of the whole logs have. */
    void learn(LogSummary whole) {
        fields.addAll(whole.fields);
        users |= whole.users;
        durations |= whole.durations;
        statuses |= whole.statuses;
        endpoints.addAll(whole.endpoints);
    }

    /** Notes what a request has that is still to come. */
    void peek(LoggedRequest request) {
        users |= request.user() != null;
        durations |= request.durationNanos() != LoggedRequest.UNKNOWN;
        statuses |= request.status() != LoggedRequest.UNKNOWN;
        if (recording != null) {
            endpoints.add(request.method() + " " + request.path().value());
        }
    }

    void request(LoggedRequest request) {
        requests++;
        peek(request);
        if (request.status() == 429 || request.wasRefused()) {
            limited++;
        }
        if (request.method().equals("OPTIONS")) {
            preflights++;
        }
    }

    void fractions() {
        wholeSeconds = false;
    }

    /** The formats, in the order of the files. */
    public List<String> formats() {
        return formats;
    }

    /** What the fields say. */
    public Set<Field> fields() {
        return fields;
    }

    /** Whether a recording says that requests were charged before and after Spring Security. */
    public boolean hasStages() {
        return recording != null && recording.stages();
    }

    /** The endpoints of a recording so far, such as {@code GET /orders/{id}}; empty for other logs. */
    public Set<String> endpoints() {
        return endpoints;
    }

    /** Whether a request so far had the name of its caller. */
    public boolean hasUsers() {
        return users;
    }

    /** Whether a request so far had a duration. */
    public boolean hasDurations() {
        return durations;
    }

    /** Whether a request so far had a status. */
    public boolean hasStatuses() {
        return statuses;
    }

    /** How many of them were requests. */
    public long requests() {
        return requests;
    }

    /** How many could not be read. */
    public long malformed() {
        return malformed;
    }

    /** The first of those, with their numbers and what is wrong. */
    public List<String> mistakes() {
        return mistakes;
    }

    /** How many requests came so late in the log that they could not be sorted. */
    public long late() {
        return late;
    }

    /** How many were refused already when they were recorded. */
    public long limited() {
        return limited;
    }

    /** How many have the method of preflights. */
    public long preflights() {
        return preflights;
    }

    /** Whether all times were whole seconds. */
    public boolean hasWholeSeconds() {
        return wholeSeconds && requests > 1;
    }

    /** Whether everything could be read, in its order. */
    public boolean isClean() {
        return malformed == 0 && damages.isEmpty() && late == 0;
    }
}
