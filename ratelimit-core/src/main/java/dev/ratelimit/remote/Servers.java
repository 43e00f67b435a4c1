package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import java.util.List;

/**
 * The servers of a store, each with a {@link Server} that judges it. All charges of a {@link Request} are executed together, at
 * the time of its server: all or nothing, or not at all. Thread-safe; no method blocks but {@link #close}.
 */
public interface Servers extends AutoCloseable {

    /**
     * Sends charges to their servers: a {@link Request} for all that one of them can decide at one moment.
     *
     * <p>A charge must not be executed later than about twice the deadline after it was sent, even by a server that stood
     * still: its caller has left, and nobody would give it back.
     *
     * @param charges of different keys
     * @param operation what to do with them
     * @param stamp for a refund, that of the charge; else its {@code id}, and 0 for the time
     * @param owner gets each request before it is sent, also if this method throws
     */
    void send(List<Charge> charges, Operation operation, Stamp stamp, List<Request> owner);

    /**
     * Says whether a refund can be sent.
     *
     * @param charge to any key
     * @return whether the key's server is in use
     */
    boolean reaches(Charge charge);

    /** {@return whether no server is known to fail} */
    boolean available();

    /** Closes all connections; later requests fail. */
    @Override
    void close();
}
