package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** The way of an exchange through the stages, from the first one until the exchange ends. */
final class Passage {

    private static final String ATTRIBUTE = Passage.class.getName();

    private volatile @Nullable ChargedRequest charged;
    private volatile boolean ended;

    private Passage() {}

    /** Starts the way of an exchange. */
    static Passage begin(ServerWebExchange exchange) {
        Passage passage = new Passage();
        exchange.getAttributes().put(ATTRIBUTE, passage);
        return passage;
    }

    /** The way of an exchange; {@code null} if no filter has seen it. */
    static @Nullable Passage of(ServerWebExchange exchange) {
        return exchange.getAttribute(ATTRIBUTE);
    }

    /** What the exchange was charged so far; {@code null} for nothing. */
    @Nullable
    ChargedRequest charged() {
        return charged;
    }

    /** Keeps what the exchange was charged. If it has ended meanwhile, nobody else gives back what it got. */
    void keep(ChargedRequest request) {
        charged = request;
        if (ended) {
            giveBack(request);
        }
    }

    /** Ends the way: the permits that the exchange holds come back, and what it was charged is final. */
    void end() {
        ended = true;
        ChargedRequest request = charged;
        if (request != null) {
            try {
                request.countAdmitted();
            } finally {
                giveBack(request);
            }
        }
    }

    private static void giveBack(ChargedRequest request) {
        request.leave();
        request.close();
        request.release();
    }
}
