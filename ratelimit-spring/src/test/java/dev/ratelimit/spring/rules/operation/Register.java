package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.ChangeStore.Change;
import dev.ratelimit.spring.rules.history.ChangeStore.Contents;
import dev.ratelimit.spring.rules.history.ChangeStore.Kind;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What instances share, as a server keeps it that loses it from time to time. */
final class Register {

    static final Contents NOTHING = new Contents(Map.of(Kind.POLICY, Map.of(), Kind.OVERRIDE, Map.of()), List.of());

    Contents contents = NOTHING;
    int calls;

    /** Happens while an instance waits for the answer. */
    Runnable meanwhile = () -> {};

    private long last;

    /** From now on, this instance shares what is here. */
    void share(LiveRules live) {
        live.changes.share((change, known) -> change(live, change, known));
    }

    private ChangeStore.@Nullable Accepted change(LiveRules live, Change change, String known) {
        calls++;
        meanwhile.run();
        Map<Kind, Map<String, String>> texts = new EnumMap<>(Kind.class);
        contents.texts().forEach((kind, all) -> texts.put(kind, new HashMap<>(all)));
        Map<String, String> all = texts.computeIfAbsent(change.name().kind(), kind -> new HashMap<>());
        String name = change.name().text();
        if (!all.getOrDefault(name, "").equals(known)) {
            read(live);
            return null;
        }
        // its clock is the latest one
        last = Math.max(live.changes.nowMicros(), last + 1);
        ChangeStore.Accepted at = new ChangeStore.Accepted(last, last);
        all.put(name, change.accepted(change.text(), at));
        all.values().removeIf(String::isEmpty);
        contents = new Contents(
                texts,
                Stream.concat(Stream.of(change.accepted(change.entry(), at)), contents.history().stream())
                        .toList());
        return at;
    }

    /** An instance reads what is here, and writes what is missing. */
    void read(LiveRules live) {
        Contents missing = live.changes.adopt(contents, live.changes.nowMicros());
        contents = missing == null ? contents : missing;
    }
}
