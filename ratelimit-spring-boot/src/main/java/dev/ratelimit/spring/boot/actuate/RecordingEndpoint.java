package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.operation.KeyDisplay;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import java.io.InputStream;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The part of the endpoint with the latest requests, for the simulator.
 *
 * @param recording {@code null} if requests are not recorded
 */
public record RecordingEndpoint(
        RequestRules rules, KeyDisplay keys, @Nullable RequestRecording recording) {

    /** In place of a policy's name. */
    static final String NAME = "recording";

    /** A JSON object a line, with hashes in place of keys. */
    InputStream lines() {
        if (recording == null) {
            throw new NoSuchElementException(
                    "requests are not recorded; write ratelimit.recording.enabled: true, and start again");
        }
        return LineStream.of(recording.lines(rules.inForce(), rules.haveStages(), keys::hash));
    }
}
