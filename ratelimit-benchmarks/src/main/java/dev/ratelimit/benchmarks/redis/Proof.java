package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.redis.Limits.Quota;
import io.lettuce.core.RedisClient;

/** Proves that a contender decides: each of its three limits alone refuses exactly the requests it should. */
final class Proof {

    private static final Quota SMALL = new Quota(3, 3_600_000_000L);

    private final RedisClient client;
    private final Entry entry;

    /** Sends requests to the database of this client, and clears it. */
    Proof(RedisClient client, Entry entry) {
        this.client = client;
        this.entry = entry;
    }

    void show() {
        Quota ample = Limits.AMPLE.global();
        Contender global = useUp(new Limits(SMALL, ample, ample));
        expect("by the global limit", false, global.decide("b", "y"));
        Contender endpoint = useUp(new Limits(ample, SMALL, ample));
        expect("by the limit of an endpoint", false, endpoint.decide("a", "y"));
        expect("of another endpoint", true, endpoint.decide("b", "x"));
        Contender user = useUp(new Limits(ample, ample, SMALL));
        expect("by the limit of a user", false, user.decide("b", "x"));
        expect("of another user", true, user.decide("a", "y"));
    }

    private Contender useUp(Limits limits) {
        client.connect().sync().flushdb();
        Contender contender = entry.opening().open(client, limits);
        for (int i = 0; i < SMALL.permits(); i++) {
            expect("within " + limits, true, contender.decide("a", "x"));
        }
        expect("beyond " + limits, false, contender.decide("a", "x"));
        return contender;
    }

    private void expect(String what, boolean admitted, boolean answer) {
        if (answer != admitted) {
            throw new IllegalStateException(
                    entry.name() + ": a request " + what + " must " + (admitted ? "be admitted" : "be refused"));
        }
    }
}
