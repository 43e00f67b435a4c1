package dev.ratelimit.simulator.replay;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.simulator.replay.Passage.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Writes a line of JSON for each request: the limit that refused it with the longest wait or, if it was admitted, the one
 * with the fewest permits left; of equal ones, that of the policy whose name comes first. Not thread-safe.
 */
public final class DecisionWriter implements ReplayObserver {

    private static final long MILLI = 1_000_000;
    private static final Comparator<LimitStatus> BY_NAME =
            Comparator.comparing(limit -> limit.policy().name());

    private final Writer out;
    private final KeyText keys;
    private final StringBuilder line = new StringBuilder();

    /**
     * Creates a writer.
     *
     * @param out is not closed
     * @param keys shows keys
     */
    public DecisionWriter(Writer out, KeyText keys) {
        this.out = out;
        this.keys = keys;
    }

    @Override
    public void passed(Passage passage) {
        LimitStatus limit = limit(passage);
        line.setLength(0);
        line.append("{\"t\":").append(Math.floorDiv(passage.nanos(), MILLI));
        if (limit != null) {
            append("key", keys.of(limit.policy().name(), limit.charge().key()));
            append("policy", limit.policy().name());
            line.append(",\"allowed\":").append(!passage.isRefused());
            line.append(",\"remaining\":").append(limit.remaining());
            boolean never = limit.retryAfterNanos() == LimitAlgorithm.NEVER;
            line.append(",\"retryAfterMillis\":")
                    .append(never ? "null" : String.valueOf(millis(limit.retryAfterNanos())));
            line.append(",\"fullAfterMillis\":").append(millis(limit.fullAfterNanos()));
        } else {
            Refusal refusal = passage.isRefused() ? passage.refusals().get(0) : null;
            String key = refusal == null ? null : refusal.key();
            append("key", key == null || refusal == null ? null : keys.of(refusal.policy(), key));
            append("policy", refusal == null ? null : refusal.policy());
            line.append(",\"allowed\":").append(!passage.isRefused());
            line.append(",\"remaining\":null,\"retryAfterMillis\":null,\"fullAfterMillis\":null");
        }
        line.append("}\n");
        try {
            out.append(line);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable LimitStatus limit(Passage passage) {
        Decision decision = passage.decision();
        if (decision == null) {
            return null;
        }
        return decision.violated().stream()
                .min(Comparator.comparingLong(LimitStatus::retryAfterNanos)
                        .reversed()
                        .thenComparing(BY_NAME))
                .orElseGet(() -> passage.isRefused() ? null : fewest(decision));
    }

    private static @Nullable LimitStatus fewest(Decision decision) {
        LimitStatus fewest = null;
        for (LimitStatus limit : decision.limits()) {
            boolean fewer = fewest == null
                    || limit.remaining() < fewest.remaining()
                    || (limit.remaining() == fewest.remaining() && BY_NAME.compare(limit, fewest) < 0);
            fewest = fewer ? limit : fewest;
        }
        return fewest;
    }

    /** Never less than it is. */
    private static long millis(long nanos) {
        return nanos / MILLI + (nanos % MILLI > 0 ? 1 : 0);
    }

    private void append(String name, @Nullable String value) {
        line.append(",\"").append(name).append("\":");
        if (value == null) {
            line.append("null");
            return;
        }
        line.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                line.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                line.append(String.format("\\u%04x", (int) c));
            } else {
                line.append(c);
            }
        }
        line.append('"');
    }
}
