package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.AddressTable;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The overrides of single keys of a rule that operators have set, which come before all others. However many there are,
 * a request takes a look-up or two. The clock is read only for a key that has one. Read by any thread, also while one sets
 * and removes some.
 */
public final class LiveOverrides {

    /** The end of an override that has none, in nanoseconds. */
    public static final long NEVER = Long.MAX_VALUE;

    /**
     * An override.
     *
     * @param override the limits
     * @param untilNanos the wall time in nanoseconds from which on it does not apply, or {@link #NEVER}
     * @param key whose it is, as people write it
     */
    public record Entry(LimitOverride override, long untilNanos, String key) {}

    private final Ticker ticker;
    private final Runnable whenEnded;
    private final Map<String, Entry> byKey = new ConcurrentHashMap<>();
    private final AddressTable<Entry> networks = new AddressTable<>(Map.of());

    private final BudgetKey budget;

    /** The part that {@code byKey} refers to, among others; {@code null} if it is the whole key. */
    private volatile @Nullable KeyPart subject;

    /**
     * No overrides of a rule yet.
     *
     * @param ticker tells which of them have ended
     * @param whenEnded is told of a request that meets one that has ended; must return quickly
     */
    public LiveOverrides(Ticker ticker, Rule rule, Runnable whenEnded) {
        this.ticker = ticker;
        this.whenEnded = whenEnded;
        this.budget = rule.key();
    }

    /**
     * Sets the override of a key of the rule. By one thread at a time.
     *
     * @param entry {@code null} for none
     */
    public void put(OverrideKey key, @Nullable Entry entry) {
        subject = budget.parts().size() == 1 ? null : key.subject();
        AddressRange network = key.network();
        if (network != null) {
            networks.put(network, entry);
        } else if (entry == null) {
            byKey.remove(key.encoded());
        } else {
            byKey.put(key.encoded(), entry);
        }
    }

    /** Whether there is none. */
    public boolean isEmpty() {
        return byKey.isEmpty() && networks.isEmpty();
    }

    /** How long the override of a request still applies; {@link #NEVER} if it has no end. */
    public long restNanos(Entry entry) {
        return entry.untilNanos() == NEVER ? NEVER : entry.untilNanos() - ticker.epochNanos();
    }

    /**
     * The override of a request; {@code null} if the limits of the configuration apply.
     *
     * @param key of the request; {@code null} if it lacks a part
     */
    public @Nullable Entry entry(@Nullable String key, RequestContext context) {
        KeyPart part = subject;
        Entry ofKey = byKey.isEmpty() || key == null ? null : byKey.get(part == null ? key : part(part, context));
        IpAddress address = networks.isEmpty() ? null : context.address();
        if (ofKey != null && isInForce(ofKey, null)) {
            return lengthened(ofKey, address);
        }
        Entry ofAddress = ofAddress(address, null);
        if (ofAddress == null) {
            return null;
        }
        return !isBlock(ofAddress) && context.hasProxyAddress() ? null : lengthened(ofAddress, address);
    }

    private String part(KeyPart of, RequestContext context) {
        KeyEncoder encoder = context.newKey();
        return budget.append(of, encoder, context) ? encoder.toString() : "";
    }

    /** The override of a key; {@code null} if the limits of the configuration apply. */
    public @Nullable Entry entry(PlainKey key) {
        for (String part : key.parts()) {
            Entry entry = byKey.get(part);
            if (entry != null && isInForce(entry, null)) {
                return lengthened(entry, key.address());
            }
        }
        Entry ofAddress = ofAddress(key.address(), null);
        return ofAddress == null ? null : lengthened(ofAddress, key.address());
    }

    /** Of blocks within each other, the one that ends last, if there is no gap before it. */
    private Entry lengthened(Entry met, @Nullable IpAddress address) {
        Entry last = met;
        while (isBlock(last) && last.untilNanos() != NEVER) {
            Entry next = ofAddress(address, last);
            if (next == null || !isBlock(next)) {
                break;
            }
            last = next;
        }
        return last;
    }

    private static boolean isBlock(Entry entry) {
        return entry.override() == LimitOverride.Fixed.BLOCKED;
    }

    private @Nullable Entry ofAddress(@Nullable IpAddress address, @Nullable Entry after) {
        return address == null ? null : networks.find(address, entry -> isInForce(entry, after));
    }

    /** The limits of all overrides. */
    public Stream<LimitOverride> all() {
        return Stream.concat(byKey.values().stream(), networks.values()).map(Entry::override);
    }

    /**
     * Whether it applies.
     *
     * @param after at the end of this one; {@code null} for now
     */
    private boolean isInForce(Entry entry, @Nullable Entry after) {
        if (entry.untilNanos() == NEVER) {
            return true;
        }
        if (after != null) {
            return after.untilNanos() < entry.untilNanos();
        }
        boolean inForce = ticker.epochNanos() < entry.untilNanos();
        if (!inForce) {
            whenEnded.run();
        }
        return inForce;
    }
}
