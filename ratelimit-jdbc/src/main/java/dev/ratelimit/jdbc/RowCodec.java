package dev.ratelimit.jdbc;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.algorithm.LimitNotation;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLDataException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Rows as the table has them. The limits are a text, as {@link LimitNotation} writes each, separated by semicolons. The state
 * is a sequence of numbers of eight bytes: when the row was written, in microseconds; by how many nanoseconds it is ahead; the
 * state of each limit, after its length if it grows; and for permits that are held three numbers each. Thread-safe.
 */
final class RowCodec {

    /** The length of ids. */
    static final int ID_BYTES = 16;

    /** A row stays a little longer than it must, so that a charge does not change its place in the index. */
    private static final long IDLE_STEP_MICROS = 60_000_000;

    private static final String SEPARATOR = "; ";
    private static final int MAX_KNOWN = 1000;

    private final LimitNotation notation;
    private final Map<String, List<LimitAlgorithm>> known = new ConcurrentHashMap<>();

    RowCodec(LimitNotation notation) {
        this.notation = notation;
    }

    /** The id of the row of a policy and a key. */
    static byte[] id(Charge charge) {
        String text = charge.policy().name() + '\0' + charge.key();
        // the raw UTF-16 units: every charset maps all lone surrogates to the same replacement character
        ByteBuffer bytes = ByteBuffer.allocate(Character.BYTES * text.length());
        bytes.asCharBuffer().put(text);
        return Arrays.copyOf(sha256().digest(bytes.array()), ID_BYTES);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }

    /**
     * Reads what the table has.
     *
     * @param found with the columns limits, state and idle_at, after the id
     */
    void read(Row row, ResultSet found) throws SQLException {
        String text = found.getString(2);
        try {
            ByteBuffer state = ByteBuffer.wrap(found.getBytes(3));
            long writtenAt = state.getLong();
            long ahead = state.getLong();
            int rank = 0;
            for (LimitAlgorithm limit : limits(text)) {
                row.keep(rank++, limit, state(limit, state));
            }
            while (state.hasRemaining()) {
                row.hold(new Row.Held(state.getLong(), state.getLong(), state.getLong()));
            }
            row.loaded(text, found.getLong(4), writtenAt, ahead);
        } catch (RuntimeException e) { // also a buffer that is too short
            throw new SQLDataException(
                    "the state of the limits '" + text + "' cannot be read: " + e.getMessage(), "22000", e);
        }
    }

    private static long[] state(LimitAlgorithm limit, ByteBuffer from) {
        long length = limit.grows() ? from.getLong() : limit.stateSize();
        if (length < limit.stateSize() || length > from.remaining() / Long.BYTES) {
            throw new IllegalArgumentException("a length of " + length);
        }
        long[] state = new long[(int) length];
        for (int i = 0; i < state.length; i++) {
            state[i] = from.getLong();
        }
        return state;
    }

    private List<LimitAlgorithm> limits(String text) {
        List<LimitAlgorithm> limits = known.get(text);
        if (limits == null) {
            limits = text.isEmpty()
                    ? List.of()
                    : Stream.of(text.split(SEPARATOR, -1))
                            .map(one -> LimitAlgorithm.of(notation.parse(one)))
                            .toList();
            if (known.size() >= MAX_KNOWN) {
                known.clear();
            }
            known.put(text, limits);
        }
        return limits;
    }

    /** Sets the parameters of a row, from this one on; returns the number of the next one. */
    int write(Row row, PreparedStatement statement, int first, long nowMicros) throws SQLException {
        row.tidy();
        List<Row.Kept> kept = row.kept();
        String text = row.text();
        statement.setBytes(first, row.id());
        statement.setString(first + 1, text != null ? text : text(kept));
        statement.setBytes(first + 2, state(row, kept, nowMicros));
        statement.setLong(first + 3, idleMicros(nowMicros, row.fullAfterNanos()));
        return first + 4;
    }

    private String text(List<Row.Kept> kept) {
        return kept.stream().map(one -> notation.of(one.limit())).collect(Collectors.joining(SEPARATOR));
    }

    private static byte[] state(Row row, List<Row.Kept> kept, long nowMicros) {
        int longs = 2 + 3 * row.held().size();
        for (Row.Kept one : kept) {
            longs += one.state().length + (one.limit().grows() ? 1 : 0);
        }
        ByteBuffer state = ByteBuffer.allocate(Long.BYTES * longs);
        state.putLong(nowMicros).putLong(row.aheadNanos());
        for (Row.Kept one : kept) {
            if (one.limit().grows()) {
                state.putLong(one.state().length);
            }
            for (long number : one.state()) {
                state.putLong(number);
            }
        }
        for (Row.Held permits : row.held()) {
            state.putLong(permits.id()).putLong(permits.nanos()).putLong(permits.permits());
        }
        return state.array();
    }

    private static long idleMicros(long nowMicros, long fullAfterNanos) {
        return fullAfterNanos == 0
                ? nowMicros
                : (nowMicros + fullAfterNanos / 1000 + IDLE_STEP_MICROS) / IDLE_STEP_MICROS * IDLE_STEP_MICROS;
    }
}
