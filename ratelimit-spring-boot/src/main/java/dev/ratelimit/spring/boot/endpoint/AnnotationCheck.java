package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.boot.method.RateLimitedPointcut;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.Mistakes;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.text.MethodNames;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;
import org.springframework.web.method.HandlerMethod;

/** Stops the start at annotations without effect, because nothing calls their methods from outside. */
public final class AnnotationCheck implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(AnnotationCheck.class);

    private final ApplicationContext context;
    private final Supplier<? extends Collection<HandlerMethod>> handlers;
    private final BooleanSupplier enabled;

    /**
     * Creates a check of the annotations of all beans.
     *
     * @param handlers those of controllers that handle requests, when they are known
     * @param enabled whether there may be limits
     */
    public AnnotationCheck(
            ApplicationContext context,
            Supplier<? extends Collection<HandlerMethod>> handlers,
            BooleanSupplier enabled) {
        this.context = context;
        this.handlers = handlers;
        this.enabled = enabled;
    }

    /** If there are limits, their mistakes and these are reported together. */
    @Override
    public void afterSingletonsInstantiated() {
        if (enabled.getAsBoolean() && context.getBeanNamesForType(RequestRules.class).length == 0) {
            Mistakes mistakes = new Mistakes();
            handlers.get().stream()
                    .map(HandlerMethod::getMethod)
                    .filter(AnnotatedRules::isOn)
                    .forEach(method -> mistakes.collect(method.getDeclaringClass(), method, () -> {
                        throw unlimited(method);
                    }));
            addTo(mistakes);
            mistakes.report();
        }
    }

    /** Adds the mistakes in annotations without effect. */
    public void addTo(Mistakes mistakes) {
        Collection<HandlerMethod> mapped = handlers.get();
        Set<Method> methods = mapped.stream().map(HandlerMethod::getMethod).collect(Collectors.toSet());
        Set<Class<?>> controllers =
                mapped.stream().map(HandlerMethod::getBeanType).collect(Collectors.toSet());
        for (String name : context.getBeanDefinitionNames()) {
            Class<?> type = context.getType(name, false);
            if (type != null && isCandidate(type)) {
                checkIfReadable(ClassUtils.getUserClass(type), methods, controllers, mistakes);
            }
        }
    }

    /** Interfaces are not checked, such as those of HTTP clients: a controller elsewhere may implement them. */
    private static boolean isCandidate(Class<?> type) {
        return !type.isInterface()
                && !Proxy.isProxyClass(type)
                && AnnotationUtils.isCandidateClass(type, List.of(RateLimited.class, RateLimitExempt.class));
    }

    private static RateLimitConfigurationException unlimited(Method method) {
        return mistake(
                MethodNames.shown(method.getDeclaringClass(), method),
                "it has no effect: the controller was registered after the rate limits were set up; write a policy"
                        + " under ratelimit.policies instead");
    }

    /** A class without a bean may be incomplete: creating the bean fails, if anything does. */
    private static void checkIfReadable(
            Class<?> type, Set<Method> handlers, Set<Class<?>> controllers, Mistakes mistakes) {
        try {
            check(type, handlers, controllers, mistakes);
        } catch (LinkageError e) {
            log.debug("The annotations of {} were not checked", type.getName(), e);
        }
    }

    private static void check(Class<?> type, Set<Method> handlers, Set<Class<?>> controllers, Mistakes mistakes) {
        boolean controller = controllers.contains(type) || RateLimitedPointcut.isController(type);
        for (Method method : type.getDeclaredMethods()) {
            if (isDeclaredOn(method) && !method.isSynthetic() && !handlers.contains(method)) {
                mistakes.collect(type, method, () -> checkMethod(type, method, controller));
            }
        }
        if (isDeclaredOn(type)) {
            mistakes.collect(type, null, () -> checkClass(type, controller, controllers.contains(type)));
        }
    }

    private static void checkClass(Class<?> type, boolean controller, boolean handles) {
        AnnotatedRules.checkExempt(type);
        if (controller && !handles) {
            throw mistake(
                    type.getSimpleName(),
                    "it has no effect: this controller has no handler methods; put it on a controller that has some");
        }
        if (!controller) {
            checkCalls(type);
        }
    }

    private static void checkMethod(Class<?> type, Method method, boolean controller) {
        String place = MethodNames.shown(type, method);
        if (controller) {
            throw mistake(
                    place,
                    "it has no effect: this method is not a request handler; put it on a method with"
                            + " @RequestMapping, or move the method to another bean");
        }
        if (!AnnotatedRules.limit(method) && !AnnotatedRules.limit(type)) {
            throw mistake(
                    place, "it has no effect: without @RateLimited on the class, calls of this method are not limited");
        }
        if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
            throw mistake(
                    place,
                    "it has no effect: calls of a private or static method cannot be limited; put it on a public method");
        }
    }

    private static void checkCalls(Class<?> type) {
        if (!AnnotatedRules.limit(type)) {
            throw mistake(
                    type.getSimpleName(),
                    "it has no effect: only controllers are exempt from policies; remove @RateLimitExempt");
        }
        if (MethodIntrospector.selectMethods(
                        type, (MethodFilter) method -> AnnotatedRules.mayLimitCallsOf(type, method))
                .isEmpty()) {
            throw mistake(
                    type.getSimpleName(),
                    "it has no effect: this class has no public methods; put it on a class that has some");
        }
    }

    /** Annotations of interfaces and base classes are not checked here: another class may be the controller. */
    private static boolean isDeclaredOn(AnnotatedElement element) {
        MergedAnnotations declared = MergedAnnotations.from(element);
        return declared.isPresent(RateLimited.class) || declared.isPresent(RateLimitExempt.class);
    }

    private static RateLimitConfigurationException mistake(String place, String reason) {
        return new RateLimitConfigurationException("the annotation on " + place, null, reason);
    }
}
