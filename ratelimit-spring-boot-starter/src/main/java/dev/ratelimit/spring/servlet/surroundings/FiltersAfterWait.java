package dev.ratelimit.spring.servlet.surroundings;

import dev.ratelimit.spring.RateLimitConfigurationException;
import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.AbstractFilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletContextInitializerBeans;

/**
 * Finds filters that a request would not reach after it has waited: the server then dispatches it as an asynchronous
 * request, and a filter that is registered for first dispatches only would be left out, such as one that checks
 * passwords.
 */
public final class FiltersAfterWait {

    private FiltersAfterWait() {}

    /**
     * Checks the filters after the one where requests wait.
     *
     * @param waiting where requests wait
     * @param policy lets them wait
     * @throws RateLimitConfigurationException if a filter would be left out
     */
    public static void check(ListableBeanFactory beans, AbstractFilterRegistrationBean<?> waiting, String policy) {
        boolean after = false;
        for (ServletContextInitializer initializer : new ServletContextInitializerBeans(beans)) {
            if (after
                    && initializer instanceof AbstractFilterRegistrationBean<?> filter
                    && filter.isEnabled()
                    && isLeftOut(filter.determineDispatcherTypes())) {
                throw new RateLimitConfigurationException(
                        "ratelimit.policies." + policy + ".on-exceeded.action",
                        "wait",
                        "requests that have waited would not reach the filter " + filter
                                + ", which is not registered for asynchronous dispatches; order it before the rate limits"
                                + " (below " + waiting.getOrder()
                                + "), or register it for DispatcherType.REQUEST and ASYNC");
            }
            after |= initializer == waiting;
        }
    }

    private static boolean isLeftOut(EnumSet<DispatcherType> dispatches) {
        return dispatches.contains(DispatcherType.REQUEST) && !dispatches.contains(DispatcherType.ASYNC);
    }
}
