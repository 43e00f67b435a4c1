package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import java.util.Optional;
import java.util.Set;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionManager;
import reactor.core.publisher.Mono;

/** Fetches of requests what rules read and WebFlux only tells later, and nothing else. Thread-safe. */
public final class FactsFetcher {

    private final WebSessionManager sessions;
    private final ResolverBeans resolvers;

    /**
     * Creates the fetcher of an application.
     *
     * @param beans among them those that resolve keys and plans
     */
    public FactsFetcher(WebSessionManager sessions, ListableBeanFactory beans) {
        this.sessions = sessions;
        this.resolvers = new ResolverBeans(beans);
    }

    /** Returns the request with its facts, also those in the form in its body; at once if there is nothing to fetch. */
    public Mono<ReactiveWebRequest> fetchAll(ReactiveWebRequest request, Reads reads) {
        FormExchange form = readForm(reads) ? FormExchange.in(request.exchange()) : null;
        return form == null || form.isRead()
                ? fetch(request, reads)
                : form.read()
                        .thenReturn(request)
                        .onErrorResume(RuntimeException.class, lost -> Mono.just(request.without(lost)))
                        .flatMap(read -> fetch(read, reads));
    }

    /**
     * Returns the request with its facts, at once if there is nothing to fetch. Its form is known only if it has been read
     * before: somebody else may be about to read the body.
     */
    public Mono<ReactiveWebRequest> fetch(ReactiveWebRequest request, Reads reads) {
        ServerWebExchange exchange = request.exchange();
        Set<String> beans = reads.names(Fact.BEAN);
        // what other beans read is not known
        boolean all = reads.includeAll(Fact.BEAN) || !resolvers.areAllReactive(beans);
        Mono<FetchedFacts> facts = Mono.just(FetchedFacts.NONE);
        boolean nothing = beans.isEmpty();
        if (all || reads.includeCaller()) {
            facts = withPrincipal(exchange);
            nothing = false;
        }
        if ((all || reads.include(Fact.SESSION)) && hasSessionId(exchange)) {
            facts = facts.flatMap(before -> withSession(before, exchange));
            nothing = false;
        }
        if (readForm(reads) && FormExchange.isSent(exchange)) {
            facts = facts.flatMap(before -> withForm(before, exchange));
            nothing = false;
        }
        if (!beans.isEmpty()) {
            facts = facts.flatMap(before -> resolvers.ask(beans, exchange).map(before::withResolved));
        }
        return nothing ? Mono.just(request) : facts.map(request::with);
    }

    /** Beans may read it, too. */
    private static boolean readForm(Reads reads) {
        return reads.include(Fact.PARAMETER) || reads.include(Fact.BEAN);
    }

    private static Mono<FetchedFacts> withPrincipal(ServerWebExchange exchange) {
        return exchange.getPrincipal()
                .map(found -> FetchedFacts.NONE.withPrincipal(Optional.ofNullable(Callers.known(found))))
                .defaultIfEmpty(FetchedFacts.NONE);
    }

    /** Without an id, asking for the session would create one, on another thread. */
    private boolean hasSessionId(ServerWebExchange exchange) {
        return !(sessions instanceof DefaultWebSessionManager known)
                || !known.getSessionIdResolver().resolveSessionIds(exchange).isEmpty();
    }

    private static Mono<FetchedFacts> withSession(FetchedFacts before, ServerWebExchange exchange) {
        return exchange.getSession()
                .map(session -> session.isStarted() ? before.withSession(Optional.of(session.getId())) : before)
                .defaultIfEmpty(before);
    }

    /** If the form is malformed, the application decides what becomes of that: it reads the same one. */
    private static Mono<FetchedFacts> withForm(FetchedFacts before, ServerWebExchange exchange) {
        FormExchange form = FormExchange.in(exchange);
        return form == null || !form.isRead()
                ? Mono.just(before.withForm(null))
                : form.getFormData()
                        .map(before::withForm)
                        .onErrorResume(RuntimeException.class, malformed -> Mono.just(before.withForm(null)));
    }
}
