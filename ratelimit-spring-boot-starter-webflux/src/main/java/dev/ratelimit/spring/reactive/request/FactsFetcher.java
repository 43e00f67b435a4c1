package dev.ratelimit.spring.reactive.request;

import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import java.security.Principal;
import java.util.Optional;
import org.springframework.http.MediaType;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionManager;
import reactor.core.publisher.Mono;

/** Fetches of requests what rules read and WebFlux only tells later, and nothing else. Thread-safe. */
public final class FactsFetcher {

    private record Form(MultiValueMap<String, String> values, Optional<RuntimeException> failure) {}

    private static final Form NO_FORM = new Form(new LinkedMultiValueMap<>(), Optional.empty());

    private final WebSessionManager sessions;

    public FactsFetcher(WebSessionManager sessions) {
        this.sessions = sessions;
    }

    /** Returns the request with its facts; without a thread change if there is nothing to fetch. */
    public Mono<ReactiveWebRequest> fetch(ReactiveWebRequest request, Reads reads) {
        ServerWebExchange exchange = request.exchange();
        boolean beans = reads.include(Fact.BEAN);
        boolean caller = beans || reads.includeCaller();
        boolean session = (beans || reads.include(Fact.SESSION)) && hasSessionId(exchange);
        // not for beans: whoever reads the body otherwise than as a form would find it empty
        boolean form = reads.include(Fact.PARAMETER) && isForm(exchange);
        if (!caller && !session && !form) {
            return Mono.just(request);
        }
        Mono<Optional<Principal>> principal = caller
                ? exchange.getPrincipal()
                        .map(found -> Optional.ofNullable(Callers.known(found)))
                        .defaultIfEmpty(Optional.empty())
                : Mono.just(Optional.empty());
        if (!session && !form) {
            return principal.map(found -> request.with(new FetchedFacts(found.orElse(null), null, NO_FORM.values(), null)));
        }
        return Mono.zip(
                        principal,
                        session ? sessionId(exchange) : Mono.just(Optional.<String>empty()),
                        form ? form(exchange) : Mono.just(NO_FORM))
                .map(all -> request.with(new FetchedFacts(
                        all.getT1().orElse(null),
                        all.getT2().orElse(null),
                        all.getT3().values(),
                        all.getT3().failure().orElse(null))));
    }

    /** Without an id, asking for the session would create one, on another thread. */
    private boolean hasSessionId(ServerWebExchange exchange) {
        return !(sessions instanceof DefaultWebSessionManager known)
                || !known.getSessionIdResolver().resolveSessionIds(exchange).isEmpty();
    }

    private static Mono<Optional<String>> sessionId(ServerWebExchange exchange) {
        return exchange.getSession()
                .map(session -> session.isStarted() ? Optional.of(session.getId()) : Optional.<String>empty())
                .defaultIfEmpty(Optional.empty());
    }

    private static boolean isForm(ServerWebExchange exchange) {
        try {
            MediaType type = exchange.getRequest().getHeaders().getContentType();
            return MediaType.APPLICATION_FORM_URLENCODED.isCompatibleWith(type);
        } catch (RuntimeException unreadable) {
            return false;
        }
    }

    /** The application reads the same form; if it cannot be read, it gets the same exception, after the charge. */
    private static Mono<Form> form(ServerWebExchange exchange) {
        return exchange.getFormData()
                .map(values -> new Form(values, Optional.empty()))
                .onErrorResume(
                        RuntimeException.class,
                        failure -> Mono.just(new Form(NO_FORM.values(), Optional.of(failure))))
                .defaultIfEmpty(NO_FORM);
    }
}
