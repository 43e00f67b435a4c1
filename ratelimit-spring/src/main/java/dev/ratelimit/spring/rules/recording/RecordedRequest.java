package dev.ratelimit.spring.rules.recording;

import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.recording.RequestRecording.Arrival;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.rule.PlainKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request that is complete, and what it asked policies for.
 *
 * @param arrival when it came
 * @param tookNanos how long it took, without the time that it waited for permits
 * @param method such as {@code GET}, also for {@code HEAD}; {@code ANY} for methods that clients invent
 * @param endpoint where it led to
 * @param address of the client, as a key
 * @param status of the answer; 0 if it was refused by a policy
 * @param charges what it asked policies for
 */
record RecordedRequest(
        Arrival arrival,
        long tookNanos,
        String method,
        Endpoint endpoint,
        String address,
        int status,
        List<RecordedCharge> charges) {

    /** What the name of a user begins with in a key. */
    private static final char USER = KeyKind.USER.letter();

    boolean isRefused() {
        return status == 0;
    }

    /** Whether it is one of an operator that no policy is about. */
    boolean isOfOperator() {
        return endpoint.isManagement() && charges.isEmpty();
    }

    /** The name of the caller, as a key; {@code null} if no policy has asked for it, or there is none. */
    @Nullable
    String user() {
        for (RecordedCharge charge : charges) {
            String key = charge.key();
            if (key == null || charge.kinds().stream().noneMatch(KeyKind::isUser)) {
                continue;
            }
            PlainKey plain = PlainKey.ofCharged(key);
            for (String part : plain == null ? List.<String>of() : plain.parts()) {
                if (part.charAt(0) == USER) {
                    return part;
                }
            }
        }
        return null;
    }
}
