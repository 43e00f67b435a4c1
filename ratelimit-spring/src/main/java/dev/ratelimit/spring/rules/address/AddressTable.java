package dev.ratelimit.spring.rules.address;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Values by network. However many there are, an address takes one look-up, without an allocation, for each length of a
 * prefix that is among them. Immutable.
 *
 * @param <V> the type of the values
 */
public final class AddressTable<V> {

    /** The networks with prefixes of one length: a hash table with open addressing, at most half full. */
    private static final class Level<V> {

        private final int prefix;
        private final boolean v4;
        private final long[] highs;
        private final long[] lows;
        private final @Nullable Object[] values;

        Level(int prefix, boolean v4, Map<AddressRange, V> networks) {
            int size = Integer.highestOneBit(networks.size()) << 2;
            this.prefix = prefix;
            this.v4 = v4;
            this.highs = new long[size];
            this.lows = new long[size];
            this.values = new Object[size];
            networks.forEach((network, value) -> {
                int at = indexOf(network.high(), network.low());
                highs[at] = network.high();
                lows[at] = network.low();
                values[at] = value;
            });
        }

        /** The index of the network, or of the free place that it would have. */
        private int indexOf(long high, long low) {
            long mixed = (high * 0x9e3779b97f4a7c15L ^ low) * 0xbf58476d1ce4e5b9L;
            int at = (int) (mixed >>> 32) & values.length - 1;
            while (values[at] != null && (lows[at] != low || highs[at] != high)) {
                at = at + 1 & values.length - 1;
            }
            return at;
        }

        @SuppressWarnings("unchecked") // only those of the constructor
        @Nullable
        V find(IpAddress address) {
            return v4 == address.isV4()
                    ? (V) values[
                            indexOf(
                                    address.high() & IpAddress.mask(prefix),
                                    address.low() & IpAddress.mask(prefix - 64))]
                    : null;
        }
    }

    /** The longest prefix first. */
    private final List<Level<V>> levels;

    /** Copies the map. */
    public AddressTable(Map<AddressRange, V> networks) {
        Map<Integer, Map<AddressRange, V>> byPrefix = new HashMap<>();
        networks.forEach((network, value) -> byPrefix.computeIfAbsent(
                        network.v4() ? -network.prefix() - 1 : network.prefix(), prefix -> new HashMap<>())
                .put(network, value));
        this.levels = byPrefix.entrySet().stream()
                .map(entry -> new Level<>(
                        entry.getKey() < 0 ? -entry.getKey() - 1 : entry.getKey(),
                        entry.getKey() < 0,
                        entry.getValue()))
                .sorted(Comparator.comparingInt((Level<V> level) -> level.prefix)
                        .reversed())
                .toList();
    }

    /** The values of all networks. */
    @SuppressWarnings("unchecked") // as in find
    public Stream<V> values() {
        return levels.stream()
                .flatMap(level -> Stream.of(level.values))
                .filter(Objects::nonNull)
                .map(value -> (V) value);
    }

    /** Whether there are no networks. */
    public boolean isEmpty() {
        return levels.isEmpty();
    }

    /** The value of the narrowest network that contains the address and whose value passes; {@code null} if none does. */
    public @Nullable V find(IpAddress address, Predicate<V> passes) {
        for (int i = 0; i < levels.size(); i++) {
            V value = levels.get(i).find(address);
            if (value != null && passes.test(value)) {
                return value;
            }
        }
        return null;
    }
}
