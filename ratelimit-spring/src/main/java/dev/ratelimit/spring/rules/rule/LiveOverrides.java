package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.AddressTable;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The overrides of single keys of a rule that operators have set, which come before all others. However many there are,
 * a request takes a look-up or two. The clock is read only for a key that has one. Immutable.
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
    private final Map<String, Entry> byKey;
    private final AddressTable<Entry> networks;

    private final BudgetKey budget;

    /** The part that {@code byKey} refers to, among others; {@code null} if it is the whole key. */
    private final @Nullable KeyPart subject;

    private LiveOverrides(Ticker ticker, Rule rule, Map<OverrideKey, Entry> entries) {
        Map<String, Entry> keys = new HashMap<>();
        Map<AddressRange, Entry> ranges = new HashMap<>();
        KeyPart part = null;
        for (Map.Entry<OverrideKey, Entry> entry : entries.entrySet()) {
            OverrideKey key = entry.getKey();
            if (key.network() == null) {
                keys.put(key.encoded(), entry.getValue());
                part = key.subject();
            } else {
                ranges.put(key.network(), entry.getValue());
            }
        }
        this.ticker = ticker;
        this.byKey = Map.copyOf(keys);
        this.networks = new AddressTable<>(ranges);
        this.budget = rule.key();
        this.subject = rule.key().parts().size() == 1 ? null : part;
    }

    /**
     * The overrides of a rule.
     *
     * @param ticker tells which of them have ended
     * @param entries by keys of this rule
     */
    public static LiveOverrides of(Ticker ticker, Rule rule, Map<OverrideKey, Entry> entries) {
        return new LiveOverrides(ticker, rule, entries);
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
        Entry ofKey = byKey.isEmpty() || key == null ? null : byKey.get(subject == null ? key : part(subject, context));
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
        return entry.untilNanos() == NEVER
                || (after == null ? ticker.epochNanos() : after.untilNanos()) < entry.untilNanos();
    }
}
