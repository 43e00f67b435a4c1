package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.CurrentObservation;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.recording.RequestRecording.Arrival;
import io.micrometer.observation.Observation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/** The way of an exchange through the stages, from the first one until the exchange ends. */
public final class Passage {

    private static final String ATTRIBUTE = Passage.class.getName();

    /** Of exchanges that filters do not limit. */
    private static final String LEFT_OUT = ATTRIBUTE + ".leftOut";

    /** Of the server, without what filters have put around it. */
    private final ServerHttpResponse response;

    /** Whether the client had its answer before: a filter has handed on the exchange once more. */
    private final boolean afterAnswer;

    /** The observation of the exchange; {@code null} if nobody observes it. */
    private volatile @Nullable Observation observation;

    private volatile @Nullable ChargedRequest charged;

    /** Set if a charge depends on the status. */
    private volatile @Nullable WatchedResponse watched;

    /** The headers that show budgets, which redirects must not have. */
    private volatile List<String> headers = List.of();

    /** Whether the request is refunded if it succeeds. */
    private volatile boolean refundable;

    /** Whether charges that depend on the status are settled when the response is committed. */
    private final AtomicBoolean settling = new AtomicBoolean();

    private volatile boolean ended;

    /** {@code null} if requests are not recorded. */
    private final @Nullable RequestRecording recording;

    private final @Nullable Arrival arrival;

    private Passage(ServerHttpResponse response, @Nullable RequestRecording recording) {
        this.response = response;
        this.afterAnswer = response.isCommitted();
        this.recording = recording;
        this.arrival = recording == null ? null : recording.arrive();
    }

    /**
     * Starts the way of an exchange.
     *
     * @param recording of requests; {@code null} if they are not recorded
     */
    static Passage begin(ServerWebExchange exchange, @Nullable RequestRecording recording) {
        Passage passage = new Passage(exchange.getResponse(), recording);
        exchange.getAttributes().put(ATTRIBUTE, passage);
        exchange.getResponse().beforeCommit(() -> {
            WatchedResponse watching = passage.watched;
            return (watching == null ? Mono.<Void>empty() : watching.finish()).then(Mono.fromRunnable(passage::commit));
        });
        return passage;
    }

    /** The way of an exchange; {@code null} if no filter has seen it. */
    public static @Nullable Passage of(ServerWebExchange exchange) {
        return exchange.getAttribute(ATTRIBUTE);
    }

    /** Notes that a filter has seen the exchange, and does not limit it. */
    static void leaveOut(ServerWebExchange exchange) {
        exchange.getAttributes().put(LEFT_OUT, true);
    }

    /**
     * Checks that an exchange without a way is one that no limit applies to: one that no filter has seen, because another filter
     * has handed it on, is not.
     *
     * @throws IllegalStateException if no filter has seen it
     */
    static void requireLeftOut(ServerWebExchange exchange) {
        if (exchange.getAttribute(LEFT_OUT) == null) {
            throw new IllegalStateException(
                    "an exchange on a route with limits has not passed the filter of rate limits");
        }
    }

    /** Notes what is counted from now on in the observation of the exchange, if its context has one. */
    void observe(ContextView context) {
        observation = CurrentObservation.of(context);
    }

    /** Makes a decision, what is counted of which is noted in the observation. */
    <T> T note(Supplier<T> decision) {
        return CurrentObservation.note(observation, decision);
    }

    /** Notes that a handler is about to be called, perhaps once more because a filter behind the limits tries again. */
    void expectCall(Object handler) {
        ChargedRequest request = charged;
        if (request != null && handler instanceof HandlerMethod called) {
            request.expectCall(called.getMethod());
        }
    }

    /** What the exchange was charged so far; {@code null} for nothing. */
    public @Nullable ChargedRequest charged() {
        return charged;
    }

    /** Whether the exchange was refused. */
    boolean isRefused() {
        ChargedRequest request = charged;
        return request != null && request.isRefused();
    }

    /** Whether the exchange was admitted, as far as it has come, and does not wait. */
    boolean isAdmitted() {
        ChargedRequest request = charged;
        return request != null && !request.isRefused() && !request.isWaiting();
    }

    /**
     * Whether the way of the exchange has ended, or its wait was given up, by a time limit for example: if a filter hands it on all
     * the same, that is another way. A refusal that was sent stays one.
     */
    boolean isOver() {
        return isGivenUp() || (ended && !isRefusalSent());
    }

    /** Whether the exchange was answered with a refusal, so that it must not reach a handler any more. */
    boolean isRefusalSent() {
        return isRefused() && response.isCommitted();
    }

