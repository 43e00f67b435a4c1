package dev.ratelimit.spring.servlet.settlement;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;

/**
 * A response that reports when it may have been committed, and when an error, a redirect or another status replaces it.
 */
final class ObservedResponse extends WatchedResponse {

    private final Settlement settlement;

    ObservedResponse(HttpServletResponse response, Settlement settlement) {
        super(response);
        this.settlement = settlement;
    }

    @Override
    public void sendError(int status) throws IOException {
        keepReplaced(status);
        super.sendError(status);
        observeError(status);
    }

    @Override
    public void sendError(int status, String message) throws IOException {
        keepReplaced(status);
        super.sendError(status, message);
        observeError(status);
    }

    /** An interim response, such as 103, is not an error: the final response follows. */
    private void observeError(int status) {
        if (HttpStatus.Series.resolve(status) != HttpStatus.Series.INFORMATIONAL) {
            settlement.sendError();
        }
    }

    @Override
    public void setStatus(int status) {
        keepReplaced(status);
        super.setStatus(status);
    }

    private void keepReplaced(int status) {
        if (ChargedRequest.mayStandForAnother(status) && getStatus() != SC_OK) {
            settlement.replace(getStatus());
        }
    }

    @Override
    public void sendRedirect(String location) throws IOException {
        super.sendRedirect(location);
        settlement.sendRedirect();
    }

    @Override
    public void sendRedirect(String location, int status) throws IOException {
        super.sendRedirect(location, status);
        settlement.sendRedirect();
    }

    @Override
    public void sendRedirect(String location, boolean clear) throws IOException {
        super.sendRedirect(location, clear);
        settlement.sendRedirect();
    }

    @Override
    public void sendRedirect(String location, int status, boolean clear) throws IOException {
        super.sendRedirect(location, status, clear);
        settlement.sendRedirect();
    }

    /** A failed write may also have committed the response; the client is then gone. */
    @Override
    void written(boolean failed) {
        settlement.settleIfCommitted();
    }
}
