package dev.ratelimit.spring.servlet.settlement;

import jakarta.servlet.http.HttpServletResponse;

/** A response that reports when a write fails, because the client is gone: some servers then never report its end. */
final class HeldResponse extends WatchedResponse {

    private final HeldPermits permits;

    HeldResponse(HttpServletResponse response, HeldPermits permits) {
        super(response);
        this.permits = permits;
    }

    @Override
    void written(boolean failed) {
        if (failed) {
            permits.loseClient();
        }
    }
}
