package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.recording.RequestRecording.Arrival;
import dev.ratelimit.spring.rules.recording.RequestRecording.Passing;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Records requests when they are complete. The outermost filter; registered for requests, and only if they are recorded. */
public final class RecordingFilter implements Filter {

    private final @Nullable RequestRecording recording;

    /**
     * Creates a filter.
     *
     * @param recording {@code null} for a filter that does nothing
     */
    public RecordingFilter(@Nullable RequestRecording recording) {
        this.recording = recording;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        RequestRecording to = recording;
        if (to != null
                && request instanceof HttpServletRequest asked
                && response instanceof HttpServletResponse answer) {
            doFilter(to, asked, answer, chain);
        } else {
            chain.doFilter(request, response);
        }
    }

    private static void doFilter(
            RequestRecording recording, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Arrival arrival = recording.arrive();
        boolean returned = false;
        try {
            chain.doFilter(request, response);
            returned = true;
        } finally {
            ChargedRequest charged = RateLimitFilter.chargedOf(request);
            if (charged != null) {
                End end = new End(recording.pass(arrival, charged), response);
                if (!end.isLater(request)) {
                    end.passing.complete(
                            returned ? response.getStatus() : HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
                }
            }
        }
    }

    /** The end of a request, perhaps after its thread has left it. */
    private record End(Passing passing, HttpServletResponse response) implements AsyncListener {

        /** Returns whether the server will tell when the request is complete. */
        boolean isLater(HttpServletRequest request) {
            if (!request.isAsyncStarted()) {
                return false;
            }
            try {
                request.getAsyncContext().addListener(this);
                return true;
            } catch (IllegalStateException completedMeanwhile) {
                return false;
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {
            passing.complete(response.getStatus());
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            // completion follows
        }

        @Override
        public void onError(AsyncEvent event) {
            // completion follows
        }

        /** Another asynchronous phase begins; servers forget the listeners of the one before. */
        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
