package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/** A store whose server goes by a test's time: scripts read a key of it, and keys outlive the test. */
final class FakeClock implements RateLimitStore {

    private static final String KEY = "clock";

    private final RateLimitStore store;
    private final RedisCommands<String, String> server;
    private final Ticker time;

    FakeClock(RateLimitStore store, RedisCommands<String, String> server, Ticker time) {
        this.store = store;
        this.server = server;
        this.time = time;
    }

    /** The script with such a clock. */
    static Script inScript(Script script) {
        String text = script.text();
        String fake = text.replace("call('TIME')", "call('MGET', 'clock:seconds', 'clock:micros')")
                .replace("ceil(micros / 1000)", "ceil(micros / 1000) + 3600000");
        return Script.of(fake);
    }

    private RateLimitStore at() {
        long micros = time.epochNanos() / 1000;
        server.mset(java.util.Map.of(
                KEY + ":seconds",
                Long.toString(micros / 1_000_000),
                KEY + ":micros",
                Long.toString(micros % 1_000_000)));
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
    public void refund(List<Charge> charges, Decision decision) {
        at().refund(charges, decision);
    }

    @Override
    public void reset(Policy policy, String key) {
        at().reset(policy, key);
    }

    @Override
    public void close() {
        store.close();
    }
}
