package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.HistoryEntry;
import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.history.ChangeNote;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A change that is in force.
 *
 * @param before what the policy was before
 * @param at when it was accepted, in microseconds
 * @param until when it ends, in microseconds; {@link ChangeNote#NEVER} without an end
 * @param properties what it has changed
 */
record AcceptedChange(PolicyVersion before, long at, long until, Set<String> properties) {

    private @Nullable Instant end() {
        return until == ChangeNote.NEVER ? null : ChangeNote.instant(until);
    }

    /** From what to what, until when and why, for logs. */
    String logged(LiveChanges.Edit edit, PolicyVersion now, String withoutEnd) {
        String lasts =
                until == ChangeNote.NEVER ? withoutEnd : "until " + end() + ", which returns to the configuration";
        String reason = edit.change().reason();
        return "from " + before + " to " + now + ", " + (now.change() == null ? "as configured" : lasts)
                + (reason == null ? "" : ", because of " + Quotation.of(reason));
    }

    /** As an entry of the history. */
    HistoryEntry entry(String policy, LiveChanges.Edit edit, PolicyVersion now) {
        return new HistoryEntry(
                ChangeNote.instant(at),
                now.change() == null ? HistoryEntry.Action.RESTORE : HistoryEntry.Action.CHANGE,
                policy,
                null,
                before.toString(),
                now.toString(),
                end(),
                edit.change().reason(),
                edit.by());
    }

    /** For observers. */
    Map<String, Object> audited(LiveChanges.Edit edit, PolicyVersion now) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(
                "change",
                Stream.of(
                                edit.fromConfiguration() ? "as configured" : "",
                                edit.change().toString())
                        .filter(part -> !part.isEmpty())
                        .collect(Collectors.joining(", ")));
        map.put("from", before.toString());
        map.put("to", now.toString());
        if (until != ChangeNote.NEVER) {
            map.put("until", ChangeNote.instant(until).toString());
        }
        String reason = edit.change().reason();
        if (reason != null) {
            map.put("reason", reason);
        }
        return map;
    }
}
