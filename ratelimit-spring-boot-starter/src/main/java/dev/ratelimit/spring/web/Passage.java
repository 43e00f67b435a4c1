package dev.ratelimit.spring.web;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.Call;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A request's way through the stages of the filter: what each has charged, until that is settled, once. Kept in an
 * attribute of the request. Used by the request's thread; only settling may happen on another.
 */
final class Passage {

    private static final String ATTRIBUTE = Passage.class.getName();

    private final Call call;
    private final List<AppliedRules> stages = new ArrayList<>(2);
    private final AtomicBoolean settled = new AtomicBoolean();
    private @Nullable Endpoint endpoint;
    private boolean counted;

    /** Begins the passage of a request. */
    Passage(Call call) {
        this.call = call;
        call.request().setAttribute(ATTRIBUTE, this);
    }

    /** The passage that the request is on; {@code null} when it has not begun. */
    static @Nullable Passage of(HttpServletRequest request) {
        Passage passage = (Passage) request.getAttribute(ATTRIBUTE);
        if (passage != null) {
            passage.call.proceed(request);
        }
        return passage;
    }

    Call call() {
        return call;
    }

    /** Where the request leads; looked up at most once. */
    Endpoint endpoint(Endpoints endpoints) {
        if (endpoint == null) {
            try {
                endpoint = endpoints.find(call.request());
            } catch (RuntimeException e) {
                call.fail(e);
                endpoint = endpoints.missed(call.request());
            }
            call.leadsTo(endpoint.id(), endpoint.variables(call.path()));
        }
        return endpoint;
    }

    /** What the request was charged, stage by stage. */
    List<AppliedRules> stages() {
        return stages;
    }

    /** The request may go on from this stage. */
    void admit(AppliedRules applied, RateLimitStore store, Outcomes outcomes) {
        if (applied.exempt()) {
            // it was not known before that nothing applies
            stages.forEach(stage -> stage.exempt(store, outcomes));
        }
        stages.add(applied);
    }

    /** The request goes no further, so that what earlier stages charged is given back. */
    void refuse(AppliedRules applied, RateLimitStore store, Outcomes outcomes) {
        stages.forEach(stage -> stage.giveBack(store));
        stages.add(applied);
        counted = true;
        settled.set(true);
        applied.countRefused(outcomes);
    }

    /** Counts the request as admitted, once, when no later stage can refuse it any more. */
    void countAdmitted(Outcomes outcomes) {
        if (!counted) {
            counted = true;
            stages.forEach(stage -> stage.countAdmitted(outcomes));
        }
    }

    /** Settles what depends on the response, as soon as that is complete: now, or at the end of asynchronous work. */
    void settle(HttpServletResponse response, boolean failed, RateLimitStore store) {
        if (settled.get() || !dependsOnStatus()) {
            return;
        }
        HttpServletRequest request = call.request();
        if (request.isAsyncStarted()) {
            try {
                request.getAsyncContext().addListener(new Completion(() -> settle(response.getStatus(), store)));
                return;
            } catch (IllegalStateException completedMeanwhile) {
                // then the response is complete
            }
        }
        // what is thrown becomes a 500, unless the response has got its status before
        boolean thrown = failed && !response.isCommitted() && response.getStatus() < HttpServletResponse.SC_BAD_REQUEST;
        settle(thrown ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR : response.getStatus(), store);
    }

    private boolean dependsOnStatus() {
        for (int i = 0; i < stages.size(); i++) {
            if (stages.get(i).dependsOnStatus()) {
                return true;
            }
        }
        return false;
    }

    private void settle(int status, RateLimitStore store) {
        if (settled.compareAndSet(false, true)) {
            stages.forEach(stage -> stage.settle(status, store));
        }
    }

    /** Waits for the end, which comes after a time-out and after an error, too, and may come twice. */
    private record Completion(Runnable action) implements AsyncListener {

        @Override
        public void onComplete(AsyncEvent event) {
            action.run();
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {
            // a new start drops the listeners
            event.getAsyncContext().addListener(this);
        }
    }
}
