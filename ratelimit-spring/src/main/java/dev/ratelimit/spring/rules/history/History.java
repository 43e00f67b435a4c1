package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What operators have done lately: a register that instances replicate. Two registers are joined by the union of their
 * lines, of which the latest {@link #MAX} are kept, so the result depends neither on the order in which instances learn
 * of entries nor on how often. Immutable.
 *
 * <p>Nobody writes down what ends by itself, which several instances would do: each line knows its end.
 *
 * @param lines the oldest first, none twice
 */
public record History(List<HistoryLine> lines) {

    /** How many entries are kept. */
    public static final int MAX = 1000;

    /** Nothing has been done. */
    public static final History NONE = new History(List.of());

    /** Copies the list. */
    public History {
        lines = List.copyOf(lines);
    }

    private static History of(Stream<HistoryLine> lines) {
        List<HistoryLine> sorted = lines.distinct().sorted().toList();
        return new History(sorted.subList(Math.max(0, sorted.size() - MAX), sorted.size()));
    }

    /** Both. */
    public History and(History other) {
        return of(Stream.concat(lines.stream(), other.lines.stream()));
    }

    /** The same, and this line. */
    History and(HistoryLine line) {
        return of(Stream.concat(lines.stream(), Stream.of(line)));
    }

    /**
     * Reads {@link #toString}.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    public static History parse(String text) {
        return of(text.lines().map(HistoryLine::parse));
    }

    /** A line for each entry. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        lines.forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    /**
     * The entries, and what has ended by itself until now, the latest first.
     *
     * @param policy of these entries; {@code null} for all
     */
    List<HistoryEntry> entries(@Nullable String policy, Instant now) {
        List<HistoryEntry> entries = new ArrayList<>();
        Map<String, List<HistoryLine>> later = new HashMap<>();
        for (int i = lines.size() - 1; i >= 0; i--) {
            HistoryLine line = lines.get(i);
            if (policy == null || policy.equals(line.entry().policy())) {
                List<HistoryLine> after = later.computeIfAbsent(line.subject(), subject -> new ArrayList<>());
                if (hasEnded(line, after, now)) {
                    entries.add(endOf(line.entry()));
                }
                entries.add(line.entry());
                after.add(line);
            }
        }
        entries.sort(Comparator.comparing(HistoryEntry::time).reversed());
        return entries;
    }

    /** Whether something that a line has changed has ended, and was not replaced before. */
    private static boolean hasEnded(HistoryLine line, List<HistoryLine> later, Instant now) {
        Instant until = line.entry().until();
        if (until == null || until.isAfter(now)) {
            return false;
        }
        Set<String> properties = new HashSet<>(line.properties());
        later.stream()
                .filter(other -> other.entry().time().isBefore(until))
                .forEach(other -> properties.removeAll(other.properties()));
        return !properties.isEmpty();
    }

    @SuppressWarnings("NullAway") // it has ended
    private static HistoryEntry endOf(HistoryEntry entry) {
        return new HistoryEntry(
                entry.until(), Action.EXPIRY, entry.policy(), entry.key(), entry.to(), null, null, null, null);
    }
}
