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
        Entry entry = byKey.isEmpty() || key == null ? null : byKey.get(subject == null ? key : part(subject, context));
        if (entry != null && isInForce(entry)) {
            return entry;
        }
        IpAddress address = networks.isEmpty() ? null : context.address();
        Entry ofAddress = address == null ? null : networks.find(address, this::isInForce);
        if (ofAddress == null) {
            return null;
        }
        boolean privilege = ofAddress.override() != LimitOverride.Fixed.BLOCKED;
        return privilege && context.hasProxyAddress() ? null : ofAddress;
    }

    private String part(KeyPart of, RequestContext context) {
        KeyEncoder encoder = context.newKey();
        return budget.append(of, encoder, context) ? encoder.toString() : "";
    }

    /** The override of a key; {@code null} if the limits of the configuration apply. */
    public @Nullable Entry entry(PlainKey key) {
        for (String part : key.parts()) {
            Entry entry = byKey.get(part);
            if (entry != null && isInForce(entry)) {
                return entry;
            }
        }
        IpAddress address = key.address();
        return address == null ? null : networks.find(address, this::isInForce);
    }

    /** The limits of all overrides. */
    public Stream<LimitOverride> all() {
        return Stream.concat(byKey.values().stream(), networks.values()).map(Entry::override);
    }

    private boolean isInForce(Entry entry) {
        return entry.untilNanos() == NEVER || ticker.epochNanos() < entry.untilNanos();
    }
}
