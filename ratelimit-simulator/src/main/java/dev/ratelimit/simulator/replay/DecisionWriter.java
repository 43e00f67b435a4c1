package dev.ratelimit.simulator.replay;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.simulator.replay.Passage.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

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
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put("t", Math.floorDiv(passage.nanos(), MILLI));
        if (limit != null) {
            line.put("key", keys.of(limit.policy().name(), limit.charge().key()));
            line.put("policy", limit.policy().name());
        } else {
            Refusal refusal = passage.isRefused() ? passage.refusals().get(0) : null;
            String key = refusal == null ? null : refusal.key();
            line.put("key", key == null || refusal == null ? null : keys.of(refusal.policy(), key));
            line.put("policy", refusal == null ? null : refusal.policy());
        }
        line.put("allowed", !passage.isRefused());
        line.put("remaining", limit == null ? null : limit.remaining());
        line.put("retryAfterMillis", limit == null ? null : millis(limit.retryAfterNanos()));
        line.put("fullAfterMillis", limit == null ? null : millis(limit.fullAfterNanos()));
        try {
            out.append(JsonMapper.shared().writeValueAsString(line)).append('\n');
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

    /** Never less than it is; {@code null} for never. */
    private static @Nullable Long millis(long nanos) {
        return nanos == LimitAlgorithm.NEVER ? null : Long.valueOf(nanos / MILLI + (nanos % MILLI > 0 ? 1 : 0));
    }
}
