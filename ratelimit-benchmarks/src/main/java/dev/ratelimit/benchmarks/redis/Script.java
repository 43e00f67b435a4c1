package dev.ratelimit.benchmarks.redis;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.TimeUnit;

/**
 * A script on the server, called by its digest.
 *
 * @param <T> the type of its answer
 */
final class Script<T> {

    private final RedisAsyncCommands<String, String> redis;
    private final String digest;
    private final ScriptOutputType answer;

    private Script(RedisAsyncCommands<String, String> redis, String digest, ScriptOutputType answer) {
        this.redis = redis;
        this.digest = digest;
        this.answer = answer;
    }

    /** Loads it over a new connection, which the calls also use. */
    static <T> Script<T> load(RedisClient client, String text, ScriptOutputType answer) {
        RedisAsyncCommands<String, String> redis = client.connect().async();
        String digest = LettuceFutures.awaitOrCancel(redis.scriptLoad(text), 10, TimeUnit.SECONDS);
        return new Script<>(redis, digest, answer);
    }

    T call(String[] keys, String... arguments) {
        return LettuceFutures.awaitOrCancel(redis.evalsha(digest, answer, keys, arguments), 10, TimeUnit.SECONDS);
    }
}
