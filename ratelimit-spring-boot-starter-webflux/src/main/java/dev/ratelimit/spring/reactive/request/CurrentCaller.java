package dev.ratelimit.spring.reactive.request;

import java.security.Principal;
import java.util.Optional;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

/** The caller of a reactive chain outside of exchanges, as Spring Security knows it. */
public final class CurrentCaller {

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.core.context.ReactiveSecurityContextHolder",
            CurrentCaller.class.getClassLoader());

    private CurrentCaller() {}

    /** The authenticated caller, if there is one. */
    public static Mono<Optional<Principal>> find() {
        return SECURITY ? Secured.find() : Mono.just(Optional.empty());
    }

    /** Only loaded if Spring Security is present. */
    private static final class Secured {

        static Mono<Optional<Principal>> find() {
            return ReactiveSecurityContextHolder.getContext()
                    .flatMap(context -> Mono.justOrEmpty(context.getAuthentication()))
                    .map(found -> Optional.ofNullable(Callers.known(found)))
                    .defaultIfEmpty(Optional.empty());
        }
    }
}
