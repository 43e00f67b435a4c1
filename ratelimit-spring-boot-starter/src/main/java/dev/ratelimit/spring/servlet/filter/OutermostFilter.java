package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.servlet.request.KeptForm;
import dev.ratelimit.spring.servlet.settlement.Passage;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Comes before all other filters, so that it sees how they change a response, and what they read is beneath what they wrap around
 * a request: keeps forms, restores requests that have waited, begins and ends their {@linkplain Passage way}, and answers calls
 * that are refused in a dispatch that the filters of the limits do not see. Registered for requests, asynchronous dispatches and
 * error pages.
 */
public final class OutermostFilter implements Filter {

    private final ThrownRefusals thrownRefusals;
    private final KeptForm.Limits forms;
    private final @Nullable RequestRecording recording;
    private final boolean watchesStatus;
    private final boolean errorPages;

    /**
     * Creates a filter.
     *
     * @param filters of the limits
     * @param forms which forms are kept
     * @param recording {@code null} if requests are not recorded
     * @param watchesStatus whether policies charge only some responses, so that the status of each is watched
     * @param errorPages whether the server dispatches errors to a page; MockMvc does not
     */
    public OutermostFilter(
            RateLimitFilters filters,
            KeptForm.Limits forms,
            @Nullable RequestRecording recording,
            boolean watchesStatus,
            boolean errorPages) {
        this.thrownRefusals = filters.thrownRefusals();
        this.forms = forms;
        this.recording = recording;
        this.watchesStatus = watchesStatus;
        this.errorPages = errorPages;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest asked && response instanceof HttpServletResponse answer) {
            HttpServletRequest shown = restored(asked, answer);
            Passage passage = enter(shown, answer);
            if (passage != null) {
                pass(passage, shown, answer, chain);
                return;
            }
            chain.doFilter(shown, response);
            return;
        }
        chain.doFilter(request, response);
    }

    private HttpServletRequest restored(HttpServletRequest request, HttpServletResponse response) {
        ParkedRequest parked = request.getDispatcherType() == DispatcherType.ASYNC ? ParkedRequest.of(request) : null;
        return parked == null ? KeptForm.of(request, response, forms) : new DispatchedRequest(parked.restore());
    }

    /** The way of a request whose dispatch ends here; {@code null} if it ends elsewhere, or no filter has seen it. */
    private @Nullable Passage enter(HttpServletRequest request, HttpServletResponse response) {
        Passage passage = Passage.of(request);
        return switch (request.getDispatcherType()) {
            case REQUEST -> passage == null ? Passage.begin(request, response, recording) : null;
            case ASYNC -> passage;
            case ERROR -> {
                if (passage != null) {
                    passage.enterErrorPage(request);
                }
                yield passage;
            }
            // within another dispatch, if an application has registered the filter for them, too
            case FORWARD, INCLUDE -> null;
        };
    }

    private void pass(Passage passage, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean returned = false;
        try {
            chain.doFilter(request, watchesStatus ? passage.watchStatus(response) : response);
            returned = true;
        } catch (ServletException | RuntimeException e) {
            returned = thrownRefusals.answer(e, request, response);
            if (!returned) {
                throw e;
            }
        } finally {
            passage.leave(request, returned, errorPages);
        }
    }
}
