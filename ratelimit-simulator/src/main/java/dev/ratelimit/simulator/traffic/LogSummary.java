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

    private final Set<Field> fields = new HashSet<>();
    private @Nullable Recording recording;
    private final Set<String> endpoints = new HashSet<>();
    private boolean users;
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

    void fields(Set<Field> more) {
        fields.addAll(more);
    }

    void recording(@Nullable Recording heading) {
        recording = recording == null ? heading : recording;
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

    void fractions() {
        wholeSeconds = false;
    }

    void request(LoggedRequest request) {
        requests++;
        users = users || request.user() != null;
        if (recording != null) {
            endpoints.add(request.method() + " " + request.path().value());
        }
        if (request.status() == 429 || request.wasRefused()) {
            limited++;
        }
        if (request.method().equals("OPTIONS")) {
            preflights++;
        }
    }

    /** What the first line of the first recording says; {@code null} if there is none among the logs. */
    public @Nullable Recording recording() {
        return recording;
    }

    /** What the fields say. */
    public Set<Field> fields() {
        return fields;
    }

    /** Whether a recording says that requests were charged before and after Spring Security. */
    public boolean hasStages() {
        return recording != null && recording.stages();
    }

    /** The endpoints of a recording, such as {@code GET /orders/{id}}; empty for other logs. */
    public Set<String> endpoints() {
        return endpoints;
    }

    /** Whether a request had the name of its caller. */
    public boolean hasUsers() {
        return users;
    }

    /** How many requests there were. */
    public long requests() {
        return requests;
    }

    /** How many lines could not be read. */
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
