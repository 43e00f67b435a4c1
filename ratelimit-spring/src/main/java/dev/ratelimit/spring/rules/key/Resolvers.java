package dev.ratelimit.spring.rules.key;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the beans that resolve keys and plans, by name. Checks the names immediately, but fetches each bean on first
 * use, so that its dependencies are not created too early.
 */
public final class Resolvers {

    /** What the names of the types on WebFlux begin with. */
    private static final String REACTIVE = "dev.ratelimit.spring.reactive.Reactive";

    private final ListableBeanFactory beans;

    public Resolvers(ListableBeanFactory beans) {
        this.beans = beans;
    }

    Resolver key(String bean) {
        return named(bean, KeyResolver.class, KeyResolver::resolve);
    }

    public Resolver plan(String bean) {
        return named(bean, PlanResolver.class, PlanResolver::resolve);
    }

    /** The only bean that resolves plans. */
    public Resolver onlyPlan() {
        List<String> names = names(PlanResolver.class);
        if (names.size() != 1) {
            throw new IllegalArgumentException("plans need a bean of type PlanResolver, and there "
                    + (names.isEmpty()
                            ? "is none; declare one"
                            : "are " + names.size() + "; name one in plan-resolver: " + String.join(" or ", names)));
        }
        return plan(names.get(0));
    }

    private <T> Resolver named(String bean, Class<T> type, BiFunction<T, WebRequest, @Nullable String> resolve) {
        List<String> names = names(type);
        if (!names.contains(bean)) {
            throw new IllegalArgumentException(missing(bean, type) + "; "
                    + (names.isEmpty() ? "declare one" : "write " + String.join(" or ", names)));
        }
        SingletonSupplier<T> resolver = SingletonSupplier.of(() -> beans.getBean(bean, type));
        ResolverFailures failures =
                new ResolverFailures(bean, beans.getBeanProvider(Ticker.class).getIfAvailable(Ticker::system));
        return new Resolver(bean, context -> {
            try {
                return resolve.apply(resolver.obtain(), context.request());
            } catch (Exception | LinkageError e) {
                // also checked ones, which Kotlin does not declare
                failures.add(e);
                return null;
            }
        });
    }

    /** Types of other libraries have the same simple names. */
    private String missing(String bean, Class<?> type) {
        Class<?> other = beans.containsBean(bean) && !beans.isTypeMatch(bean, type) ? beans.getType(bean, false) : null;
        if (other == null) {
            return "there is no bean " + Quotation.of(bean) + " of type " + type.getSimpleName();
        }
        Class<?> shown = other.isHidden() && other.getInterfaces().length > 0 ? other.getInterfaces()[0] : other;
        String later = REACTIVE + type.getSimpleName();
        return "bean " + Quotation.of(bean) + " is of type " + ClassUtils.getQualifiedName(shown) + ", not of type "
                + type.getName()
                + (ClassUtils.isPresent(later, Resolvers.class.getClassLoader()) ? " or " + later : "");
    }

    private List<String> names(Class<?> type) {
        return List.of(beans.getBeanNamesForType(type, true, false));
    }
}
