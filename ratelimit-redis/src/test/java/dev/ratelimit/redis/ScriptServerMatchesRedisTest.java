package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.Seeds;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.remote.Operation;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares {@link ScriptServer} with a real server: random histories of random limits must have the same replies and
 * errors, and leave the same bytes for the same time. A failing history prints its seed; {@code -Dseed=} repeats it.
 */
@Tag("servers")
class ScriptServerMatchesRedisTest {

    private static final int HISTORIES = Integer.getInteger("histories", 40);
    private static final int STEPS = 30;
    private static final int REDIS_7 = 7;

    @Started
    private static RedisServer server;

    private static RedisCommands<String, byte[]> redis;
    private static boolean sameTexts;
    private static int policies;

    @BeforeAll
    static void connect() {
        redis = server.newClient().connect(LettuceConnection.CODEC).sync();
        String version = redis.info("server").replaceAll("(?s).*redis_version:(\\d+).*", "$1");
        sameTexts = Integer.parseInt(version) >= REDIS_7;
    }

    /** A charge that may be refunded. */
    private record Taken(Policy policy, long permits, long atMicros) {}

    /** A reply or an error, and what the keys hold afterwards. */
    private record Outcome(List<Long> reply, String error, List<String> values, List<Long> millis) {}

    private interface Evaluation {
        List<Long> reply();
    }

    /** The random history of one key under a policy with up to three limits. */
    private static final class History {
        final long seed;
        final Random random;
        final RandomLimits limits;
        final String name = "s" + policies++;
        final List<Taken> taken = new ArrayList<>();

        /** When keys expire. The real server's clock stands still in comparison, so it is told to delete them. */
        final Map<String, Long> deadlines = new HashMap<>();

        final String[] keys;
        final ScriptServer simulated = new ScriptServer(this::now);
        long now;
        Policy policy;

        History(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.limits = new RandomLimits(random);
            this.now = 1_600_000_000_000_000L + random.nextLong(400_000_000_000_000L);
            int size = 1 + random.nextInt(3);
            this.keys = IntStream.range(0, size).mapToObj(i -> name + i).toArray(String[]::new);
            this.policy =
                    limits.policy(name, Stream.generate(limits::any).limit(size).toList());
        }

        private long now() {
            return now;
        }

        private long millis() {
            return now / 1000;
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                pass();
                switch (random.nextInt(16)) {
                    case 0 -> damage(keys[random.nextInt(keys.length)]);
                    case 1 ->
                        policy = limits.policy(
                                name,
                                RandomLimits.limitsOf(policy).stream()
                                        .map(limits::successorOf)
                                        .toList());
                    case 2 -> simulated.flushScripts();
                    default -> {}
                }
                switch (random.nextInt(12)) {
                    case 0, 1 -> run(Operation.PEEK, policy, permits(), 0);
                    case 2 -> refund();
                    case 3 -> run(Operation.RESET, policy, 0, 0);
                    default -> charge(permits());
                }
            }
            simulated.flushAll();
        }

        /** No time, a little, or up to two periods; sometimes backwards. */
        private void pass() {
            long longest = RandomLimits.longestNanos(policy) / 1000;
            long passed = switch (random.nextInt(4)) {
                case 0 -> 0;
                case 1 -> limits.number(12);
                default -> limits.number(52) % (2 * longest + 1);
            };
            long bounded = Math.min(passed, 20_000_000_000_000L);
            now += random.nextInt(8) == 0 ? -bounded : bounded;
        }

        private long permits() {
            long capacity =
                    policy.limits().get(random.nextInt(policy.limits().size())).capacity();
            return switch (random.nextInt(5)) {
                case 0 -> 1;
                case 1 -> capacity + random.nextInt(2);
                case 2 -> 0;
                default -> limits.number(51) % (capacity + 1);
            };
        }

        private void charge(long permits) {
            Outcome outcome = run(Operation.CHARGE, policy, permits, 0);
            if (!outcome.reply.isEmpty() && outcome.reply.get(0) == 1) {
                taken.add(new Taken(policy, permits, outcome.reply.get(1)));
            }
        }

        private void refund() {
            if (!taken.isEmpty()) {
                Taken one = taken.remove(random.nextInt(taken.size()));
                run(Operation.REFUND, one.policy, one.permits, one.atMicros);
            }
        }

