package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.redis.Limits.Quota;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import java.util.List;

/**
 * A token bucket like that of Spring Cloud Gateway: tokens and time in two keys, the time in whole seconds. One limit per call, one call after another; a refusal does not refund what was taken before.
 */
final class GatewayLike implements Contender {

    private static final String SCRIPT = """
            local rate, capacity, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(redis.call('TIME')[1])
            local ttl = math.ceil(capacity / rate * 2)
            local tokens = tonumber(redis.call('GET', KEYS[1])) or capacity
            local seen = tonumber(redis.call('GET', KEYS[2])) or now
            tokens = math.min(capacity, tokens + math.max(0, now - seen) * rate)
            local allowed = 0
            if tokens >= 1 then
              allowed = 1
              tokens = tokens - 1
            end
            redis.call('SETEX', KEYS[1], ttl, tokens)
            redis.call('SETEX', KEYS[2], ttl, now)
            return {allowed, tokens}
            """;

    private final Script<List<Object>> script;
    private final Limits limits;

    GatewayLike(RedisClient client, Limits limits) {
        this.script = Script.load(client, SCRIPT, ScriptOutputType.MULTI);
        this.limits = limits;
    }

    @Override
    public boolean decide(String endpoint, String user) {
        return decide("{global}", limits.global())
                && decide("{endpoint:" + endpoint + "}", limits.endpoint())
                && decide("{user:" + user + "}", limits.user());
    }

    private boolean decide(String key, Quota quota) {
        List<Object> answer = script.call(
                new String[] {key + ".tokens", key + ".timestamp"},
                Double.toString(quota.perSecond()),
                Long.toString(quota.permits()));
        return answer.get(0).equals(1L);
    }
}
