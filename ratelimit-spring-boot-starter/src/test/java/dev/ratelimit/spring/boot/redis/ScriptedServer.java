package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.Ticker;
import dev.ratelimit.redis.server.ScriptServer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.data.redis.RedisConnectionFailureException;

/** A {@link ScriptServer}, by a ticker, that fails as it is told, and counts what it is asked. */
final class ScriptedServer implements RedisChanges.Server {

    static final String CHANGES = "ratelimit:{changes}";
    static final String OVERRIDES = CHANGES + ":overrides";
    static final String HISTORY = CHANGES + ":history";
    private static final long EPOCH_MICROS = 1_764_000_000_000_000L;

    /** For what others do to its keys. */
    final ScriptServer redis;

    /** Whether it does not answer. */
    boolean down;

    /** Whether it runs the next script, and the reply gets lost. */
    boolean losesReply;

    /** Runs before the next script, on its thread, whether it answers or not. */
    Runnable atNextScript = () -> {};

    /** How many scripts it has run. */
    int scripts;

    /** How many bytes it was told, without scripts, and has answered; and how many one script was and did at most. */
    int bytes;

    int largest;

    ScriptedServer(Ticker ticker) {
        redis = new ScriptServer(() -> EPOCH_MICROS + ticker.nanos() / 1000);
    }

    /** Somebody else writes to a field. */
    void putField(String key, String field, String value) {
        byte[][] arguments = {field.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8)};
        redis.evalTexts("redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) return {}", new String[] {key}, arguments);
    }

    @Override
    public List<byte[]> eval(byte[] script, int keys, byte[]... keysAndArguments) {
        Runnable then = atNextScript;
        atNextScript = () -> {};
        then.run();
        if (down) {
            throw new RedisConnectionFailureException("down");
        }
        scripts++;
        int before = bytes;
        bytes += size(List.of(keysAndArguments));
        List<byte[]> reply = redis.evalTexts(
                new String(script, StandardCharsets.UTF_8),
                Stream.of(keysAndArguments)
                        .limit(keys)
                        .map(key -> new String(key, StandardCharsets.UTF_8))
                        .toArray(String[]::new),
                Arrays.copyOfRange(keysAndArguments, keys, keysAndArguments.length));
        if (losesReply) {
            losesReply = false;
            throw new RedisConnectionFailureException("no reply");
        }
        bytes += size(reply);
        largest = Math.max(largest, bytes - before);
        return reply;
    }

    private static int size(List<byte[]> texts) {
        return texts.stream().mapToInt(text -> text.length).sum();
    }

    @Override
    public void reconnect() {
        // the next script does
    }

    @Override
    public void close() {
        // nothing is open
    }
}