    private boolean isGivenUp() {
        ChargedRequest request = charged;
        return request != null && request.hasLeft() && !response.isCommitted();
    }

    /** Forgets what was charged to an exchange whose wait was given up, if it goes on all the same, so that it is charged anew. */
    void goOnIfGivenUp() {
        if (isGivenUp()) {
            charged = null;
        }
    }

    /** Keeps what the exchange was charged. If it has ended meanwhile, nobody else gives back what it got. */
    void keep(ChargedRequest request) {
        charged = request;
        if (ended) {
            giveBack(request);
        }
    }

    /** Removes these headers from the response if it becomes a redirect. */
    void show(List<String> names) {
        headers = names;
    }

    /** Refunds the request if it succeeds. */
    void refundIfSuccessful() {
        refundable = true;
    }

    /** The exchange, with a response that is watched if a charge depends on its status. */
    ServerWebExchange watch(ServerWebExchange exchange) {
        ChargedRequest request = charged;
        if (watched != null || request == null || !(refundable || request.dependsOnStatus())) {
            return exchange;
        }
        WatchedResponse watching = new WatchedResponse(exchange.getResponse(), this::settleAtCommit);
        watched = watching;
        return exchange.mutate().response(watching).build();
    }

    private static int statusOf(ServerHttpResponse response) {
        HttpStatusCode code = response.getStatusCode();
        return code == null ? 200 : code.value();
    }

    private static int statusOf(Throwable failure) {
        if (failure instanceof ErrorResponse answer) {
            return answer.getStatusCode().value();
        }
        ResponseStatus written = AnnotatedElementUtils.findMergedAnnotation(failure.getClass(), ResponseStatus.class);
        return written == null ? 500 : written.code().value();
    }

    private void commit() {
        if (statusOf(response) / 100 == 3) {
            headers.forEach(response.getHeaders()::remove);
        }
        if (settling.compareAndSet(false, true)) {
            // whoever writes does not know the watched response, as the filter of a gateway that writes for a route
            // behind it
            settle();
        }
    }

    /**
     * The status is final when the response is committed, and not before, as late as that can be: if something else fails that is
     * to be done before the commit, such as saving a session, the client gets an error instead.
     */
    private void settleAtCommit() {
        if (settling.compareAndSet(false, true)) {
            response.beforeCommit(() -> Mono.fromRunnable(this::settle));
        }
    }

    private void settle() {
        ChargedRequest request = charged;
        if (request == null || request.isRefused()) {
            return;
        }
        int status = statusOf(response);
        if (refundable && status / 100 == 2) {
            request.refund();
        } else if (request.dependsOnStatus()) {
            List<Integer> statuses = new ArrayList<>();
            WatchedResponse watching = watched;
            if (watching != null) {
                statuses.addAll(watching.replaced());
            }
            statuses.add(status);
            request.settle(statuses);
        }
    }

    /** Ends the way without an exception. If the answer is left to the server, its status is yet to be known. */
    void complete() {
        boolean answered = true;
        try {
            answered = response.isCommitted();
        } finally {
            end(answered, () -> statusOf(response));
        }
    }

    /** Ends the way of an exchange whose client has left. */
    void cancel() {
        end(true, () -> statusOf(response));
    }

    /**
     * Ends the way with an exception. A client that leaves may cause exceptions: only those that stand for an
     * answer of the application may be free.
     */
    void fail(Throwable failure) {
        boolean answer = failure instanceof ErrorResponse
                || AnnotatedElementUtils.hasAnnotation(failure.getClass(), ResponseStatus.class);
        // the answer to the error is yet to come, and may settle it
        end(!answer, () -> statusOf(failure));
    }

    /**
     * Ends the way: the permits that the exchange holds come back.
     *
     * @param answered whether the response is there, or will not come any more, so that what it was charged is final
     * @param status of the response, as far as it is known; asked only for a record, after all else
     */
    private void end(boolean answered, IntSupplier status) {
        ended = true;
        if (!answered) {
            settleAtCommit();
        }
        ChargedRequest request = charged;
        if (request == null) {
            return;
        }
        try {
            note(() -> {
                request.countAdmitted();
                return request;
            });
            if (afterAnswer) {
                settle();
            }
        } finally {
            if (answered) {
                request.close();
            }
            giveBack(request);
            record(request, status);
        }
    }

    private void record(ChargedRequest request, IntSupplier status) {
        RequestRecording to = recording;
        Arrival from = arrival;
        if (to != null && from != null) {
            to.pass(from, request).complete(status.getAsInt());
        }
    }

    private static void giveBack(ChargedRequest request) {
        request.leave();
        request.release();
    }
}