        /** Replaces a value by one that no script wrote, or not like this. */
        private void damage(String key) {
            byte[] value = simulated.get(key);
            byte[] damaged = switch (random.nextInt(5)) {
                case 0 -> "z;1;2;3;4".getBytes(StandardCharsets.US_ASCII);
                case 1 -> "something else".getBytes(StandardCharsets.US_ASCII);
                case 2 -> value == null ? null : Arrays.copyOf(value, random.nextInt(value.length + 1));
                case 3 -> value == null ? null : withOtherNumber(value);
                default -> null;
            };
            redis.del(key);
            deadlines.remove(key);
            if (damaged == null) {
                redis.rpush(key, new byte[] {1});
                simulated.put(key, List.of("a list"));
            } else {
                redis.set(key, damaged);
                simulated.put(key, damaged);
            }
        }

        /** Another last number of the state: a whole one, as a limit could have written. */
        private byte[] withOtherNumber(byte[] value) {
            byte[] other = value.clone();
            if (other.length >= Double.BYTES) {
                ByteBuffer.wrap(other).putDouble(other.length - Double.BYTES, (double) limits.number(60));
            }
            return other;
        }

        private Outcome run(Operation operation, Policy charged, long permits, long atMicros) {
            Batch batch = new Batch(0, random.nextInt(4));
            batch.add(
                    charged.charge("k", permits),
                    charged.limits().stream().map(RedisLimits::of).toList(),
                    name);
            Script script = random.nextInt(3) == 0 ? Script.ofAll() : Script.of(List.of(batch));
            // a client whose clock is wrong sends the boundaries of another calendar window
            long clientMicros = random.nextInt(8) == 0 ? now - limits.number(48) : now;
            byte[][] arguments = Call.of(
                            script,
                            List.of(batch),
                            operation,
                            operation == Operation.CHARGE ? expiry() : atMicros,
                            clientMicros)
                    .arguments();
            Outcome real = atRedis(script, arguments);
            Outcome simulation = simulated(script, arguments);
            assertThat(simulation)
                    .as("%s %s of %s at %s, seed %s", operation, permits, charged.limits(), now, seed)
                    .isEqualTo(real);
            return simulation;
        }

        /** When a charge is void: one in eight is. */
        private long expiry() {
            return random.nextInt(8) == 0 ? now - 1 - limits.number(20) : now + limits.number(20);
        }

        private Outcome atRedis(Script script, byte[][] arguments) {
            deadlines.entrySet().removeIf(deadline -> {
                boolean over = millis() > deadline.getValue();
                if (over) {
                    redis.del(deadline.getKey());
                }
                return over;
            });
            byte[][] timed = Arrays.copyOf(arguments, arguments.length + 2);
            timed[arguments.length] = Long.toString(now / 1_000_000).getBytes(StandardCharsets.US_ASCII);
            timed[arguments.length + 1] = Long.toString(now % 1_000_000).getBytes(StandardCharsets.US_ASCII);
            Outcome outcome = outcome(() -> redis.eval(withTimes(script), ScriptOutputType.MULTI, keys, timed));
            String[] times = Arrays.stream(keys).map(key -> "millis:" + key).toArray(String[]::new);
            List<KeyValue<String, byte[]>> values = redis.mget(keys);
            List<KeyValue<String, byte[]>> written = redis.mget(times);
            redis.del(times);
            for (int i = 0; i < keys.length; i++) {
                if (!values.get(i).hasValue()) {
                    deadlines.remove(keys[i]);
                } else if (written.get(i).hasValue()) {
                    String millis = new String(written.get(i).getValue(), StandardCharsets.US_ASCII);
                    deadlines.put(keys[i], millis() + Long.parseLong(millis));
                }
            }
            return new Outcome(
                    outcome.reply,
                    outcome.error,
                    values.stream()
                            .map(value -> hex(value.getValueOrElse(null)))
                            .toList(),
                    Arrays.stream(keys)
                            .map(key -> {
                                Long deadline = deadlines.get(key);
                                return deadline != null ? deadline - millis() : redis.exists(key) == 1 ? -1 : -2;
                            })
                            .toList());
        }

        /** The script with the time as its last arguments, and with keys that outlive the test. */
        private static String withTimes(Script script) {
            return script.text()
                    .replace("call('TIME')", "{table.remove(ARGV, #ARGV - 1), table.remove(ARGV)}")
                    .replace(
                            "call('PSETEX', KEYS[i], ceil(untilFull / 1000), values[i])",
                            "call('PSETEX', KEYS[i], ceil(untilFull / 1000) + 3600000, values[i]);"
                                    + " call('SET', 'millis:' .. KEYS[i], ceil(untilFull / 1000))");
        }

