package dev.ratelimit.benchmarks.redis;

import java.util.List;

/** A contender with its name and requests: random ones of this number of endpoints and users. */
record Entry(String name, int endpoints, int users, Limits limits, Contender.Opening opening) {

    /** The first one, which the others are compared with. */
    static final Entry GET = spread("get", (client, limits) -> new PlainGet(client));

    /** All contenders; each uses a separate database, by its position in the list. */
    static final List<Entry> ALL = List.of(
            GET,
            spread("scg-like", GatewayLike::new),
            spread("three-scripts", ThreeScripts::new),
            spread("one-script-gcra", OneScript::new),
            spread("bucket4j", Bucket4jCalls::new),
            spread("bucket4j-batched", Bucket4jCalls::batched),
            spread("ratelimit", Ours::exact),
            new Entry("ratelimit-mixed", 10, 100_000, Limits.FULL_AGAIN_IN_SECONDS, Ours::exact),
            new Entry("ratelimit-absent", 10, 100_000, Limits.FULL_AGAIN_AT_ONCE, Ours::exact),
            hot("ratelimit-hot", Ours::exact),
            hot("ratelimit-leased", Ours::leased));

    private static Entry spread(String name, Contender.Opening opening) {
        return new Entry(name, 10, 100_000, Limits.AMPLE, opening);
    }

    private static Entry hot(String name, Contender.Opening opening) {
        return new Entry(name, 1, 1, Limits.AMPLE_FOR_ONE, opening);
    }

    int database() {
        return ALL.indexOf(this);
    }
}
