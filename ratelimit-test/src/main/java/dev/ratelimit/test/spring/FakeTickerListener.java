package dev.ratelimit.test.spring;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.Lifecycle;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Forgets before each test method what earlier ones have done with the limits. */
final class FakeTickerListener implements TestExecutionListener {

    /** The starter's bean that refuses those who wait when it stops. */
    private static final String WAITING = "dev.ratelimit.waitingLifecycle";

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext() && test.getApplicationContext().containsBean(FakeTickerCustomizer.TICKER)) {
            ApplicationContext context = test.getApplicationContext();
            forgetWaiting(context);
            context.getBeanProvider(InMemoryStore.class).forEach(InMemoryStore::clear);
            rewind(context.getBean(FakeTickerCustomizer.TICKER, FakeTicker.class));
        }
    }

    private static void forgetWaiting(ApplicationContext context) {
        if (context.containsBean(WAITING)) {
            Lifecycle waiting = context.getBean(WAITING, Lifecycle.class);
            waiting.stop();
            waiting.start();
        }
    }

    /** Monotonic time must not go back, for those who remember it. */
    private static void rewind(FakeTicker ticker) {
        ticker.advanceOnRead(Duration.ZERO);
        long passed = ticker.epochNanos() - new FakeTicker().epochNanos();
        ticker.setWallClock(Duration.ofNanos(-passed));
    }
}
