package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.redis.Limits.Quota;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;

/**
 * The leanest limiter with one limit per call, one call after another; a refusal does not refund what was taken before.
 */
final class ThreeScripts implements Contender {

    private static final String SCRIPT = """
            local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local arrival = tonumber(redis.call('GET', KEYS[1]))
            if not arrival or arrival < now then arrival = now end
            if arrival - now > tolerance then return 0 end
            arrival = arrival + interval
            redis.call('SET', KEYS[1], arrival, 'PX', math.ceil((arrival - now) / 1000))
            return 1
            """;

    private final Script<Long> script;
    private final Limits limits;

    ThreeScripts(RedisClient client, Limits limits) {
        this.script = Script.load(client, SCRIPT, ScriptOutputType.INTEGER);
        this.limits = limits;
    }

    @Override
    public boolean decide(String endpoint, String user) {
        return decide("global", limits.global())
                && decide("endpoint:" + endpoint, limits.endpoint())
                && decide("user:" + user, limits.user());
    }

    private boolean decide(String key, Quota quota) {
        Long answer = script.call(
                new String[] {key}, Long.toString(quota.intervalMicros()), Long.toString(quota.toleranceMicros()));
        return answer == 1;
    }
}
