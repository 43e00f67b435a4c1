package dev.ratelimit.spring.rules.recording;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.decision.StageCharges;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The latest requests, and what they asked policies for, in bounded memory. With a share of callers, all requests of some
 * callers are recorded and none of the others: callers are told apart by their names or, without one, by their
 * addresses. Thread-safe.
 */
public final class RequestRecording implements OutcomeCounter {

    /**
     * The arrival of a request.
     *
     * @param order the number of the request, as several may come at the same time
     * @param epochNanos the wall time
     * @param nanos the time that durations are measured by
     */
    public record Arrival(long order, long epochNanos, long nanos) {}

    private static final int SHARES = 1 << 16;

    private final Ticker ticker;
    private final double share;
    private final AtomicReferenceArray<RecordedRequest> latest;
    private final AtomicLong arrived = new AtomicLong();
    private final AtomicLong recorded = new AtomicLong();

    /** Which callers are recorded differs from start to start. */
    private final int salt = new SecureRandom().nextInt();

    /**
     * Records requests.
     *
     * @param maxRequests how many are kept
     * @param share the share of callers, above 0 and at most 1
     */
    public RequestRecording(Ticker ticker, int maxRequests, double share) {
        this.ticker = ticker;
        this.share = share;
        this.latest = new AtomicReferenceArray<>(maxRequests);
    }

    /** The one among these counters; {@code null} if nothing is recorded. */
    public static @Nullable RequestRecording among(Stream<OutcomeCounter> counters) {
        return counters.filter(RequestRecording.class::isInstance)
                .map(RequestRecording.class::cast)
                .findFirst()
                .orElse(null);
    }

    /** Does nothing: requests are recorded when they are complete. */
    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {}

    @Override
    public boolean readsEndpoints() {
        return true;
    }

    /** Notes that a request has come. */
    public Arrival arrive() {
        return new Arrival(arrived.getAndIncrement(), ticker.epochNanos(), ticker.nanos());
    }

    /**
     * Notes what a request is, while the server has it.
     *
     * @param request as it was charged or refused, or as it waits
     * @return records it when it is complete
     */
    public Passing pass(Arrival arrival, ChargedRequest request) {
        return new Passing(arrival, request);
    }

    /** A request that is not complete yet. */
    public final class Passing {

        private final Arrival arrival;
        private final ChargedRequest request;
        private final String method;
        private final Endpoint endpoint;
        private final String address;

        private Passing(Arrival arrival, ChargedRequest request) {
            RequestContext context = request.context();
            KeyEncoder key = context.newKey();
            context.appendAddress(key);
            this.arrival = arrival;
            this.request = request;
            this.method = Endpoint.methodOf(context.request().method());
            this.endpoint = Objects.requireNonNullElse(context.knownEndpoint(), Endpoint.UNMAPPED);
            this.address = key.toString();
        }

        /**
         * Records it.
         *
         * @param status of its answer
         */
        public void complete(int status) {
            long waited = 0;
            for (StageCharges stage : request.stages()) {
                waited += stage.waitedNanos();
            }
            add(new RecordedRequest(
                    arrival,
                    Math.max(0, ticker.nanos() - arrival.nanos() - waited),
                    method,
                    endpoint,
                    address,
                    request.isRefused() ? 0 : status,
                    RecordedCharge.of(request)));
        }
    }

    private void add(RecordedRequest one) {
        if (!one.isOfOperator() && isChosen(one)) {
            latest.set((int) (recorded.getAndIncrement() % latest.length()), one);
        }
    }

    private boolean isChosen(RecordedRequest request) {
        if (share >= 1) {
            return true;
        }
        String user = request.user();
        int hash = ((user == null ? request.address() : user).hashCode() ^ salt) * 0x9E3779B9;
        return (hash >>> 16) < share * SHARES;
    }

    /**
     * What was recorded, a JSON object a line: first one about the policies, then one for each request in the order of their
     * arrival.
     *
     * @param rules in force
     * @param stages whether policies are charged before and after Spring Security
     * @param hash hides keys
     */
    public Stream<String> lines(RulesInForce rules, boolean stages, UnaryOperator<String> hash) {
        List<RecordedRequest> all = new ArrayList<>();
        for (int i = 0; i < latest.length(); i++) {
            RecordedRequest one = latest.get(i);
            if (one == null) {
                break;
            }
            all.add(one);
        }
        all.sort(Comparator.comparingLong(one -> one.arrival().order()));
        RecordingText text = new RecordingText(hash);
        String heading = text.heading(all, rules, stages, share, Math.max(0, recorded.get() - all.size()));
        return Stream.concat(Stream.of(heading), all.stream().map(text::line));
    }
}
