package dev.ratelimit.redis;

import dev.ratelimit.redis.Batch.Entry;
import dev.ratelimit.remote.Operation;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A script with its keys and arguments; {@code begin.lua} describes them.
 *
 * @param whole whether to send the script's text, and not only its digest
 * @param question the number that the reply repeats
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Call(Script script, boolean whole, long question, String[] keys, byte[][] arguments) {

    /** The name of each operation in the script. */
    private static final Map<Operation, byte[]> WORDS = new EnumMap<>(Operation.class);

    static {
        for (Operation operation : Operation.values()) {
            WORDS.put(operation, operation.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII));
        }
    }

    /**
     * What a script is told about a limit, apart from its key.
     *
     * @param id of the permits, if the limit identifies them
     */
    private record Terms(RedisLimit limit, long permits, long id) {

        static Terms of(Entry entry, long id) {
            return new Terms(
                    entry.limit(), entry.charge().permits(), entry.limit().identifiesPermits() ? id : 0);
        }
    }

    /** Numbers things from 1 in the order in which they come first. In a single batch, each comes once. */
    private static final class Numbering<T> {

        private final List<T> numbered = new ArrayList<>();
        private final @Nullable Map<T, Integer> numbers;

        Numbering(boolean single) {
            this.numbers = single ? null : new HashMap<>();
        }

        short of(T thing) {
            int next = numbered.size() + 1;
            Integer known = numbers == null ? null : numbers.putIfAbsent(thing, next);
            if (known == null) {
                numbered.add(thing);
            }
            return (short) (known == null ? next : known);
        }
    }

    /**
     * Decides batches of the same slot, one after another. Keys and terms that several of them share are sent once.
     *
     * @param script with the algorithms of all batches
     * @param batches only one, unless the operation is a charge; together at most 65,535 limits, which is more than a
     *     script can read
     * @param question for a charge, the time by the server's clock after which it is void; for a refund, that of the charge
     * @param nowMicros roughly now
     */
    static Call of(Script script, List<Batch> batches, Operation operation, long question, long nowMicros) {
        int limits = 0;
        for (Batch batch : batches) {
            limits += batch.entries().size();
        }
        ByteBuffer plan = ByteBuffer.allocate(Short.BYTES * (batches.size() + 2 * limits));
        Numbering<String> keys = new Numbering<>(batches.size() == 1);
        Numbering<Terms> terms = new Numbering<>(batches.size() == 1);
        for (Batch batch : batches) {
            plan.putShort((short) batch.entries().size());
            for (Entry entry : batch.entries()) {
                plan.putShort(keys.of(entry.key()));
                plan.putShort(terms.of(Terms.of(entry, batch.id())));
            }
        }
        byte[][] arguments = new byte[3 + 2 * terms.numbered.size()][];
        arguments[0] = WORDS.get(operation);
        arguments[1] = Long.toString(question).getBytes(StandardCharsets.US_ASCII);
        arguments[2] = plan.array();
        int at = 3;
        for (Terms each : terms.numbered) {
            arguments[at++] = each.limit.signature();
            arguments[at++] = each.limit.numbers(each.permits, each.id, nowMicros);
        }
        return new Call(script, false, question, keys.numbered.toArray(new String[0]), arguments);
    }

    /** The same call, with the script's text. */
    Call withText() {
        return new Call(script, true, question, keys, arguments);
    }
}
