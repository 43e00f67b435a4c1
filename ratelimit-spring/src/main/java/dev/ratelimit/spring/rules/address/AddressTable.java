package dev.ratelimit.spring.rules.address;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Values by network. However many there are, an address takes one look-up, without an allocation, for each length of a
 * prefix that is among them. Read by any thread, also while one changes it.
 *
 * @param <V> the type of the values
 */
public final class AddressTable<V> {

    /** A network; without a value once it is removed. */
    private static final class Network<V> {

        private final long high;
        private final long low;
        private volatile @Nullable V value;

        Network(long high, long low, @Nullable V value) {
            this.high = high;
            this.low = low;
            this.value = value;
        }
    }

    /** The networks with prefixes of one length: a hash table with open addressing, at most half full. */
    private static final class Level<V> {

        private final int prefix;
        private final boolean v4;
        private volatile AtomicReferenceArray<@Nullable Network<V>> places = new AtomicReferenceArray<>(4);
        private int used;
        private int live;

        Level(int prefix, boolean v4) {
            this.prefix = prefix;
            this.v4 = v4;
        }

        /** The index of the network, or of the free place that it would have. */
        private static <V> int indexOf(AtomicReferenceArray<@Nullable Network<V>> places, long high, long low) {
            long mixed = (high * 0x9e3779b97f4a7c15L ^ low) * 0xbf58476d1ce4e5b9L;
            int at = (int) (mixed >>> 32) & places.length() - 1;
            for (Network<V> other = places.get(at);
                    other != null && (other.low != low || other.high != high);
                    other = places.get(at)) {
                at = at + 1 & places.length() - 1;
            }
            return at;
        }

        void put(AddressRange network, @Nullable V value) {
            AtomicReferenceArray<@Nullable Network<V>> all = places;
            int at = indexOf(all, network.high(), network.low());
            Network<V> known = all.get(at);
            live += (value == null ? 0 : 1) - (known == null || known.value == null ? 0 : 1);
            if (known != null) {
                known.value = value;
            } else if (value != null) {
                all.set(at, new Network<>(network.high(), network.low(), value));
                used++;
                if (2 * used > all.length()) {
                    rebuild();
                }
            }
        }

        private void rebuild() {
            List<Network<V>> left = networks().toList();
            AtomicReferenceArray<@Nullable Network<V>> next =
                    new AtomicReferenceArray<>(Integer.highestOneBit(left.size()) << 2);
            left.forEach(network -> next.set(indexOf(next, network.high, network.low), network));
            places = next;
            used = left.size();
        }

        /** Those that have a value. */
        private Stream<Network<V>> networks() {
            AtomicReferenceArray<@Nullable Network<V>> all = places;
            return IntStream.range(0, all.length())
                    .mapToObj(all::get)
                    .filter(Objects::nonNull)
                    .filter(network -> network.value != null);
        }

        @Nullable
        V find(IpAddress address) {
            if (v4 != address.isV4()) {
                return null;
            }
            AtomicReferenceArray<@Nullable Network<V>> all = places;
            Network<V> network = all.get(
                    indexOf(all, address.high() & IpAddress.mask(prefix), address.low() & IpAddress.mask(prefix - 64)));
            return network == null ? null : network.value;
        }
    }

    /** The longest prefix first. */
    private volatile List<Level<V>> levels = List.of();

    /** Copies the map. */
    public AddressTable(Map<AddressRange, V> networks) {
        networks.forEach(this::put);
    }

    /** Sets the value of a network; {@code null} for none. By one thread at a time. */
    public void put(AddressRange network, @Nullable V value) {
        List<Level<V>> all = new ArrayList<>(levels);
        Level<V> level = all.stream()
                .filter(one -> one.prefix == network.prefix() && one.v4 == network.v4())
                .findFirst()
                .orElseGet(() -> new Level<>(network.prefix(), network.v4()));
        boolean listed = level.live > 0;
        level.put(network, value);
        if (listed != level.live > 0) {
            if (listed) {
                all.remove(level);
            } else {
                all.add(level);
            }
            all.sort(Comparator.comparingInt((Level<V> one) -> one.prefix).reversed());
            levels = List.copyOf(all);
        }
    }

    /** The values of all networks. */
    public Stream<V> values() {
        return levels.stream()
                .flatMap(Level::networks)
                .map(network -> network.value)
                .filter(Objects::nonNull);
    }

    /** Whether there are no networks. */
    public boolean isEmpty() {
        return levels.isEmpty();
    }

    /** The value of the narrowest network that contains the address and whose value passes; {@code null} if none does. */
    public @Nullable V find(IpAddress address, Predicate<V> passes) {
        List<Level<V>> all = levels;
        for (int i = 0; i < all.size(); i++) {
            V value = all.get(i).find(address);
            if (value != null && passes.test(value)) {
                return value;
            }
        }
        return null;
    }
}
