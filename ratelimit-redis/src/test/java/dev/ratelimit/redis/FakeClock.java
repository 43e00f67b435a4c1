package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A store whose servers use a fake clock: scripts read keys instead of the clock, and keys outlive the test.
 *
 * <p>In a cluster, a script reads only keys of its own node. So there are three clocks, one in each third of the slots,
 * and a script uses the first one that it may read.
 */
final class FakeClock implements RateLimitStore {

    /** The names of the clocks of each third of a cluster's slots, in order. */
    static final List<String> THIRDS = List.of("b", "c", "a");

    private static final String CLOCK = """
            (function()
              local clock
              for _, third in ipairs({'b', 'c', 'a'}) do
                clock = redis.pcall('MGET', 'clock:{' .. third .. '}:seconds', 'clock:{' .. third .. '}:micros')
                if not clock.err then
                  return clock
                end
              end
              return clock
            end)()""";

    private final RateLimitStore store;
    private final RedisClusterCommands<String, String> server;
    private final Ticker time;
    private volatile long setNanos = Long.MIN_VALUE;

    FakeClock(RateLimitStore store, RedisClusterCommands<String, String> server, Ticker time) {
        this.store = store;
        this.server = server;
        this.time = time;
    }

    /** The script with such a clock. */
    static Script inScript(Script script) {
        String text = script.text();
        String fake = text.replace("call('TIME')", CLOCK)
                .replace("ceil(untilFull / 1000)", "ceil(untilFull / 1000) + 3600000");
        return Script.of(fake);
    }

    /** Sets the clocks, in the order of {@link #THIRDS}. */
    static void set(RedisClusterCommands<String, String> server, long... micros) {
        Map<String, String> keys = new HashMap<>();
        for (int i = 0; i < micros.length; i++) {
            String clock = "clock:{" + THIRDS.get(i) + "}:";
            keys.put(clock + "seconds", Long.toString(micros[i] / 1_000_000));
            keys.put(clock + "micros", Long.toString(micros[i] % 1_000_000));
        }
        server.mset(keys);
    }

    private RateLimitStore at() {
        long nanos = time.epochNanos();
        if (nanos != setNanos) {
            long micros = nanos / 1000;
            set(server, micros, micros, micros);
            setNanos = nanos;
        }
        return store;
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return at().decide(charges);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return at().peek(charges);
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        at().refund(decision, part);
    }

    @Override
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        return at().decideAsync(charges);
    }

    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return at().peekAsync(charges);
    }

    @Override
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        return at().refundAsync(decision, part);
    }

    @Override
    public boolean reset(Policy policy, String key) {
        return at().reset(policy, key);
    }

    @Override
    public void close() {
        store.close();
    }
}
