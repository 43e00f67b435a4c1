package dev.ratelimit.spring.config;

import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * The beans that resolve keys and plans, by name. Their names are checked at once; the beans themselves are fetched when
 * they are first used, so that what they depend on is not made before its time.
 */
final class Resolvers {

    private static final Logger log = LoggerFactory.getLogger(Resolvers.class);

    private final ListableBeanFactory beans;

    Resolvers(ListableBeanFactory beans) {
        this.beans = beans;
    }

    Function<Call, @Nullable String> key(String bean) {
        return named(bean, KeyResolver.class, KeyResolver::resolve);
    }

    Function<Call, @Nullable String> plan(String bean) {
        return named(bean, PlanResolver.class, PlanResolver::resolve);
    }

    /** The only bean that resolves plans. */
    Function<Call, @Nullable String> onlyPlan() {
        List<String> names = names(PlanResolver.class);
        if (names.size() != 1) {
            throw new IllegalArgumentException("plans need a plan-resolver, the name of a bean of type PlanResolver; "
                    + (names.isEmpty() ? "there is none" : "there are " + names));
        }
        return plan(names.get(0));
    }

    private <T> Function<Call, @Nullable String> named(
            String bean, Class<T> type, BiFunction<T, HttpServletRequest, @Nullable String> resolve) {
        List<String> names = names(type);
        if (!names.contains(bean)) {
            throw new IllegalArgumentException("there is no bean '" + bean + "' of type " + type.getSimpleName()
                    + (names.isEmpty() ? "" : "; there is " + names));
        }
        SingletonSupplier<T> resolver = SingletonSupplier.of(() -> beans.getBean(bean, type));
        AtomicBoolean failed = new AtomicBoolean();
        return call -> {
            try {
                return resolve.apply(resolver.obtain(), call.request());
            } catch (RuntimeException e) {
                if (failed.compareAndSet(false, true)) {
                    log.warn(
                            "The {} '{}' failed and counts as null; this is logged once",
                            type.getSimpleName(),
                            bean,
                            e);
                }
                return null;
            }
        };
    }

    private List<String> names(Class<?> type) {
        return List.of(beans.getBeanNamesForType(type, true, false));
    }
}
