package dev.ratelimit.lease;

import java.util.concurrent.CompletableFuture;

/** Ends leases in tests of other packages. */
public final class Leases {

    private Leases() {}

    /** Ends all leases of a store, which may then take others. */
    public static void end(LeasingStore store) {
        CompletableFuture<Void> unused = store.endLeases();
    }
}
