package dev.ratelimit.spring.rules.history;

import static dev.ratelimit.spring.rules.text.UrlEncoding.decoded;
import static dev.ratelimit.spring.rules.text.UrlEncoding.encoded;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.UrlEncoding;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An entry of a history as instances share it: one line. Immutable. */
public final class HistoryLine implements Comparable<HistoryLine> {

    private static final int PARTS = 10;

    /** Longer names, descriptions and reasons are cut, so that memory is bounded. */
    private static final int MAX_TEXT = 500;

    private final HistoryEntry entry;
    private final Set<String> properties;
    private final String text;

    /**
     * Cuts what is too long.
     *
     * @param entry exact to a microsecond
     * @param properties what it has changed, such as limit; replaced by those of a later entry for the same policy and key
     */
    HistoryLine(HistoryEntry entry, Set<String> properties) {
        this.entry = new HistoryEntry(
                entry.time().truncatedTo(ChronoUnit.MICROS),
                entry.action(),
                entry.policy(),
                cut(entry.key()),
                cut(entry.from()),
                cut(entry.to()),
                entry.until(),
                cut(entry.reason()),
                cut(entry.by()));
        this.properties = Set.copyOf(properties);
        this.text = write();
    }

    HistoryEntry entry() {
        return entry;
    }

    Set<String> properties() {
        return properties;
    }

    private static @Nullable String cut(@Nullable String text) {
        return text == null || text.length() <= MAX_TEXT ? text : WellFormed.beginning(text, MAX_TEXT - 3) + "...";
    }

    /**
     * Reads {@link #toString}.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    static HistoryLine parse(String line) {
        String[] parts = line.split(" ", -1);
        try {
            if (parts.length == PARTS) {
                return new HistoryLine(
                        new HistoryEntry(
                                ChangeNote.instant(Long.parseLong(parts[0])),
                                Action.valueOf(parts[1]),
                                decoded(parts[2]),
                                optional(parts[3], UrlEncoding::decoded),
                                optional(parts[4], UrlEncoding::decoded),
                                optional(parts[5], UrlEncoding::decoded),
                                optional(parts[6], end -> ChangeNote.instant(Long.parseLong(end))),
                                optional(parts[7], UrlEncoding::decoded),
                                optional(parts[8], UrlEncoding::decoded)),
                        Arrays.stream(parts[9].split(",", -1)).collect(Collectors.toSet()));
            }
        } catch (IllegalArgumentException e) {
            // refused below
        }
        throw new IllegalArgumentException("not an entry of a history: " + Quotation.of(line));
    }

    private static <T> @Nullable T optional(String part, Function<String, T> reader) {
        if (part.equals("-")) {
            return null;
        }
        if (!part.startsWith("+")) {
            throw new IllegalArgumentException("neither missing nor there: " + Quotation.of(part));
        }
        return reader.apply(part.substring(1));
    }

    private String write() {
        return Stream.of(
                        Long.toString(ChangeNote.micros(entry.time())),
                        entry.action().name(),
                        encoded(entry.policy()),
                        optional(entry.key()),
                        optional(entry.from()),
                        optional(entry.to()),
                        optional(end()),
                        optional(entry.reason()),
                        optional(entry.by()),
                        String.join(",", new TreeSet<>(properties)))
                .collect(Collectors.joining(" "));
    }

    private @Nullable String end() {
        Instant until = entry.until();
        return until == null ? null : Long.toString(ChangeNote.micros(until));
    }

    private static String optional(@Nullable String text) {
        return text == null ? "-" : "+" + encoded(text);
    }

    /** What the entry is about. */
    String subject() {
        return encoded(entry.policy()) + " " + optional(entry.key());
    }

    /** By time, then by text, so that all instances agree. */
    @Override
    public int compareTo(HistoryLine other) {
        int byTime = entry.time().compareTo(other.entry.time());
        return byTime == 0 ? text.compareTo(other.text) : byTime;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HistoryLine line && text.equals(line.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** Ten parts without spaces; those that may be missing are {@code -}, or begin with {@code +}. */
    @Override
    public String toString() {
        return text;
    }
}
