package dev.ratelimit;

import java.util.List;

/** Does what another store does, except where a test overrides it. */
public abstract class ForwardingStore implements RateLimitStore {

    private final RateLimitStore store;

    protected ForwardingStore(RateLimitStore store) {
        this.store = store;
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return store.decide(charges);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return store.peek(charges);
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        store.refund(decision, part);
    }

    @Override
    public boolean reset(Policy policy, String key) {
        return store.reset(policy, key);
    }
}
