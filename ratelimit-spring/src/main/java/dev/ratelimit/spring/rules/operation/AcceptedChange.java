package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.decision.PolicyVersion;
import dev.ratelimit.spring.rules.history.ChangedProperty;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A change that is in force.
 *
 * @param policy the name of the policy
 * @param edit what was asked for
 * @param before what the policy was before
 * @param now what it is
 * @param until when it ends; {@code null} without an end
 * @param replaced the values of operators that it has replaced
 */
public record AcceptedChange(
        String policy,
        LiveChanges.Edit edit,
        PolicyVersion before,
        PolicyVersion now,
        @Nullable Instant until,
        List<ChangedProperty> replaced) {

    /** From what to what, until when and why, for logs. */
    String logged(String withoutEnd) {
        String lasts = until == null ? withoutEnd : "until " + until + ", which returns to the configuration";
        String reason = edit.change().reason();
        return "from " + before + " to " + now + ", " + (now.change() == null ? "as configured" : lasts)
                + (reason == null ? "" : ", because of " + Quotation.of(reason));
    }

    /** For observers. */
    Map<String, Object> audited() {
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
        if (until != null) {
            map.put("until", until.toString());
        }
        String reason = edit.change().reason();
        if (reason != null) {
            map.put("reason", reason);
        }
        return map;
    }
}