        private Outcome simulated(Script script, byte[][] arguments) {
            Outcome outcome = outcome(
                    () -> LongStream.of(evaluated(script, arguments)).boxed().toList());
            return new Outcome(
                    outcome.reply,
                    outcome.error,
                    Arrays.stream(keys).map(key -> hex(simulated.get(key))).toList(),
                    Arrays.stream(keys).map(simulated::remainingMillis).toList());
        }

        private long[] evaluated(Script script, byte[][] arguments) {
            try {
                return simulated.evalSha(script.sha(), keys, arguments);
            } catch (RedisNoScriptException e) {
                return simulated.eval(script.text(), keys, arguments);
            }
        }

        private static Outcome outcome(Evaluation evaluation) {
            try {
                return new Outcome(evaluation.reply(), "", List.of(), List.of());
            } catch (RedisCommandExecutionException e) {
                String text = String.valueOf(e.getMessage()).replaceAll("script: \\w+,", "script: SHA,");
                String error = sameTexts ? text : LettuceFailure.of(e).reason().toString();
                return new Outcome(List.of(), error, List.of(), List.of());
            }
        }

        private static String hex(byte @Nullable [] value) {
            return value == null ? "" : HexFormat.of().formatHex(value);
        }
    }

    @Test
    @Tag("slow")
    void anyHistory_ofAnyLimits_hasTheSameRepliesAndValues() {
        for (int i = 0; i < HISTORIES; i++) {
            new History(Seeds.next()).run();
        }
    }

    /** What only the scripts of the Spring Boot starters use. */
    @Test
    void hashesAndTexts_haveTheSameReplies() {
        ScriptServer simulated = new ScriptServer(() -> 1_700_000_000_000_000L);
        String[] keys = {"hash"};
        for (String expression : List.of(
                "redis.call('HMGET', KEYS[1], 'a')[1] or '-'",
                "redis.call('PEXPIRE', KEYS[1], '3600000')",
                "redis.call('HSET', KEYS[1], 'a', 1)",
                "redis.call('HSET', KEYS[1], 'a', '22')",
                "table.concat(redis.call('HMGET', KEYS[1], 'a', 'a'))",
                "redis.call('HMGET', KEYS[1], 'a', 'b')[2] or '-'",
                "redis.call('MGET', KEYS[1])[1] or '-'",
                "redis.call('PEXPIRE', KEYS[1], '3600000')",
                "redis.call('EXISTS', KEYS[1])",
                "redis.call('PEXPIRE', KEYS[1], 0)",
                "redis.call('EXISTS', KEYS[1])",
                "redis.call('PSETEX', KEYS[1], 3600000, 'x') and 1",
                "redis.pcall('HMGET', KEYS[1], 'a').err",
                "redis.pcall('HSET', KEYS[1], 'a', 1).err",
                "redis.call('MGET', KEYS[1])[1]",
                "redis.sha1hex('abc')",
                "redis.call('DEL', KEYS[1])",
                "redis.call('HSET', KEYS[1], 'a', 1, 'b', 2)",
                "redis.call('HLEN', KEYS[1])",
                "table.concat(redis.call('HGETALL', KEYS[1]))",
                "redis.call('HDEL', KEYS[1], 'a')",
                "redis.call('HDEL', KEYS[1], 'a')",
                "redis.pcall('LLEN', KEYS[1]).err",
                "redis.call('HDEL', KEYS[1], 'b')",
                "redis.call('EXISTS', KEYS[1])",
                "redis.call('LPUSH', KEYS[1], 'x')",
                "redis.call('RPUSH', KEYS[1], 'y', 'z')",
                "table.concat(redis.call('LRANGE', KEYS[1], 0, -1))",
                "redis.call('LTRIM', KEYS[1], 0, 1) and 1",
                "redis.call('LLEN', KEYS[1])",
                "redis.pcall('HLEN', KEYS[1]).err",
                "table.concat({unpack({'a', 'b', 'c'}, 2, 3)}) .. type('a')",
                "string.format('%d', 4503599627370497) .. string.format('%d', '17')")) {
            String script = "return {'' .. (" + expression + ")}";
            List<byte[]> real = redis.eval(script, ScriptOutputType.MULTI, keys);
            assertThat(simulated.evalTexts(script, keys, new byte[0][]))
                    .as("%s", expression)
                    .usingElementComparator(Arrays::compare)
                    .isEqualTo(real);
        }
    }
}
