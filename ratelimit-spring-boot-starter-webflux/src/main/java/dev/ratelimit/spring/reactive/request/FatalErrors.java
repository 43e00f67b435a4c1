package dev.ratelimit.spring.reactive.request;

import java.util.function.Consumer;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoOperator;

/**
 * The errors that Reactor throws at whoever subscribes instead of signalling them: no operator hears of a
 * {@link LinkageError} or a {@link StackOverflowError}, so what is to be given back would be kept. On another thread than that
 * of whoever subscribes, only the server can tell that the exchange has ended.
 *
 * @see Exceptions#isFatal
 */
public final class FatalErrors {

    private FatalErrors() {}

    /** {@return the source, whose fatal errors are told to the listener before they are thrown on} */
    public static <T> Mono<T> tell(Mono<T> source, Consumer<Throwable> listener) {
        return new MonoOperator<>(source) {

            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                FatalErrors.subscribe(source, subscriber, listener);
            }
        };
    }

    /** {@return the source, whose fatal errors are told to the listener before they are thrown on} */
    public static <T> Flux<T> tell(Flux<T> source, Consumer<Throwable> listener) {
        return new FluxOperator<T, T>(source) {

            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                FatalErrors.subscribe(source, subscriber, listener);
            }
        };
    }

    private static <T> void subscribe(
            Publisher<T> source, CoreSubscriber<? super T> subscriber, Consumer<Throwable> listener) {
        try {
            source.subscribe(subscriber);
        } catch (Throwable thrown) {
            if (Exceptions.isFatal(thrown)) {
                listener.accept(thrown);
            }
            throw thrown;
        }
    }
}
