package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.RateLimitExceededException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/**
 * Finds out whether the application answers refusals itself: whether the {@code @ExceptionHandler} that Spring will
 * choose names {@link RateLimitExceededException}. One for all exceptions does not. Thread-safe.
 */
public final class RefusalHandlers {

    private final SingletonSupplier<List<ControllerAdviceBean>> advices;
    private final Map<Class<?>, ExceptionHandlerMethodResolver> resolvers = new ConcurrentHashMap<>();

    /** Looks in the advices of an application. */
    public RefusalHandlers(ApplicationContext context) {
        this.advices = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(context));
    }

    /** Whether there is one for what this handler has thrown. */
    public boolean answer(@Nullable Object handler, Exception thrown) {
        if (!(handler instanceof HandlerMethod method)) {
            return false;
        }
        Class<?> controller = ClassUtils.getUserClass(method.getBeanType());
        return Stream.concat(
                        Stream.of(controller),
                        advices.obtain().stream()
                                .filter(advice -> advice.isApplicableToBeanType(controller))
                                .map(ControllerAdviceBean::getBeanType))
                .filter(Objects::nonNull)
                .map(type -> resolver(type).resolveMethodByThrowable(thrown))
                .filter(Objects::nonNull)
                .findFirst()
                .map(RefusalHandlers::isForRefusals)
                .orElse(false);
    }

    private ExceptionHandlerMethodResolver resolver(Class<?> type) {
        return resolvers.computeIfAbsent(ClassUtils.getUserClass(type), ExceptionHandlerMethodResolver::new);
    }

    private static boolean isForRefusals(Method method) {
        ExceptionHandler annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
        Class<?>[] named =
                annotation == null || annotation.value().length == 0 ? method.getParameterTypes() : annotation.value();
        return Stream.of(named).anyMatch(RateLimitExceededException.class::isAssignableFrom);
    }
}
