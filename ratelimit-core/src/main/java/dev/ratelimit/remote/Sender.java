package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Sends charges, and what follows them, to their servers. Thread-safe; does not block. */
final class Sender {

    /** The maximum number of an id, which a double keeps exactly. */
    private static final long MAX_ID = (1L << 52) - 1;

    private final Servers servers;
    private final long deadlineNanos;

    /** The number of the last charge, by which held permits are identified: at random, so that instances differ. */
    private final AtomicLong ids;

    Sender(Servers servers, RemoteStoreSettings settings) {
        this.servers = servers;
        this.deadlineNanos = settings.deadlineNanos();
        this.ids = new AtomicLong(settings.random().nextLong());
    }

    /**
     * Sends the charges.
     *
     * @param owner gets each request before it is sent, and must await it or give it up, also if this method throws
     */
    void send(List<Charge> charges, Operation operation, List<Request> owner) {
        servers.send(charges, operation, next(), owner);
    }

    /** Sends the charges. The caller must await each request. */
    List<Request> send(List<Charge> charges, Operation operation) {
        return send(charges, operation, next());
    }

    /** Sends the charges. The caller need not await the requests. */
    List<Request> post(List<Charge> charges, Operation operation) {
        return post(charges, operation, next());
    }

    /** Sends refunds of what was charged at once. The caller must await each request. */
    List<Request> refund(List<Charge> charges, Stamp stamp) {
        return send(charges, Operation.REFUND, stamp);
    }

    /** Sends refunds of what was charged at once. The caller need not await them. */
    List<Request> postRefund(List<Charge> charges, Stamp stamp) {
        return post(charges, Operation.REFUND, stamp);
    }

    private List<Request> send(List<Charge> charges, Operation operation, Stamp stamp) {
        List<Request> sent = new ArrayList<>(1);
        servers.send(charges, operation, stamp, sent);
        return sent;
    }

    private List<Request> post(List<Charge> charges, Operation operation, Stamp stamp) {
        List<Request> sent = new ArrayList<>(1);
        try {
            servers.send(charges, operation, stamp, sent);
        } finally {
            sent.forEach(each -> each.endBy(deadlineNanos));
        }
        return sent;
    }

    private Stamp next() {
        return new Stamp(0, ids.incrementAndGet() & MAX_ID);
    }

    /** Whether the charge's server is in use. */
    boolean reaches(Charge charge) {
        return servers.reaches(charge);
    }
}
