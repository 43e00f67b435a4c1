package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.HistoryEntry.Action;
import dev.ratelimit.spring.rules.text.Json;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the history.
 *
 * @param entry what was done
 * @param properties what it has changed, such as limit; replaced by those of a later entry for the same policy and key
 */
record RecordedChange(HistoryEntry entry, Set<String> properties) {

    /** Longer names, descriptions and reasons are cut, so that memory is bounded. */
    private static final int MAX_TEXT = 500;

    /** The text of an entry that is not accepted yet; its time and its end are left out, and known when it is. */
    static String text(HistoryEntry entry, ChangeEnd end, Set<String> properties) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("time", ChangeStore.ACCEPTED);
        json.put("action", entry.action().name());
        json.put("policy", entry.policy());
        json.put("properties", new TreeSet<>(properties));
        put(json, "key", entry.key());
        put(json, "from", cut(entry.from()));
        put(json, "to", cut(entry.to()));
        put(json, "until", end.json());
        put(json, "reason", cut(entry.reason()));
        put(json, "by", cut(entry.by()));
        return Json.write(json);
    }

    private static void put(Map<String, Object> json, String name, @Nullable Object value) {
        if (value != null) {
            json.put(name, value);
        }
    }

    private static @Nullable String cut(@Nullable String text) {
        return text == null || text.length() <= MAX_TEXT ? text : WellFormed.beginning(text, MAX_TEXT - 3) + "...";
    }

    /**
     * Reads {@link #text} once it is accepted.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    static RecordedChange parse(String text) {
        Map<String, Object> json = Json.parse(text);
        if (json.get("time") instanceof Number time
                && json.get("action") instanceof String action
                && json.get("policy") instanceof String policy
                && json.get("properties") instanceof List<?> properties) {
            return new RecordedChange(
                    new HistoryEntry(
                            ChangedValue.instant(time.longValue()),
                            Action.valueOf(action),
                            policy,
                            string(json, "key"),
                            string(json, "from"),
                            string(json, "to"),
                            json.get("until") instanceof Number until ? ChangedValue.instant(until.longValue()) : null,
                            string(json, "reason"),
                            string(json, "by")),
                    properties.stream().map(String::valueOf).collect(Collectors.toSet()));
        }
        throw new IllegalArgumentException("not an entry of a history: " + Quotation.of(text));
    }

    private static @Nullable String string(Map<String, Object> json, String name) {
        return json.get(name) instanceof String text ? text : null;
    }

    /** What the entry is about. */
    ChangeStore.Name subject() {
        String key = entry.key();
        return key == null ? ChangeStore.Name.ofPolicy(entry.policy()) : ChangeStore.Name.ofKey(entry.policy(), key);
    }
}
