package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import java.security.Principal;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What only some logs have of a request. Most requests of a log have the same of most of it, so that they share it.
 * Immutable.
 *
 * @param caller who sent the request; {@code null} for anonymous callers
 * @param roles of the caller
 * @param headers by name in lower case
 * @param cookies by name
 * @param session the id; {@code null} without a session
 * @param beans what resolvers say, by the names of their beans
 * @param charges what it asked policies for when it was recorded
 */
record LoggedValues(
        @Nullable Principal caller,
        Set<String> roles,
        Map<String, String> headers,
        Map<String, String> cookies,
        @Nullable String session,
        Map<String, @Nullable String> beans,
        Map<String, RecordedCharge> charges) {

    static final LoggedValues NONE =
            new LoggedValues(null, Set.of(), Map.of(), Map.of(), null, Map.of(), Map.of());

    @Nullable
    String user() {
        return caller == null ? null : caller.getName();
    }

    LoggedValues withoutCaller() {
        return new LoggedValues(null, Set.of(), headers, cookies, session, beans, charges);
    }
}
