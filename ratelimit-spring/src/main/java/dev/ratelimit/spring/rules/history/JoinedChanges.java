package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.history.ChangeStore.Contents;
import dev.ratelimit.spring.rules.history.ChangeStore.Kind;
import dev.ratelimit.spring.rules.history.ChangeStore.Name;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two copies of what operators have changed as one: all entries of both histories, and the later value of each property,
 * unless an entry that is later still says that it was changed, removed or restored. The result is the same whichever of
 * the two is one's own. Used by one thread.
 */
final class JoinedChanges {

    private static final Logger log = LoggerFactory.getLogger(JoinedChanges.class);

    /** What an entry has changed. */
    private record Changed(Name name, String property) {}

    private final long nowMicros;
    private final Map<Changed, Long> latest = new HashMap<>();

    /** What was wrong with a text; {@code null} if nothing was. */
    private @Nullable String foreign;

    private JoinedChanges(long nowMicros) {
        this.nowMicros = nowMicros;
    }

    /**
     * Joins two copies.
     *
     * @param nowMicros what has ended by now is left out where the two differ
     */
    static Contents of(Contents mine, Contents theirs, long nowMicros) {
        return mine.equals(theirs) ? theirs : new JoinedChanges(nowMicros).join(mine, theirs);
    }

    private Contents join(Contents mine, Contents theirs) {
        List<String> history = history(mine.history(), theirs.history());
        Map<Kind, Map<String, String>> texts = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            texts.put(kind, texts(kind, mine.of(kind), theirs.of(kind)));
        }
        if (foreign != null) {
            log.warn(
                    "Redis had a value that is none of changes of rate limits; it is replaced by what this instance knows."
                            + " Give the other writer another key, or this application another"
                            + " ratelimit.store.redis.prefix: {}",
                    foreign);
        }
        return new Contents(texts, history);
    }

    private List<String> history(List<String> mine, List<String> theirs) {
        Map<String, Instant> times = new LinkedHashMap<>();
        Stream.concat(theirs.stream(), mine.stream()).distinct().forEach(text -> {
            try {
                RecordedChange change = RecordedChange.parse(text);
                Instant time = change.entry().time();
                times.put(text, time);
                change.properties()
                        .forEach(property -> latest.merge(
                                new Changed(change.subject(), property), ChangedValue.micros(time), Math::max));
            } catch (IllegalArgumentException e) {
                foreign = e.getMessage();
            }
        });
        return times.entrySet().stream()
                .sorted(Map.Entry.<String, Instant>comparingByValue().reversed())
                .limit(ChangeStore.MAX_HISTORY)
                .map(Map.Entry::getKey)
                .toList();
    }

    private Map<String, String> texts(Kind kind, Map<String, String> mine, Map<String, String> theirs) {
        Map<String, String> joined = new HashMap<>();
        Set<String> names = new HashSet<>(theirs.keySet());
        names.addAll(mine.keySet());
        for (String name : names) {
            String my = mine.getOrDefault(name, "");
            String their = theirs.getOrDefault(name, "");
            String text = my.equals(their) ? my : text(new Name(kind, name), my, their);
            if (!text.isEmpty()) {
                joined.put(name, text);
            }
        }
        return joined;
    }

    private String text(Name name, String mine, String theirs) {
        Map<String, ChangedValue> their = valuesOf(theirs);
        Map<String, ChangedValue> joined = new TreeMap<>(their);
        Map<String, ChangedValue> my = valuesOf(mine);
        my.forEach((property, value) ->
                joined.merge(property, value, (one, other) -> one.since() < other.since() ? other : one));
        joined.entrySet()
                .removeIf(entry -> entry.getValue().hasEndedAt(nowMicros)
                        || latest.getOrDefault(new Changed(name, entry.getKey()), 0L)
                                > entry.getValue().since());
        if (joined.isEmpty()) {
            return "";
        } else if (joined.equals(their) || joined.equals(my)) {
            return joined.equals(their) ? theirs : mine;
        }
        return ChangedValue.text(ChangedValue.json(joined));
    }

    private Map<String, ChangedValue> valuesOf(String text) {
        try {
            return ChangedValue.parse(text);
        } catch (IllegalArgumentException e) {
            foreign = e.getMessage();
            return Map.of();
        }
    }
}
