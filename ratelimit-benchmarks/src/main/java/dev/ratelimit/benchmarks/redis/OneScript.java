package dev.ratelimit.benchmarks.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;

/**
 * The floor of an all-or-nothing decision about three limits: the minimum of commands, no loop, and an answer of yes or
 * no.
 */
final class OneScript implements Contender {

    private static final String SCRIPT = """
            local i1, i2, i3 = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[5])
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local state = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
            local a1, a2, a3 = tonumber(state[1]), tonumber(state[2]), tonumber(state[3])
            if not a1 or a1 < now then a1 = now end
            if not a2 or a2 < now then a2 = now end
            if not a3 or a3 < now then a3 = now end
            if a1 - now > tonumber(ARGV[2]) or a2 - now > tonumber(ARGV[4]) or a3 - now > tonumber(ARGV[6]) then
              return 0
            end
            a1, a2, a3 = a1 + i1, a2 + i2, a3 + i3
            redis.call('SET', KEYS[1], a1, 'PX', math.ceil((a1 - now) / 1000))
            redis.call('SET', KEYS[2], a2, 'PX', math.ceil((a2 - now) / 1000))
            redis.call('SET', KEYS[3], a3, 'PX', math.ceil((a3 - now) / 1000))
            return 1
            """;

    private final Script<Long> script;
    private final String[] arguments;

    OneScript(RedisClient client, Limits limits) {
        this.script = Script.load(client, SCRIPT, ScriptOutputType.INTEGER);
        this.arguments = new String[] {
            Long.toString(limits.global().intervalMicros()),
                    Long.toString(limits.global().toleranceMicros()),
            Long.toString(limits.endpoint().intervalMicros()),
                    Long.toString(limits.endpoint().toleranceMicros()),
            Long.toString(limits.user().intervalMicros()),
                    Long.toString(limits.user().toleranceMicros())
        };
    }

    @Override
    public boolean decide(String endpoint, String user) {
        Long answer = script.call(new String[] {"global", "endpoint:" + endpoint, "user:" + user}, arguments);
        return answer == 1;
    }
}
