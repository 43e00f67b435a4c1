package dev.ratelimit.benchmarks.redis;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.TimeUnit;

/** The floor: one command that decides nothing. */
final class PlainGet implements Contender {

    private final RedisAsyncCommands<String, String> redis;

    PlainGet(RedisClient client) {
        this.redis = client.connect().async();
    }

    @Override
    public boolean decide(String endpoint, String user) {
        return LettuceFutures.awaitOrCancel(redis.get("user:" + user), 10, TimeUnit.SECONDS) != null;
    }

    @Override
    public void touch(String user) {
        LettuceFutures.awaitOrCancel(redis.set("user:" + user, "1700000000000000"), 10, TimeUnit.SECONDS);
    }
}
