package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.RequestRules;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/** Stops the start at annotations without effect, because no request is dispatched to their methods. */
final class AnnotationCheck implements SmartInitializingSingleton {

    private final ApplicationContext context;

    AnnotationCheck(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!OnRateLimitsEnabled.in(context.getEnvironment())) {
            return;
        }
        Set<Method> handlers = new HashSet<>();
        Set<Class<?>> controllers = new HashSet<>();
        context.getBeansOfType(RequestMappingInfoHandlerMapping.class, true, false)
                .values()
                .forEach(mapping -> mapping.getHandlerMethods().values().forEach(handler -> {
                    handlers.add(handler.getMethod());
                    controllers.add(handler.getBeanType());
                }));
        if (context.getBeanNamesForType(ActiveRules.class).length == 0) {
            handlers.stream().filter(RequestRules::areOn).findFirst().ifPresent(method -> {
                throw unlimited(method);
            });
        }
        for (String name : context.getBeanDefinitionNames()) {
            Class<?> type = context.getType(name, false);
            if (type != null && isCandidate(type)) {
                check(ClassUtils.getUserClass(type), handlers, controllers);
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
                method.getDeclaringClass().getSimpleName() + "." + method.getName() + "()",
                "it has no effect: the controller was registered after the rate limits were set up; write a policy"
                        + " under ratelimit.policies instead");
    }

    private static void check(Class<?> type, Set<Method> handlers, Set<Class<?>> controllers) {
        for (Method method : type.getDeclaredMethods()) {
            if (isDeclaredOn(method) && !method.isBridge() && !handlers.contains(method)) {
                throw mistake(
                        type.getSimpleName() + "." + method.getName() + "()",
                        "it has no effect: this method is not a request handler; put it on a method with @RequestMapping,"
                                + " or use RateLimiter here");
            }
        }
        if (isDeclaredOn(type) && !controllers.contains(type)) {
            throw mistake(
                    type.getSimpleName(),
                    "it has no effect: this is not a controller with handler methods; put it on a controller, or use"
                            + " RateLimiter here");
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
