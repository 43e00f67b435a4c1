package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.rules.decision.WaitingRequests;
import org.springframework.context.SmartLifecycle;

/**
 * Refuses requests that wait when the application stops, before the server does, which would otherwise wait for them.
 * Starts and stops with the default phase: last and first.
 */
final class WaitingLifecycle implements SmartLifecycle {

    private final WaitingRequests requests;
    private volatile boolean running;

    WaitingLifecycle(WaitingRequests requests) {
        this.requests = requests;
    }

    @Override
    public void start() {
        requests.open();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        requests.close();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
